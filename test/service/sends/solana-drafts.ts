import { Keypair, type PublicKey, SystemProgram, Transaction, type TransactionInstruction } from '@solana/web3.js'

export interface Draft {
  readonly payer: PublicKey
  /** @default none: the service fills one in */
  readonly blockhash?: string
  readonly signedBy?: Keypair
}

/** Writes a legacy transaction that its payer has not signed yet. */
export function draftOf(
  instructions: readonly TransactionInstruction[],
  { payer, blockhash = '1'.repeat(32), signedBy }: Draft,
): Buffer {
  const transaction = new Transaction({ recentBlockhash: blockhash, feePayer: payer }).add(...instructions)
  if (signedBy) transaction.partialSign(signedBy)
  return transaction.serialize({ requireAllSignatures: false, verifySignatures: false })
}

export function transferOf(from: PublicKey, to: PublicKey, lamports: number): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports })
}

/** Somebody who has nothing yet. */
export function receiver(): PublicKey {
  return Keypair.generate().publicKey
}
