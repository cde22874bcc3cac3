/** What rent is found to be by what a node says of a trial: a stranger's programs may do all of this. */
import { Keypair, PublicKey, SystemProgram } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { readSolanaDraft, withFeePayer } from '../../../src/chain/index.ts'
import { decodeBase64 } from '../../../src/encoding/index.ts'
import type { SolanaNode, SolanaRun } from '../../../src/service/nodes/solana-node.ts'
import { findRent } from '../../../src/service/sends/solana-rent.ts'
import { draftOf } from './solana-drafts.ts'

const [signer, vault, account, other] = Array.from({ length: 4 }, () => Keypair.generate().publicKey.toBase58()) as [
  string,
  string,
  string,
  string,
]
const payer = Keypair.generate().publicKey
const from = new PublicKey(signer)
const transaction = withFeePayer(
  draftOf([SystemProgram.transfer({ fromPubkey: from, toPubkey: from, lamports: 0 })], { payer: from }),
  payer.toBase58(),
)
/** Here a byte costs a lamport, and being an account 100. */
const rentOf = (size: number) => 100n + BigInt(size)

interface Trial {
  /** What programs have told the System Program to do. */
  readonly calls?: readonly object[]
  /** The accounts that are there afterwards, with the sizes of their data. @default each with 50 */
  readonly after?: Readonly<Record<string, number | undefined>>
  readonly balance?: bigint
  readonly error?: SolanaRun['error']
  readonly logs?: readonly string[]
}

/** A node that says these things of every trial. */
function nodeOf({ calls = [], after, balance = 1_000_000n, error = null, logs = [] }: Trial) {
  const trials: string[] = []
  const innerInstructions = [
    {
      index: 0,
      instructions: [...calls.map((info) => ({ program: 'system', parsed: { info } })), { programId: vault }],
    },
  ]
  const node = {
    balance: async () => balance,
    rentOf: async (size: number) => rentOf(size),
    simulate: async (bytes: string, addresses?: readonly string[]) => {
      trials.push(bytes)
      return { error, logs, innerInstructions, accounts: addresses?.map((each) => (after ? after[each] : 50)) }
    },
  } as unknown as SolanaNode
  return { node, trials }
}
const create = { source: signer, newAccount: account, lamports: 150, space: 50 }

test.each<[string, Trial, object]>([
  ['one that a signer pays for', { calls: [create] }, { prefunds: [{ to: signer, lamports: 150n }] }],
  ['one that another account pays for', { calls: [{ ...create, source: vault }] }, { prefunds: [] }],
  [
    'more than it must have',
    {
      calls: [
        { ...create, lamports: 90_000 },
        { source: signer, destination: account, lamports: 5 },
      ],
    },
    { prefunds: [{ to: signer, lamports: 150n }] },
  ],
  [
    'what a signer adds to what was there, or another has paid',
    {
      calls: [
        { source: signer, destination: account, lamports: 40 },
        { source: vault, destination: account, lamports: 110 },
        { account, space: 50 },
      ],
    },
    { prefunds: [{ to: signer, lamports: 40n }] },
  ],
  [
    'the size that it has in the end',
    { calls: [create], after: { [account]: 20 } },
    { prefunds: [{ to: signer, lamports: 120n }] },
  ],
  [
    'one that is closed again, beside one that stays',
    { calls: [create, { ...create, newAccount: other }], after: { [other]: 50 } },
    {
      prefunds: [{ to: signer, lamports: 150n }],
      advice: `rent is not paid in advance for what it closes again: ${account}`,
    },
  ],
  [
    'lamports for what is no new account',
    { calls: [{ source: signer, destination: vault, lamports: 9 }] },
    { prefunds: [] },
  ],
  ['one that fails even so', { calls: [create], error: { InstructionError: [1, { Custom: 6000 }] } }, { prefunds: [] }],
  [
    'a payer with too little',
    { error: { InstructionError: [1, { Custom: 1 }] }, logs: ['Transfer: insufficient lamports 1, need 2'] },
    { prefunds: [], advice: `${payer.toBase58()}, which pays rent in advance, has 1000000 lamports` },
  ],
  [
    'a payer without funds',
    { calls: [create], balance: 10_100n },
    { prefunds: [], advice: `${payer.toBase58()}, which pays rent in advance, has 10100 lamports` },
  ],
])('rent: %s', async (_, trial, expected) => {
  expect(await findRent(nodeOf(trial).node, transaction)).toEqual(expected)
})

test('rent: a trial has all of the payer’s funds on the signer, but for the fee and what it must keep', async () => {
  const { node, trials } = nodeOf({ balance: 1_000_000n })
  await findRent(node, transaction)
  const [trial] = trials
  const amount = Buffer.alloc(8)
  amount.writeBigUInt64LE(1_000_000n - 10_000n - 100n)
  expect(Buffer.from(decodeBase64(trial!)).includes(amount)).toBe(true)
  expect(readSolanaDraft(decodeBase64(trial!)).signers).toEqual([payer.toBase58(), signer])
})

test.each<[string, SolanaRun['error']]>([
  ['a node that lags', 'BlockhashNotFound'],
  ['a payer that has paid for another send meanwhile', { InstructionError: [0, { Custom: 1 }] }],
  ['a payer that would keep too little by then', { InsufficientFundsForRent: { account_index: 0 } }],
  ['a payer that could not pay the fee by then', 'InsufficientFundsForFee'],
])('rent: %s is tried again', async (_, error) => {
  const logs = ['Transfer: insufficient lamports 1, need 2']
  expect(await findRent(nodeOf({ error, logs }).node, transaction)).toBe('waits')
})
