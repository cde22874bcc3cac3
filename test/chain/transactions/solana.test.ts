import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstruction,
  type Blockhash,
  compileTransaction,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  getAddressDecoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  getTransactionEncoder,
  type Instruction,
  isSignerRole,
  isWritableRole,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Facts } from '../../../src/chain/index.ts'
import { readVectors } from '../../vectors/read-vectors.ts'
import { read, refusalOf } from './harness.ts'

const SYSTEM = address('11111111111111111111111111111111')
const TOKEN = address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
const TOKEN_2022 = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')
const key = (seed: number): Address => getAddressDecoder().decode(new Uint8Array(32).fill(seed))
const [payer, shop, mint, other, table] = [key(1), key(2), key(3), key(4), key(5)]
const blockhash = key(9) as string as Blockhash

interface Building {
  readonly version?: 'legacy' | 0
  readonly tables?: Readonly<Record<Address, readonly Address[]>>
}

/** A transaction as Solana's own library writes it, its signatures zero. */
function build(instructions: readonly Instruction[], { version = 'legacy', tables = {} }: Building = {}): Uint8Array {
  const message = pipe(
    createTransactionMessage({ version: version as 0 }),
    (empty) => setTransactionMessageFeePayer(payer, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash({ blockhash, lastValidBlockHeight: 1n }, paid),
    (started) =>
      instructions.reduce<typeof started>(
        (sum, each) => appendTransactionMessageInstruction(each, sum) as unknown as typeof started,
        started,
      ),
  )
  const compressed =
    version === 0 ? compressTransactionMessageUsingAddressLookupTables(message, tables as never) : message
  return new Uint8Array(getTransactionEncoder().encode(compileTransaction(compressed)))
}

const u64 = (value: bigint) => Array.from({ length: 8 }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn))
const signer = (account: Address) => ({ address: account, role: AccountRole.WRITABLE_SIGNER })
const writable = (account: Address) => ({ address: account, role: AccountRole.WRITABLE })
const readonly = (account: Address) => ({ address: account, role: AccountRole.READONLY })
const call = (
  programAddress: Address,
  accounts: readonly ReturnType<typeof writable>[],
  data: readonly number[],
): Instruction => ({
  programAddress,
  accounts: accounts as Instruction['accounts'] & object,
  data: Uint8Array.from(data),
})
const transfer = (to: Address, amount: bigint) =>
  call(SYSTEM, [signer(payer) as never, writable(to)], [2, 0, 0, 0, ...u64(amount)])

describe('solana: what a transaction says', () => {
  test('solana: a transfer of a legacy transaction', () => {
    expect(read('SOLANA', build([transfer(shop, 10n)]))).toEqual({
      account_keys: [payer, shop, SYSTEM],
      program_keys: [SYSTEM],
      instructions: [
        {
          program_key: SYSTEM,
          accounts: [
            { account_key: payer, signer: true, writable: true },
            { account_key: shop, signer: false, writable: true },
          ],
          instruction_data_hex: '020000000a00000000000000',
          address_table_lookups: [],
        },
      ],
      transfers: [{ from: payer, to: shop, amount: 10n }],
      spl_transfers: [],
      recent_blockhash: blockhash,
      address_table_lookups: [],
    })
  })

  test('solana: a message alone says the same as its transaction', () => {
    const transaction = build([transfer(shop, 10n)])
    expect(read('SOLANA', transaction.subarray(1 + 64))).toEqual(read('SOLANA', transaction))
  })

  test('solana: version 0 without tables says the same as legacy', () => {
    const instructions = [transfer(shop, 10n), call(other, [readonly(mint)], [1])]
    expect(read('SOLANA', build(instructions, { version: 0 }))).toEqual(read('SOLANA', build(instructions)))
  })

  test('solana: accounts of tables read as the literal, with the positions that each instruction uses', () => {
    const [a, b, c] = [key(20), key(21), key(22)]
    const bytes = build([transfer(b, 10n), call(other, [readonly(c), writable(a)], [1])], {
      version: 0,
      tables: { [table]: [a, b, c] },
    })
    const facts = read('SOLANA', bytes)
    expect(facts['account_keys']).toEqual(
      [payer, SYSTEM, other, ...Array(3).fill('ADDRESS_TABLE_LOOKUP')].toSorted(byStatic(facts)),
    )
    expect(facts['transfers']).toEqual([{ from: payer, to: 'ADDRESS_TABLE_LOOKUP', amount: 10n }])
    const lookups = facts['address_table_lookups'] as { writable_indexes: bigint[]; readonly_indexes: bigint[] }[]
    expect(lookups.map(({ writable_indexes }) => writable_indexes.toSorted())).toEqual([[0n, 1n]])
    expect(lookups).toMatchObject([{ address_table_key: table, readonly_indexes: [2n] }])
    expect(facts['instructions']).toMatchObject([
      {
        accounts: [{}, { account_key: 'ADDRESS_TABLE_LOOKUP', signer: false, writable: true }],
        address_table_lookups: [{ address_table_key: table, writable_indexes: [1n], readonly_indexes: [] }],
      },
      {
        accounts: [
          { account_key: 'ADDRESS_TABLE_LOOKUP', writable: false },
          { account_key: 'ADDRESS_TABLE_LOOKUP', writable: true },
        ],
        address_table_lookups: [{ address_table_key: table, writable_indexes: [0n], readonly_indexes: [2n] }],
      },
    ])
  })

  /** The order of the static accounts is the library's; those of tables stand behind them. */
  const byStatic = (facts: Facts) => (a: string, b: string) =>
    (facts['account_keys'] as string[]).indexOf(a) - (facts['account_keys'] as string[]).indexOf(b)
})

