import {
  AddressLookupTableAccount,
  ComputeBudgetInstruction,
  ComputeBudgetProgram,
  Ed25519Program,
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { describe, expect, test } from 'vitest'
import {
  checkSolanaSigners,
  checkSolanaSponsored,
  NO_BLOCKHASH,
  normalizeCaip2,
  placeAsAsked,
  prefundsOf,
  readSolanaDraft,
  solanaFee,
  withBlockhash,
  withComputeBudget,
  withFeePayer,
  withPrefunds,
} from '../../../src/chain/index.ts'
import { encodeSolanaMessage } from '../../../src/chain/transactions/solana-encoding.ts'
import { readSolanaParts } from '../../../src/chain/transactions/solana-message.ts'
import { decodeHex } from '../../../src/encoding/index.ts'
import { readVectors } from '../../vectors/read-vectors.ts'
import { refusal } from './harness.ts'

const payer = Keypair.fromSeed(new Uint8Array(32).fill(1))
const other = Keypair.fromSeed(new Uint8Array(32).fill(2))
const keyOf = (byte: number) => new PublicKey(new Uint8Array(32).fill(byte))
const blockhash = keyOf(7).toBase58()
const transfer = (from: Keypair) =>
  SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: keyOf(9), lamports: 1_000 })
const bytesOf = (transaction: Transaction) =>
  new Uint8Array(transaction.serialize({ requireAllSignatures: false, verifySignatures: false }))
const legacy = (...instructions: TransactionInstruction[]) =>
  bytesOf(new Transaction({ recentBlockhash: blockhash, feePayer: payer.publicKey }).add(...instructions))

