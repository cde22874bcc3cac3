/**
 * One row a transaction type: what is signed, by which curve, and how the signed bytes are made
 * (docs/protocol/signing.md#transactions).
 */
import { sha256 } from '../../crypto/index.ts'
import { type Bytes, decodeHex, isHex } from '../../encoding/index.ts'
import type { Curve } from '../curves.ts'
import { ChainError } from '../error.ts'
import type { TransactionType } from '../transactions/read-transaction.ts'
import { refuse } from '../transactions/refuse.ts'
import { checkPsbtSigner, signPsbt } from './bitcoin.ts'
import { encodeSignedEthereum, ethereumDigest } from './ethereum.ts'
import { type KeyAtHand, type KeyByAddress, signBytes } from './signing-key.ts'
import { checkSolanaSigner, encodeSignedSolana, solanaMessageOf } from './solana.ts'
import { encodeSignedTempo } from './tempo.ts'
import { encodeSignedTron } from './tron.ts'

interface TransactionSigner {
  readonly curve: Curve
  /** Throws `ChainError` if the key has no part in the transaction. */
  readonly check?: (unsigned: Bytes, key: KeyByAddress) => void
  readonly sign: (unsigned: Bytes, key: KeyAtHand) => Bytes
}

const signers: Readonly<Record<TransactionType, TransactionSigner>> = {
  TRANSACTION_TYPE_ETHEREUM: {
    curve: 'CURVE_SECP256K1',
    sign: (unsigned, key) => encodeSignedEthereum(unsigned, ecdsa(key, ethereumDigest(unsigned))),
  },
  TRANSACTION_TYPE_TEMPO: {
    curve: 'CURVE_SECP256K1',
    sign: (unsigned, key) => encodeSignedTempo(unsigned, ecdsa(key, ethereumDigest(unsigned))),
  },
  TRANSACTION_TYPE_TRON: {
    curve: 'CURVE_SECP256K1',
    sign: (unsigned, key) => encodeSignedTron(unsigned, ecdsa(key, sha256(unsigned))),
  },
  TRANSACTION_TYPE_SOLANA: {
    curve: 'CURVE_ED25519',
    check: (unsigned, key) => checkSolanaSigner(unsigned, key.publicKey),
    sign: (unsigned, key) => encodeSignedSolana(unsigned, key.publicKey, signBytes(key, solanaMessageOf(unsigned))),
  },
  TRANSACTION_TYPE_BITCOIN: { curve: 'CURVE_SECP256K1', check: checkPsbtSigner, sign: signPsbt },
}

/** Throws `ChainError` if this key cannot sign a transaction that `readTransactionFacts` has read. */
export function checkSigner(type: TransactionType, unsigned: string | Uint8Array, key: KeyByAddress): void {
  if (signers[type].curve !== key.curve) throw new ChainError('invalid curve')
  signers[type].check?.(bytesOf(unsigned), key)
}

/**
 * Signs a transaction that `readTransactionFacts` has read. Given in hex with or without `0x`, or as bytes. Throws
 * `ChainError` for bytes that this key cannot sign.
 */
export function signTransaction(type: TransactionType, unsigned: string | Uint8Array, key: KeyAtHand): Bytes {
  checkSigner(type, unsigned, key)
  return signers[type].sign(bytesOf(unsigned), key)
}

function bytesOf(unsigned: string | Uint8Array): Bytes {
  if (typeof unsigned !== 'string') return new Uint8Array(unsigned)
  return isHex(unsigned) ? decodeHex(unsigned) : refuse('it is no hex of whole bytes')
}

/** These chains know ECDSA alone, whatever form of its address the key is named by. */
function ecdsa({ curve, privateKey, publicKey }: KeyAtHand, digest: Uint8Array) {
  return signBytes({ curve, privateKey, publicKey }, digest)
}