describe('solana: which instructions are transfers', () => {
  const accounts = [
    writable(shop),
    readonly(mint),
    writable(other),
    readonly(key(7)),
    readonly(key(8)),
    readonly(key(10)),
  ]
  const plain = [writable(shop), writable(other), readonly(key(7)), readonly(key(8))]
  const spl = { from: shop, to: other, amount: 70n, owner: key(7) }

  test.each([
    [
      'Transfer of the System Program',
      transfer(shop, 2n ** 64n - 1n),
      { transfers: [{ from: payer, to: shop, amount: 2n ** 64n - 1n }] },
    ],
    [
      'TransferWithSeed of the System Program',
      call(
        SYSTEM,
        [writable(shop), readonly(mint), writable(other)],
        [11, 0, 0, 0, ...u64(7n), ...u64(1n), 65, ...Array(32).fill(0)],
      ),
      { transfers: [{ from: shop, to: other, amount: 7n }] },
    ],
    [
      'data and accounts behind those that are used',
      call(SYSTEM, plain, [2, 0, 0, 0, ...u64(7n), 1, 2, 3]),
      { transfers: [{ from: shop, to: other, amount: 7n }] },
    ],
    [
      'CreateAccount, which is no transfer',
      call(SYSTEM, plain, [0, 0, 0, 0, ...u64(7n), ...u64(0n), ...Array(32).fill(0)]),
      {},
    ],
    [
      'Transfer of Token',
      call(TOKEN, plain.slice(0, 3), [3, ...u64(70n)]),
      { spl_transfers: [{ ...spl, signers: [], token_mint: '' }] },
    ],
    [
      'Transfer by a multisig',
      call(TOKEN_2022, plain, [3, ...u64(70n)]),
      { spl_transfers: [{ ...spl, signers: [key(8)], token_mint: '' }] },
    ],
    [
      'TransferChecked',
      call(TOKEN, accounts, [12, ...u64(70n), 6]),
      { spl_transfers: [{ ...spl, signers: [key(8), key(10)], token_mint: mint }] },
    ],
    [
      'TransferCheckedWithFee of Token-2022',
      call(TOKEN_2022, accounts.slice(0, 4), [26, 1, ...u64(70n), 6, ...u64(1n)]),
      { spl_transfers: [{ ...spl, signers: [], token_mint: mint }] },
    ],
    [
      'TransferCheckedWithFee, which Token does not have',
      call(TOKEN, accounts, [26, 1, ...u64(70n), 6, ...u64(1n)]),
      {},
    ],
    ['another instruction of the fee extension', call(TOKEN_2022, accounts, [26, 2]), {}],
    ['Burn, which is no transfer', call(TOKEN, accounts, [8, ...u64(70n)]), {}],
    ['a transfer of another program', call(key(6), plain, [3, ...u64(70n)]), {}],
  ])('solana: %s', (_name, instruction, expected) => {
    expect(read('SOLANA', build([instruction]))).toMatchObject({ transfers: [], spl_transfers: [], ...expected })
  })

  test.each([
    ['an amount cut short', call(SYSTEM, plain, [2, 0, 0, 0, 1]), 'the amount of `Transfer` needs 8 bytes, 1 are left'],
    [
      'too few accounts',
      call(TOKEN, accounts.slice(0, 3), [12, ...u64(70n), 6]),
      'the accounts of `TransferChecked` are too few',
    ],
  ])('solana: a transfer with %s is refused', (_name, instruction, reason) => {
    expect(refusalOf('SOLANA', build([instruction]))).toBe(`failed to parse transaction: ${reason}`)
  })
})