describe('Solana drafts', () => {
  const transactions = readVectors<{ name: string; bytes?: string }>('solana-transactions/parser.jsonl').flatMap(
    ({ name, bytes }) => (bytes === undefined || name.includes('invalid') ? [] : [{ name, bytes }]),
  )
  test.each(transactions)('are written as they were read: $name', ({ bytes }) => {
    const { message, content } = readSolanaParts(decodeHex(bytes))
    expect(encodeSolanaMessage(content)).toEqual(new Uint8Array(message))
  })

  test('say who signs, who has signed, and what is set', () => {
    const transaction = new Transaction({ recentBlockhash: blockhash, feePayer: payer.publicKey })
    transaction.add(transfer(payer), transfer(other), ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 5 }))
    transaction.partialSign(other)
    expect(readSolanaDraft(bytesOf(transaction))).toEqual({
      signers: [payer.publicKey.toBase58(), other.publicKey.toBase58()],
      signedBy: [other.publicKey.toBase58()],
      blockhash,
      accounts: [
        ...[payer, other].map(({ publicKey }) => publicKey.toBase58()),
        ...[keyOf(9), SystemProgram.programId, ComputeBudgetProgram.programId].map((key) => key.toBase58()),
      ],
      writable: [payer, other].map(({ publicKey }) => publicKey.toBase58()).concat(keyOf(9).toBase58()),
      budget: { unitPrice: 5n },
    })
  })

  test('a durable nonce is known by its first instruction', () => {
    const nonce = { noncePubkey: keyOf(3), authorizedPubkey: payer.publicKey }
    expect(readSolanaDraft(legacy(SystemProgram.nonceAdvance(nonce), transfer(payer))).nonceAccount).toBe(
      keyOf(3).toBase58(),
    )
    expect(readSolanaDraft(legacy(transfer(payer), SystemProgram.nonceAdvance(nonce))).nonceAccount).toBeUndefined()
  })

  test('a blockhash is put in', () => {
    const empty = new Transaction({ recentBlockhash: NO_BLOCKHASH, feePayer: payer.publicKey }).add(transfer(payer))
    expect(readSolanaDraft(bytesOf(empty)).blockhash).toBe(NO_BLOCKHASH)
    expect(withBlockhash(bytesOf(empty), blockhash)).toEqual(legacy(transfer(payer)))
  })

  test('a budget is added as web3.js reads it, and the rest is as it was', () => {
    const before = legacy(transfer(payer), transfer(other))
    const after = Transaction.from(withComputeBudget(before, { unitLimit: 70_000, unitPrice: 2n ** 40n }))
    expect(after.instructions.slice(0, 2)).toEqual(Transaction.from(before).instructions)
    const [limit, price] = after.instructions.slice(2) as [TransactionInstruction, TransactionInstruction]
    expect(ComputeBudgetInstruction.decodeSetComputeUnitLimit(limit)).toEqual({ units: 70_000 })
    expect(ComputeBudgetInstruction.decodeSetComputeUnitPrice(price)).toEqual({ microLamports: 2n ** 40n })
  })

  test('what the caller has set is kept', () => {
    const set = legacy(
      transfer(payer),
      ComputeBudgetProgram.setComputeUnitLimit({ units: 5 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 6 }),
    )
    expect(withComputeBudget(set, { unitLimit: 70_000, unitPrice: 9n })).toEqual(set)
    const half = legacy(transfer(payer), ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 6 }))
    expect(Transaction.from(withComputeBudget(half, { unitLimit: 7, unitPrice: 9n })).instructions).toHaveLength(3)
  })

  test('accounts of lookup tables are still the same ones', () => {
    const { table, transaction: before } = withTable()
    const after = VersionedTransaction.deserialize(withComputeBudget(before.serialize(), { unitLimit: 1 }))
    const accountsOf = ({ message }: VersionedTransaction) =>
      TransactionMessage.decompile(message, { addressLookupTableAccounts: [table] }).instructions[0]!
    expect(accountsOf(after)).toEqual(accountsOf(before))
  })

  test('one that would be too large for the network stays as it is', () => {
    const data = (length: number) =>
      legacy(new TransactionInstruction({ programId: keyOf(30), keys: [], data: Buffer.alloc(length) }))
    const full = data(1_232 - data(0).length - 1)
    expect(full.length).toBe(1_232)
    expect(withComputeBudget(full, { unitLimit: 1 })).toEqual(full)
  })

  describe('who signs', () => {
    const given = (options: { readonly blockhash?: string; readonly signedBy?: readonly Keypair[] } = {}) => {
      const transaction = new Transaction({
        recentBlockhash: options.blockhash ?? blockhash,
        feePayer: payer.publicKey,
      })
      transaction.add(transfer(other))
      if (options.signedBy) transaction.partialSign(...options.signedBy)
      return bytesOf(transaction)
    }
    const check = (transaction: Uint8Array, ...signers: readonly Keypair[]) =>
      checkSolanaSigners(
        transaction,
        signers.map(({ publicKey }) => publicKey.toBytes()),
      )
    const [one, two, three] = [payer, other, Keypair.fromSeed(new Uint8Array(32).fill(3))].map((keypair) => ({
      keypair,
      address: keypair.publicKey.toBase58(),
    })) as [Named, Named, Named]

    test('all that must, with those who have', () => {
      expect(() => check(given(), payer, other)).not.toThrow()
      expect(() => check(given({ signedBy: [other] }), payer)).not.toThrow()
    })

    const advance = SystemProgram.nonceAdvance({ noncePubkey: keyOf(3), authorizedPubkey: payer.publicKey })
    const nonceless = new Transaction({ recentBlockhash: NO_BLOCKHASH, feePayer: payer.publicKey }).add(advance)
    test.each<[string, Uint8Array, readonly Keypair[], string]>([
      [
        'somebody else',
        given(),
        [one.keypair, three.keypair],
        `${three.address} is none of the accounts that must sign`,
      ],
      ['another order', given(), [two.keypair, one.keypair], `stand in another order: ${one.address}, ${two.address}`],
      ['one twice', given(), [one.keypair, one.keypair], `${one.address} signs it once, and is named twice`],
      ['one too few', given(), [one.keypair], `${two.address} must sign it too`],
      [
        'a signature without a blockhash',
        given({ blockhash: NO_BLOCKHASH, signedBy: [other] }),
        [one.keypair],
        `${two.address} has signed it without a blockhash`,
      ],
      ['a nonce that is missing', bytesOf(nonceless), [one.keypair], `it lacks the nonce of ${keyOf(3).toBase58()}`],
      [
        'a signature of something else',
        given({ signedBy: [other] }).with(-1, 0xff),
        [one.keypair],
        `the signature of ${two.address} is none of this transaction`,
      ],
    ])('%s is refused', (_, transaction, signers, reason) => {
      expect(refusal(() => check(transaction, ...signers))).toContain(reason)
    })
  })
})

