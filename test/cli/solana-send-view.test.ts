import { ComputeBudgetProgram, PublicKey, TransactionInstruction } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { encodeSolanaPayment, tokenAccountOf } from '../../src/chain/index.ts'
import { createStyle } from '../../src/cli/io.ts'
import { describeSolanaSend, solanaRows } from '../../src/cli/views/solana-send.ts'
import { encodeHex } from '../../src/encoding/index.ts'
import { draftOf, transferOf } from '../service/sends/solana-drafts.ts'

const keyOf = (byte: number) => new PublicKey(new Uint8Array(32).fill(byte))
const TOKEN = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
const UNNAMED = { interfaces: [], directory: { addressBook: {}, assets: {}, wallets: [], privateKeys: [] } }
const key = (pubkey: PublicKey) => ({ pubkey, isSigner: false, isWritable: true })

test('approve: a send on Solana says what it pays, which programs it calls, and how much nobody can tell', () => {
  const [from, to, mint] = [keyOf(1), keyOf(2), keyOf(3)]
  const amount = Buffer.from('c409000000000000', 'hex')
  const checked = new TransactionInstruction({
    programId: TOKEN,
    keys: [keyOf(4), mint, to, from].map(key),
    data: Buffer.concat([Buffer.from([12]), amount, Buffer.from([6])]),
  })
  const other = new TransactionInstruction({ programId: keyOf(9), keys: [], data: Buffer.from([1]) })
  const budget = ComputeBudgetProgram.setComputeUnitLimit({ units: 1 })
  const transaction = draftOf([transferOf(from, to, 1_500_000_000), checked, budget, other], { payer: from })
  const rows = solanaRows(
    describeSolanaSend({ unsignedTransaction: transaction.toString('hex') }, UNNAMED),
    createStyle(false),
  )
  expect(rows.filter(([name]) => name !== 'programs')).toEqual([
    ['pays', `1.5 SOL (1500000000 lamports) to ${to.toBase58()}`],
    ['pays', `2500 units of the token ${mint.toBase58()} to ${to.toBase58()}`],
    ['fee', 'no ceiling: the service chooses the price of a compute unit'],
    ['unknown', 'no interface tells 1 of its instructions: know them before you approve'],
  ])
  expect(
    rows
      .find(([name]) => name === 'programs')![1]!
      .split(', ')
      .sort(),
  ).toEqual([TOKEN, PublicKey.default, keyOf(9), ComputeBudgetProgram.programId].map((each) => each.toBase58()).sort())
})

test('approve: a payment of a token on Solana says whom it pays, and nothing of it is unknown', () => {
  const [from, to, mint] = [1, 2, 3].map((byte) => keyOf(byte).toBase58()) as [string, string, string]
  const token = { mint, decimals: 6, program: 'token-2022' } as const
  const unsignedTransaction = encodeHex(encodeSolanaPayment({ from, to, amount: 2_500n, token }))
  const rows = solanaRows(describeSolanaSend({ unsignedTransaction }, UNNAMED), createStyle(false))
  expect(rows.filter(([name]) => name !== 'programs')).toEqual([
    ['pays', `2500 units of the token ${mint} to ${to}, into its account ${tokenAccountOf(to, token)}`],
    ['fee', 'no ceiling: the service chooses the price of a compute unit'],
  ])
})