describe('solana: what is no transaction', () => {
  const message = (
    change: Partial<Record<'header' | 'keys' | 'instructions' | 'lookups', readonly number[]>> = {},
    version?: number,
  ) => {
    const {
      header = [1, 0, 1],
      keys = [2, ...Array(32).fill(1), ...Array(32).fill(2)],
      instructions = [1, 1, 1, 0, 1, 9],
      lookups = [],
    } = change
    return Uint8Array.from([
      ...(version === undefined ? [] : [0x80 + version]),
      ...header,
      ...keys,
      ...Array(32).fill(9),
      ...instructions,
      ...lookups,
    ])
  }
  const oneLookup = [1, ...Array(32).fill(5), 1, 0, 0]

  test('solana: the message that the others differ from is read', () => {
    expect(refusalOf('SOLANA', message())).toBe('read')
    expect(refusalOf('SOLANA', message({ lookups: oneLookup }, 0))).toBe('read')
  })

  test.each([
    ['nothing', new Uint8Array()],
    ['a message of version 1', message({ lookups: [0] }, 1)],
    ['bytes behind the end', Uint8Array.from([...message(), 0])],
    ['no signer', message({ header: [0, 0, 1] })],
    ['no signer that can pay', message({ header: [1, 1, 1] })],
    ['more accounts in the header than there are', message({ header: [2, 0, 1] })],
    ['an account that is not there', message({ instructions: [1, 1, 1, 2, 1, 9] })],
    ['a program that is not there', message({ instructions: [1, 2, 1, 0, 1, 9] })],
    ['the payer as a program', message({ instructions: [1, 0, 1, 0, 1, 9] })],
    ['a program of a lookup table', message({ instructions: [1, 2, 1, 0, 1, 9], lookups: oneLookup }, 0)],
    ['an empty lookup', message({ lookups: [1, ...Array(32).fill(5), 0, 0] }, 0)],
    ['a length with more bytes than needed', message({ instructions: [0x81, 0, 1, 1, 0, 1, 9] })],
    ['a length above 16 bits', message({ instructions: [0xff, 0xff, 0x04] })],
  ])('solana: %s is refused', (_name, bytes) => {
    expect(refusalOf('SOLANA', bytes)).toMatch(/^failed to parse transaction: /)
  })

  test('solana: a program that comes from a lookup table is refused for that', () => {
    const inner = message({ instructions: [1, 2, 1, 0, 1, 9], lookups: oneLookup }, 0)
    const transaction = Uint8Array.from([1, ...Array(64).fill(0), ...inner])
    expect(refusalOf('SOLANA', transaction)).toBe('failed to parse transaction: a program comes from a lookup table')
  })

  test('solana: a transaction with another number of signatures than signers is refused', () => {
    const transaction = Uint8Array.from([2, ...Array(128).fill(0), ...message()])
    expect(refusalOf('SOLANA', transaction)).toBe(
      'failed to parse transaction: the message needs 1 signatures, there are 2',
    )
  })
})

interface Vector {
  readonly name: string
  readonly bytes: string
  readonly valid: boolean
  readonly transfer?: Readonly<Record<string, string>>
}

