import { getTransactionDecoder, isFullySignedTransaction } from '@solana/kit'
import {
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { describe, expect, test } from 'vitest'
import { type KeyAtHand, signTransaction } from '../../../src/chain/index.ts'
import { refusal } from '../transactions/harness.ts'

const payer = Keypair.fromSeed(new Uint8Array(32).fill(1))
const other = Keypair.fromSeed(new Uint8Array(32).fill(2))
const to = new PublicKey(new Uint8Array(32).fill(9))
const blockhash = new PublicKey(new Uint8Array(32).fill(7)).toBase58()

const keyOf = (keypair: Keypair): KeyAtHand => ({
  curve: 'CURVE_ED25519',
  privateKey: keypair.secretKey.slice(0, 32),
  publicKey: keypair.publicKey.toBytes(),
})
const sign = (bytes: Uint8Array, keypair: Keypair) => signTransaction('TRANSACTION_TYPE_SOLANA', bytes, keyOf(keypair))
const transfer = (from: Keypair) =>
  SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports: 1_000 })

function legacy(...from: Keypair[]): Transaction {
  const transaction = new Transaction({ recentBlockhash: blockhash, feePayer: payer.publicKey })
  return transaction.add(...from.map(transfer))
}
const unsigned = (transaction: Transaction) =>
  new Uint8Array(transaction.serialize({ requireAllSignatures: false, verifySignatures: false }))

describe('signing: Solana', () => {
  test('signing: a legacy transaction is signed to the bytes of web3.js', () => {
    const expected = legacy(payer)
    expected.sign(payer)
    const signed = sign(unsigned(legacy(payer)), payer)
    expect(Buffer.from(signed).toString('hex')).toBe(expected.serialize().toString('hex'))
    expect(Transaction.from(signed).verifySignatures()).toBe(true)
  })

  test('signing: a transaction of version 0 is signed to the bytes of web3.js', () => {
    const message = new TransactionMessage({
      payerKey: payer.publicKey,
      recentBlockhash: blockhash,
      instructions: [transfer(payer)],
    }).compileToV0Message()
    const expected = new VersionedTransaction(message)
    const signed = sign(expected.serialize(), payer)
    expected.sign([payer])
    expect(signed).toEqual(new Uint8Array(expected.serialize()))
    // A bare message is a transaction that nobody has signed.
    expect(sign(message.serialize(), payer)).toEqual(signed)
  })

  test('signing: the signatures of others survive, in any order', () => {
    const first = sign(unsigned(legacy(payer, other)), other)
    expect(Transaction.from(first).verifySignatures(false)).toBe(true)
    expect(isFullySignedTransaction(getTransactionDecoder().decode(first))).toBe(false)
    const both = sign(first, payer)
    expect(Transaction.from(both).verifySignatures()).toBe(true)
    expect(isFullySignedTransaction(getTransactionDecoder().decode(both))).toBe(true)
    expect(sign(sign(unsigned(legacy(payer, other)), payer), other)).toEqual(both)
  })

  test('signing: who need not sign cannot', () => {
    expect(refusal(() => sign(unsigned(legacy(payer)), other))).toBe(
      `failed to parse transaction: ${other.publicKey.toBase58()} is none of the accounts that must sign`,
    )
  })
})
