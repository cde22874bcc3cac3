import type { SignatureHalves } from '../../crypto/index.ts'
import { type Bytes, concatBytes } from '../../encoding/index.ts'
import { inOnePiece } from './ethereum.ts'

/**
 * Makes the protobuf `Transaction {1: raw_data, 2: signature}` that nodes broadcast, with v = 27 or 28 as the chain's own
 * tooling writes it (docs/protocol/signing.md#tron-transactions: our reading).
 */
export function encodeSignedTron(rawData: Uint8Array, signature: SignatureHalves): Bytes {
  return concatBytes(bytesField(1, rawData), bytesField(2, inOnePiece(signature)))
}

/** A length-delimited field: its number and wire type 2, the length seven bits a byte, the bytes. */
function bytesField(number: number, bytes: Uint8Array): Bytes {
  const head = [(number << 3) | 2]
  for (let length = bytes.length; ; length >>>= 7) {
    head.push(length < 0x80 ? length : (length & 0x7f) | 0x80)
    if (length < 0x80) break
  }
  return concatBytes(Uint8Array.from(head), bytes)
}
