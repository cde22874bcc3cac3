import { createHash } from 'node:crypto'
import {
  addCodecSizePrefix,
  getAddressCodec,
  getArrayCodec,
  getBooleanCodec,
  getBytesCodec,
  getI64Codec,
  getStructCodec,
  getU8Codec,
  getU32Codec,
  getU64Codec,
  getU128Codec,
  getUtf8Codec,
} from '@solana/kit'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkInterface, decodeProgramError, type Facts } from '../../../src/chain/index.ts'
import { read, refusal, solanaInterface } from './harness.ts'

const program = '8qbHbw2BbbTHBW1sbeqakYXVKRQM8Ne7pLK7m6CVfeR'
const account = (seed: number) => getAddressCodec().decode(new Uint8Array(32).fill(seed))

/** A message with one instruction of the program: the payer, three accounts, then the program. */
function message(data: Uint8Array, accounts: readonly number[] = [0, 1, 2]): Uint8Array {
  const keys = [1, 2, 3, 4].flatMap((seed) => Array<number>(32).fill(seed))
  const length = data.length < 128 ? [data.length] : [(data.length & 0x7f) | 0x80, data.length >> 7]
  const programKey = getAddressCodec().encode(program as ReturnType<typeof account>)
  const head = [1, 0, 1, 5, ...keys, ...programKey, ...Array(32).fill(9), 1]
  return Uint8Array.from([...head, 4, accounts.length, ...accounts, ...length, ...data])
}

function parsed(idl: unknown, data: Uint8Array | readonly number[], accounts?: readonly number[]): Facts | undefined {
  const facts = read('SOLANA', message(Uint8Array.from(data), accounts), {
    interfaces: [solanaInterface(program, idl)],
  })
  const [instruction] = facts['instructions'] as readonly Facts[]
  return instruction!['parsed_instruction_data'] as Facts | undefined
}

const withdraw = {
  instructions: [
    {
      name: 'withdraw',
      accounts: [
        { name: 'vault', isMut: true, isSigner: false },
        { name: 'destination', isMut: true, isSigner: false },
      ],
      args: [{ name: 'lamports', type: 'u64' }],
    },
  ],
  types: [],
}
// The first eight bytes of SHA-256 of `global:withdraw`, as published for Anchor.
const WITHDRAW = [0xb7, 0x12, 0x46, 0x9c, 0x94, 0x6d, 0xa1, 0x22]

