/** Solana transactions with the signatures of some of their signers (docs/protocol/signing.md#solana-transactions). */
import type { SignatureHalves } from '../../crypto/index.ts'
import { type Bytes, concatBytes, encodeBase58 } from '../../encoding/index.ts'
import { refuse } from '../transactions/refuse.ts'
import { encodeSolana } from '../transactions/solana-encoding.ts'
import { readSolanaParts, type SolanaMessage } from '../transactions/solana-message.ts'

/** The part of a transaction, or of a bare message, that is signed. Throws `ChainError`. */
export function solanaMessageOf(transaction: Uint8Array): Uint8Array {
  return readSolanaParts(transaction).message
}

/** The signature that a transaction is known by, the payer's, in base58. Throws `ChainError`. */
export function solanaSignatureOf(transaction: Uint8Array): string {
  return encodeBase58(readSolanaParts(transaction).signatures[0]!)
}

/** Throws `ChainError` if the key (32 bytes) is none of those that must sign. */
export function checkSolanaSigner(transaction: Uint8Array, publicKey: Uint8Array): void {
  signerPlace(readSolanaParts(transaction).content, publicKey)
}

/**
 * Puts a signature into the place of its signer; the places of others keep what they hold. A bare message becomes a
 * transaction. Throws `ChainError` if the key (32 bytes) is none of those that must sign.
 */
export function encodeSignedSolana(transaction: Uint8Array, publicKey: Uint8Array, signature: SignatureHalves): Bytes {
  const { signatures, message, content } = readSolanaParts(transaction)
  const place = signerPlace(content, publicKey)
  const slots = signatures.with(place, concatBytes(signature.r, signature.s))
  return encodeSolana(slots, message)
}

function signerPlace({ keys, signers }: SolanaMessage, publicKey: Uint8Array): number {
  const place = keys.slice(0, signers).indexOf(encodeBase58(publicKey))
  return place < 0 ? refuse(`${encodeBase58(publicKey)} is none of the accounts that must sign`) : place
}