describe('solana: the published transactions', () => {
  const vectors = readVectors<Vector>('solana-transactions/parser.jsonl')

  test.each(vectors.filter(({ valid }) => valid))(
    "solana: $name is read as the chain's own library reads it",
    ({ bytes, transfer }) => {
      const facts = read('SOLANA', bytes)
      const all = Uint8Array.from(Buffer.from(bytes, 'hex'))
      const compiled = getCompiledTransactionMessageDecoder().decode(messageOf(all)) as unknown as Compiled
      expect((facts['account_keys'] as string[]).filter((each) => each !== 'ADDRESS_TABLE_LOOKUP')).toEqual(
        compiled.staticAccounts,
      )
      expect(facts['recent_blockhash']).toBe(compiled.lifetimeToken)
      expect(facts['instructions']).toMatchObject(
        compiled.instructions.map(({ programAddressIndex, data = new Uint8Array() }) => ({
          program_key: compiled.staticAccounts[programAddressIndex],
          instruction_data_hex: Buffer.from(data).toString('hex'),
        })),
      )
      expect(facts['address_table_lookups']).toEqual(
        (compiled.addressTableLookups ?? []).map(({ lookupTableAddress, writableIndexes, readonlyIndexes }) => ({
          address_table_key: lookupTableAddress,
          writable_indexes: writableIndexes.map(BigInt),
          readonly_indexes: readonlyIndexes.map(BigInt),
        })),
      )
      if (transfer !== undefined)
        expect(facts['spl_transfers']).toMatchObject([{ ...transfer, amount: BigInt(transfer['amount']!) }])
    },
  )

  test.each(vectors.filter(({ valid }) => !valid))('solana: $name is refused', ({ bytes }) => {
    expect(refusalOf('SOLANA', bytes)).toMatch(/^failed to parse transaction: /)
  })
})

interface Compiled {
  readonly staticAccounts: readonly Address[]
  readonly lifetimeToken: string
  readonly instructions: readonly { readonly programAddressIndex: number; readonly data?: Uint8Array }[]
  readonly addressTableLookups?: readonly {
    readonly lookupTableAddress: Address
    readonly writableIndexes: readonly number[]
    readonly readonlyIndexes: readonly number[]
  }[]
}

/** Some of the published ones are bare messages: their signatures would reach past the end, or be no message. */
function messageOf(bytes: Uint8Array): Uint8Array {
  try {
    const { messageBytes } = getTransactionDecoder().decode(bytes)
    getCompiledTransactionMessageDecoder().decode(messageBytes)
    return new Uint8Array(messageBytes)
  } catch {
    return bytes
  }
}

const anyInstruction = fc.record({
  program: fc.integer({ min: 30, max: 34 }).map(key),
  accounts: fc.array(
    fc.oneof(
      fc.record({
        address: fc.integer({ min: 40, max: 49 }).map(key),
        role: fc.constantFrom(AccountRole.WRITABLE, AccountRole.READONLY),
      }),
      fc.record({
        address: fc.integer({ min: 50, max: 55 }).map(key),
        role: fc.constantFrom(AccountRole.WRITABLE_SIGNER, AccountRole.READONLY_SIGNER),
      }),
    ),
    { maxLength: 12 },
  ),
  data: fc.uint8Array({ maxLength: 200 }),
})

test('solana: whatever is written is read, and cut or lengthened it is refused', () => {
  const tables = { [table]: Array.from({ length: 10 }, (_, index) => key(40 + index)) }
  fc.assert(
    fc.property(fc.array(anyInstruction, { maxLength: 6 }), fc.boolean(), fc.nat(), (given, versioned, cut) => {
      const instructions = given.map(({ program, ...rest }) => ({ programAddress: program, ...rest }))
      const bytes = build(instructions, versioned ? { version: 0, tables } : {})
      const facts = read('SOLANA', bytes)
      const listed = new Set(facts['account_keys'] as string[])
      // An account may be written in the transaction when any of its instructions says so.
      const written = new Set(
        given.flatMap(({ accounts }) => accounts.flatMap((each) => (isWritableRole(each.role) ? [each.address] : []))),
      )
      expect(facts['instructions']).toMatchObject(
        given.map(({ program, accounts, data }) => ({
          program_key: program,
          accounts: accounts.map(({ address: account, role }) => ({
            account_key: listed.has(account) ? account : 'ADDRESS_TABLE_LOOKUP',
            signer: isSignerRole(role),
            writable: written.has(account),
          })),
          instruction_data_hex: Buffer.from(data).toString('hex'),
        })),
      )
      expect(new Set(facts['program_keys'] as string[])).toEqual(new Set(given.map(({ program }) => program as string)))
      expect(refusalOf('SOLANA', bytes.subarray(0, cut % bytes.length))).not.toBe('read')
      expect(refusalOf('SOLANA', Uint8Array.from([...bytes, 0]))).not.toBe('read')
    }),
  )
})
