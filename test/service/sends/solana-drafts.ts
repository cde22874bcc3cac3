import { Keypair, PublicKey, SystemProgram, Transaction, TransactionInstruction } from '@solana/web3.js'

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

const TOKEN = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
const TOKEN_ACCOUNTS = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')

/** What creates an owner's account of a token, at its address, and what closes it again in favour of its owner. */
export function tokenAccountOf(payer: PublicKey, owner: PublicKey, mint: PublicKey) {
  const seeds = [owner, TOKEN, mint].map((key) => key.toBytes())
  const [account] = PublicKey.findProgramAddressSync(seeds, TOKEN_ACCOUNTS)
  const key = (pubkey: PublicKey, isWritable = false, isSigner = false) => ({ pubkey, isWritable, isSigner })
  const keys = [key(payer, true, true), key(account, true), key(owner), key(mint)]
  const create = (tag: number) =>
    new TransactionInstruction({
      programId: TOKEN_ACCOUNTS,
      keys: [...keys, key(SystemProgram.programId), key(TOKEN)],
      data: Buffer.from([tag]),
    })
  const close = new TransactionInstruction({
    programId: TOKEN,
    keys: [key(account, true), key(owner, true), key(owner, false, true)],
    data: Buffer.from([9]),
  })
  return { address: account.toBase58(), create: create(0), createUnlessThere: create(1), close }
}