describe('idl: an instruction', () => {
  test('idl: name, discriminator, accounts by name and arguments', () => {
    expect(parsed(withdraw, [...WITHDRAW, 99, 0, 0, 0, 0, 0, 0, 0])).toEqual({
      instruction_name: 'withdraw',
      discriminator: 'b712469c946da122',
      named_accounts: { vault: account(1), destination: account(2) },
      program_call_args: { lamports: 99n },
    })
  })

  test.each([
    ['no interface of the program', { instructions: [], types: [] }],
    [
      'no instruction that begins so',
      { ...withdraw, instructions: [{ ...withdraw.instructions[0], discriminator: [1] }] },
    ],
  ])('idl: with %s the parsed data is absent', (_name, idl) => {
    expect(parsed(idl, [...WITHDRAW, 99, 0, 0, 0, 0, 0, 0, 0])).toBeUndefined()
  })

  test('idl: addresses of programs are compared exactly', () => {
    const interfaces = [solanaInterface(program.toLowerCase(), withdraw)]
    const facts = read('SOLANA', message(Uint8Array.from([...WITHDRAW, 99, 0, 0, 0, 0, 0, 0, 0])), { interfaces })
    expect((facts['instructions'] as readonly Facts[])[0]).not.toHaveProperty('parsed_instruction_data')
  })

  test('idl: a discriminator that is missing follows from the name in snake case', () => {
    const named = (name: string) => ({ types: [], instructions: [{ name, accounts: [], args: [] }] })
    // Anchor's own example: `initialize` is af af 6d 1f 0d 98 9b ed.
    expect(parsed(named('initialize'), [0xaf, 0xaf, 0x6d, 0x1f, 0x0d, 0x98, 0x9b, 0xed])).toMatchObject({
      instruction_name: 'initialize',
    })
  })

  test.each([
    ['initializeMint', 'initialize_mint'],
    ['mintNFT', 'mint_nft'],
    ['NFTMint', 'nft_mint'],
    ['swapV2', 'swap_v2'],
  ])('idl: `%s` is `%s` in snake case', (name, snake) => {
    const discriminator = createHash('sha256').update(`global:${snake}`).digest().subarray(0, 8)
    const idl = { types: [], instructions: [{ name, accounts: [], args: [] }] }
    expect(parsed(idl, [...discriminator])).toMatchObject({ instruction_name: name })
  })

  test('idl: the longest discriminator that fits is the one', () => {
    const instruction = (name: string, discriminator: number[]) => ({ name, discriminator, accounts: [], args: [] })
    const idl = { types: [], instructions: [instruction('short', [7]), instruction('long', [7, 8])] }
    expect(parsed(idl, [7, 8])).toMatchObject({ instruction_name: 'long', discriminator: '0708' })
  })

  test('idl: newer and older spellings say the same', () => {
    const older = {
      instructions: [
        {
          name: 'set',
          discriminator: [1],
          accounts: [{ name: 'a', isMut: true, isSigner: true, isOptional: true }],
          args: [
            { name: 'k', type: 'publicKey' },
            { name: 'd', type: { defined: 'D' } },
          ],
        },
      ],
      types: [{ name: 'D', type: { kind: 'struct', fields: [{ name: 'x', type: 'u8' }] } }],
    }
    const newer = {
      instructions: [
        {
          name: 'set',
          discriminator: [1],
          accounts: [{ name: 'a', writable: true, signer: true, optional: true }],
          args: [
            { name: 'k', type: 'pubkey' },
            { name: 'd', type: { defined: { name: 'D' } } },
          ],
        },
      ],
      types: older.types,
    }
    const data = [1, ...Array(32).fill(6), 5]
    expect(parsed(newer, data)).toEqual(parsed(older, data))
    expect(parsed(newer, data)!['program_call_args']).toEqual({ k: account(6), d: { map: { x: 5n } } })
  })

  test('idl: an optional account that is not given is left out; groups of accounts have their name before them', () => {
    const idl = {
      types: [],
      instructions: [
        {
          name: 'go',
          discriminator: [1],
          accounts: [
            { name: 'who' },
            { name: 'maybe', optional: true },
            { name: 'pool', accounts: [{ name: 'mint' }] },
            { name: 'rest', optional: true },
          ],
          args: [],
        },
      ],
    }
    // The program itself stands for an optional account that is not there.
    expect(parsed(idl, [1], [0, 4, 2])!['named_accounts']).toEqual({ who: account(1), 'pool.mint': account(3) })
    expect(refusal(() => parsed(idl, [1], [0]))).toBe(
      'failed to parse transaction: `go` is called without the account `pool.mint`',
    )
  })
})