interface Named {
  readonly keypair: Keypair
  readonly address: string
}

describe('sponsored Solana transactions', () => {
  const sponsor = Keypair.fromSeed(new Uint8Array(32).fill(8)).publicKey
  const [from, space] = [payer.publicKey, 0]
  const create = { fromPubkey: from, newAccountPubkey: other.publicKey, lamports: 1, space, programId: keyOf(30) }
  const seeded = { fromPubkey: from, newAccountPubkey: keyOf(9), basePubkey: from, seed: 'x', lamports: 1, space }

  test('another pays, and everything else is as it was', () => {
    const before = Transaction.from(legacy(transfer(payer), transfer(other)))
    const after = Transaction.from(withFeePayer(legacy(transfer(payer), transfer(other)), sponsor.toBase58()))
    expect(after.feePayer).toEqual(sponsor)
    expect(after.instructions).toEqual(before.instructions)
    expect(after.signatures.map(({ publicKey }) => publicKey)).toEqual([sponsor, payer.publicKey, other.publicKey])
  })

  test('accounts of lookup tables are still the same ones', () => {
    const { table, transaction } = withTable()
    const after = VersionedTransaction.deserialize(withFeePayer(transaction.serialize(), sponsor.toBase58()))
    const accountsOf = ({ message }: VersionedTransaction) =>
      TransactionMessage.decompile(message, { addressLookupTableAccounts: [table] }).instructions[0]!
    expect(accountsOf(after)).toEqual(accountsOf(transaction))
  })

  test.each<[string, TransactionInstruction, string]>([
    ['creates an account', SystemProgram.createAccount(create), 'creates no account by the System Program itself'],
    [
      'creates one with a seed',
      SystemProgram.createAccountWithSeed({ ...seeded, programId: keyOf(30) }),
      'creates no account by the System Program itself',
    ],
    [
      'names its payer',
      SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: sponsor, lamports: 1 }),
      `does not name who pays for it, ${sponsor.toBase58()}`,
    ],
    [
      'has no System Program',
      new TransactionInstruction({ programId: keyOf(30), keys: [] }),
      'has the System Program among its accounts',
    ],
  ])('one that %s is refused', (_, instruction, reason) => {
    expect(refusal(() => checkSolanaSponsored(legacy(instruction), sponsor.toBase58()))).toContain(reason)
  })

  test('one that its signers may sign is taken', () => {
    expect(() => checkSolanaSponsored(legacy(transfer(payer)), sponsor.toBase58())).not.toThrow()
  })

  test('what its payer puts on a signer comes first, unless a nonce does, and nothing else moves', () => {
    const to = payer.publicKey.toBase58()
    const advance = SystemProgram.nonceAdvance({ noncePubkey: keyOf(3), authorizedPubkey: payer.publicKey })
    const paidOf = (...instructions: TransactionInstruction[]) =>
      withPrefunds(withFeePayer(legacy(...instructions), sponsor.toBase58()), [{ to, lamports: 2_039_280n }])
    const expected = SystemProgram.transfer({ fromPubkey: sponsor, toPubkey: payer.publicKey, lamports: 2_039_280 })
    for (const [instructions, place] of [
      [[transfer(payer)], 0],
      [[advance, transfer(payer)], 1],
    ] as const) {
      const bytes = paidOf(...instructions)
      const read = Transaction.from(bytes).instructions
      const [paid] = read.splice(place, 1)
      expect([paid!.data, paid!.keys.map(({ pubkey }) => pubkey)]).toEqual([
        expected.data,
        expected.keys.map(({ pubkey }) => pubkey),
      ])
      expect(read.map(({ data }) => data)).toEqual(instructions.map(({ data }) => data))
      expect(prefundsOf(bytes)).toEqual([{ to, lamports: 2_039_280n }])
      expect(placeAsAsked(bytes, place)).toBeUndefined()
      expect(placeAsAsked(bytes, place + 1)).toBe(place)
    }
  })

  test.each<[string, TransactionInstruction]>([
    [
      'pays somebody who does not sign',
      SystemProgram.transfer({ fromPubkey: sponsor, toPubkey: keyOf(9), lamports: 1 }),
    ],
    ['gives its account away', SystemProgram.assign({ accountPubkey: sponsor, programId: keyOf(30) })],
    [
      'creates an account',
      SystemProgram.createAccountWithSeed({ ...seeded, fromPubkey: sponsor, programId: keyOf(30) }),
    ],
    [
      'is a program’s to use',
      new TransactionInstruction({
        programId: keyOf(30),
        keys: [{ pubkey: sponsor, isSigner: true, isWritable: true }],
        data: Buffer.from([2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
      }),
    ],
  ])('one in which its payer %s is never signed', (_, instruction) => {
    const transaction = new Transaction({ recentBlockhash: blockhash, feePayer: sponsor })
    expect(refusal(() => prefundsOf(bytesOf(transaction.add(transfer(payer), instruction))))).toContain(
      'has the payer do more than pay in advance',
    )
  })

  test('the fee is that of each signature, checked ones too, and of the units that it may use', () => {
    const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 3 })
    const limit = ComputeBudgetProgram.setComputeUnitLimit({ units: 1_000_001 })
    const ed25519 = Ed25519Program.createInstructionWithPrivateKey({
      privateKey: payer.secretKey,
      message: keyOf(1).toBytes(),
    })
    expect(solanaFee(legacy(transfer(payer), transfer(other)))).toBe(10_000n)
    expect(solanaFee(legacy(transfer(payer), ed25519))).toBe(10_000n)
    expect(solanaFee(legacy(transfer(payer), price))).toBe(5_002n)
    expect(solanaFee(legacy(transfer(payer), price, limit))).toBe(5_004n)
  })
})

function withTable() {
  const table = new AddressLookupTableAccount({
    key: keyOf(20),
    state: {
      addresses: [keyOf(21), keyOf(22)],
      authority: keyOf(23),
      deactivationSlot: 2n ** 64n - 1n,
      lastExtendedSlot: 0,
      lastExtendedSlotStartIndex: 0,
    },
  })
  const instruction = new TransactionInstruction({
    programId: keyOf(30),
    keys: [21, 31, 22].map((byte) => ({ pubkey: keyOf(byte), isSigner: false, isWritable: byte === 21 })),
    data: Buffer.from([1]),
  })
  const content = { payerKey: payer.publicKey, recentBlockhash: blockhash, instructions: [instruction] }
  return { table, transaction: new VersionedTransaction(new TransactionMessage(content).compileToV0Message([table])) }
}

test.each([
  ['solana:mainnet', 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'],
  ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d', 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'],
  ['solana:devnet', 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'],
  ['solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG', 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'],
  ['eip155:1', 'eip155:1'],
])('chain ids: %s is %s', (given, expected) => {
  expect(normalizeCaip2(given)).toBe(expected)
})
