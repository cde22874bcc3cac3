import type { SignatureHalves } from '../../crypto/index.ts'
import { type Bytes, concatBytes } from '../../encoding/index.ts'
import { decodeRlp, rlpList } from '../transactions/rlp.ts'
import { inOnePiece } from './ethereum.ts'
import { encodeRlp } from './rlp-encoding.ts'

/**
 * Puts the sender's signature behind an unsigned Tempo transaction that `readTempo` has read
 * (docs/protocol/signing.md#tempo-transactions).
 */
export function encodeSignedTempo(unsigned: Uint8Array, signature: SignatureHalves): Bytes {
  const list = rlpList(decodeRlp(unsigned.subarray(1)), 'transaction')
  return concatBytes(unsigned.subarray(0, 1), encodeRlp([...list, inOnePiece(signature)]))
}