describe('idl: values', () => {
  const args = (type: unknown, data: readonly number[], types: readonly unknown[] = []) =>
    parsed({ instructions: [{ name: 'f', discriminator: [1], accounts: [], args: [{ name: 'a', type }] }], types }, [
      1,
      ...data,
    ])!['program_call_args']
  const struct = {
    name: 'S',
    type: {
      kind: 'struct',
      fields: [
        { name: 'x', type: 'u8' },
        { name: 'y', type: { option: 'u8' } },
      ],
    },
  }
  const pair = { name: 'P', type: { kind: 'struct', fields: ['u8', 'bool'] } }
  const choice = {
    name: 'E',
    type: {
      kind: 'enum',
      variants: [
        { name: 'None' },
        { name: 'Pair', fields: ['u8', 'u8'] },
        { name: 'Named', fields: [{ name: 'z', type: 'u8' }] },
      ],
    },
  }

  test.each([
    ['bool', 'bool', [1], { a: true }],
    ['u8', 'u8', [255], { a: 255n }],
    ['u128', 'u128', Array(16).fill(255), { a: 2n ** 128n - 1n }],
    ['i64', 'i64', Array(8).fill(255), { a: -1n }],
    ['i128', 'i128', [...Array(15).fill(0), 0x80], { a: -(2n ** 127n) }],
    ['f32', 'f32', [0, 0, 0xc0, 0x3f], { a: { float: 1.5 } }],
    ['f64', 'f64', [0, 0, 0, 0, 0, 0, 0xf8, 0x3f], { a: { float: 1.5 } }],
    ['bytes', 'bytes', [2, 0, 0, 0, 0xab, 0], { a: 'ab00' }],
    ['string', 'string', [2, 0, 0, 0, 0x68, 0x69], { a: 'hi' }],
    ['option with a value', { option: 'u8' }, [1, 7], { a: 7n }],
    ['option without', { option: 'u8' }, [0], {}],
    ['vec', { vec: 'u8' }, [2, 0, 0, 0, 1, 2], { a: [1n, 2n] }],
    ['array', { array: ['u8', 2] }, [1, 2], { a: [1n, 2n] }],
    ['struct', { defined: 'S' }, [1, 1, 2], { a: { map: { x: 1n, y: 2n } } }],
    ['struct whose option holds nothing', { defined: 'S' }, [1, 0], { a: { map: { x: 1n } } }],
    ['tuple struct', { defined: 'P' }, [1, 1], { a: { tuple: [1n, true] } }],
    ['unit variant', { defined: 'E' }, [0], { a: 'None' }],
    ['variant with data', { defined: 'E' }, [1, 8, 9], { a: { map: { Pair: { tuple: [8n, 9n] } } } }],
    ['variant with names', { defined: 'E' }, [2, 8], { a: { map: { Named: { map: { z: 8n } } } } }],
    ['alias', { defined: 'A' }, [8], { a: 8n }],
  ])('idl: %s', (_name, type, data, expected) => {
    const alias = { name: 'A', type: { kind: 'alias', value: 'u8' } }
    expect(args(type, data, [struct, pair, choice, alias])).toEqual(expected)
  })

  const loop = { name: 'L', type: { kind: 'struct', fields: [{ name: 'next', type: { vec: { defined: 'L' } } }] } }
  const empty = { name: 'N', type: { kind: 'struct', fields: [] } }

  test.each([
    ['an argument cut short', 'u64', [1], 'an argument needs 8 bytes, 1 are left'],
    ['bytes behind the arguments', 'u8', [1, 2], '1 bytes are left behind the arguments of `f`'],
    ['a bool of 2', 'bool', [2], 'a bool is 2, neither 0 nor 1'],
    ['a variant that is not there', { defined: 'E' }, [3], '`E` has no variant 3'],
    ['a string that is no text', 'string', [1, 0, 0, 0, 0xff], 'an argument is no UTF-8'],
    ['a list longer than the data', { vec: 'u8' }, [255, 255, 255, 255], 'an argument needs 1 bytes, 0 are left'],
    [
      'very many values of no bytes',
      { vec: { defined: 'N' } },
      [255, 255, 255, 255],
      'the instruction has too many values',
    ],
    [
      'values that nest without end',
      { defined: 'L' },
      Array(40).fill([1, 0, 0, 0]).flat(),
      'the arguments nest deeper than 32 levels',
    ],
  ])('idl: %s is refused', (_name, type, data, reason) => {
    expect(refusal(() => args(type, data, [choice, loop, empty]))).toBe(`failed to parse transaction: ${reason}`)
  })
})

describe('idl: interfaces', () => {
  const check = (idl: unknown) =>
    checkInterface({ type: 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA', json: JSON.stringify(idl) })
  const withType = (type: unknown) => ({
    types: [],
    instructions: [{ name: 'f', accounts: [], args: [{ name: 'a', type }] }],
  })

  test('idl: a whole one has nothing wrong', () => {
    expect(check(withdraw)).toBeUndefined()
  })

  test.each([
    ['a list', [], 'the IDL is no object'],
    ['no types', { instructions: [] }, '`types` is no list'],
    ['no instructions', { types: [] }, '`instructions` is no list'],
    [
      'two types of one name',
      {
        instructions: [],
        types: [
          { name: 'A', type: { kind: 'alias', value: 'u8' } },
          { name: 'A', type: { kind: 'alias', value: 'u8' } },
        ],
      },
      'two types have one name',
    ],
    ['an unknown type', withType('u7'), 'there is no IDL type `"u7"`'],
    ['a type that is not defined', withType({ defined: 'X' }), 'there is no IDL type `{"defined":"X"}`'],
    ['a type of every object', withType('constructor'), 'there is no IDL type `"constructor"`'],
    ['an array without length', withType({ array: ['u8'] }), 'an array type has no length'],
    [
      'a discriminator that is none',
      { types: [], instructions: [{ name: 'f', discriminator: [256], accounts: [], args: [] }] },
      'the discriminator of `f` is no list of bytes',
    ],
    [
      'a type that is not Borsh',
      { instructions: [], types: [{ name: 'A', serialization: 'bytemuck', type: { kind: 'struct' } }] },
      'the type `A` is not written as Borsh, or has generics',
    ],
    [
      'a type of no kind',
      { instructions: [], types: [{ name: 'A', type: {} }] },
      'the type `A` is neither struct nor enum nor alias',
    ],
  ])('idl: %s is no interface', (_name, idl, reason) => {
    expect(check(idl)).toBe(`invalid smart contract interface: ${reason}`)
  })
})

test("idl: whatever the chain's own codecs write is read", () => {
  const pubkey = fc.integer({ min: 0, max: 255 }).map(account)
  const fields = fc.record({
    big: fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }),
    signed: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    flag: fc.boolean(),
    text: fc.string({ unit: 'grapheme' }),
    blob: fc.uint8Array(),
    owner: pubkey,
    list: fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
    pair: fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 2, maxLength: 2 }),
  })
  const types = {
    big: 'u128',
    signed: 'i64',
    flag: 'bool',
    text: 'string',
    blob: 'bytes',
    owner: 'pubkey',
    list: { vec: 'u64' },
    pair: { array: ['u8', 2] },
  }
  const codec = getStructCodec([
    ['big', getU128Codec()],
    ['signed', getI64Codec()],
    ['flag', getBooleanCodec()],
    ['text', addCodecSizePrefix(getUtf8Codec(), getU32Codec())],
    ['blob', addCodecSizePrefix(getBytesCodec(), getU32Codec())],
    ['owner', getAddressCodec()],
    ['list', getArrayCodec(getU64Codec(), { size: getU32Codec() })],
    ['pair', getArrayCodec(getU8Codec(), { size: 2 })],
  ])
  const args = Object.entries(types).map(([name, type]) => ({ name, type }))
  const idl = { types: [], instructions: [{ name: 'f', discriminator: [1], accounts: [], args }] }
  fc.assert(
    fc.property(fields, (given) => {
      expect(parsed(idl, [1, ...codec.encode(given)])!['program_call_args']).toEqual({
        ...given,
        blob: Buffer.from(given.blob).toString('hex'),
        pair: given.pair.map(BigInt),
      })
    }),
  )
})

describe('idl: the errors of a program', () => {
  const decode = (errors: unknown, code: number) =>
    decodeProgramError(program, code, [solanaInterface(program, { ...withdraw, errors })])
  const slippage = { code: 6001, name: 'SlippageExceeded', msg: 'the price has moved too far' }

  test.each<[string, unknown, ReturnType<typeof decode>]>([
    ['one with words', [{ code: 6000, name: 'Paused' }, slippage], { name: slippage.name, message: slippage.msg }],
    ['one without', [{ code: 6001, name: 'Paused' }], { name: 'Paused' }],
    ['one that it does not list', [{ code: 6000, name: 'Paused' }], undefined],
    ['none at all', undefined, undefined],
    ['what is no list', { 6001: 'Paused' }, undefined],
    [
      'entries that are none, beside one that is',
      [null, 6001, { code: '6001', name: 'x' }, slippage],
      expect.anything(),
    ],
  ])('idl: %s', (_, errors, expected) => {
    expect(decode(errors, 6001)).toEqual(expected)
  })

  test('idl: of several the newest counts, and another program’s says nothing', () => {
    const named = (name: string, of = program) => solanaInterface(of, { ...withdraw, errors: [{ code: 6001, name }] })
    expect(decodeProgramError(program, 6001, [named('Old'), named('New'), named('Other', account(7))])).toEqual({
      name: 'New',
    })
    expect(decodeProgramError(account(8), 6001, [named('Old')])).toBeUndefined()
  })
})
