import fc from 'fast-check'
import {
  type AbiParameter,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  serializeTransaction,
  toFunctionSelector,
} from 'viem'
import { describe, expect, test } from 'vitest'
import { checkInterface, type Facts } from '../../../src/chain/index.ts'
import { ethereumInterface, read, refusalOf } from './harness.ts'

const contract = '0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'
const someone = '0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC'
const word = (value: bigint | number) => BigInt(value).toString(16).padStart(64, '0')

function call(data: string, abi: unknown, to: string = contract): Facts {
  return read('ETHEREUM', transaction(data), { interfaces: [ethereumInterface(to, abi)] })
}

function transaction(data: string): Hex {
  return serializeTransaction({ type: 'eip1559', chainId: 1, to: contract, data: data as Hex })
}

function abiFunction(name: string, inputs: readonly AbiParameter[]) {
  return { type: 'function', name, inputs, outputs: [], stateMutability: 'nonpayable' } as const
}

const erc4626 = [
  { type: 'constructor', inputs: [{ name: 'asset', type: 'address' }] },
  { type: 'event', name: 'Deposit', inputs: [] },
  { type: 'error', name: 'Full', inputs: [] },
  abiFunction('deposit', [
    { name: 'assets', type: 'uint256' },
    { name: 'receiver', type: 'address' },
  ]),
  abiFunction('deposit', [{ name: 'assets', type: 'uint256' }]),
]
const deposit = encodeFunctionData({ abi: erc4626.slice(3), functionName: 'deposit', args: [1_000_000n, someone] })

describe('abi: the call of a transaction', () => {
  test('abi: name, selector and arguments are read by the interface of the receiver', () => {
    expect(call(deposit, erc4626)).toMatchObject({
      function_name: 'deposit',
      function_signature: '0x6e553f65',
      contract_call_args: { assets: 1_000_000n, receiver: someone.toLowerCase() },
    })
  })

  test('abi: functions of one name are told apart by their selectors', () => {
    const data = `${toFunctionSelector('deposit(uint256)')}${word(7)}`
    expect(call(data, erc4626)['contract_call_args']).toEqual({ assets: 7n })
  })

  test('abi: the address of an interface is found in any case', () => {
    expect(call(deposit, erc4626, contract.toUpperCase().replace('0X', '0x'))).toMatchObject({
      function_name: 'deposit',
    })
  })

  test.each([
    ['the interface of another contract', deposit, someone],
    ['another selector', '0x11223344', contract],
    ['calldata shorter than a selector', '0x6e553f', contract],
    ['no calldata', '0x', contract],
  ])('abi: with %s the texts are empty and the arguments are absent', (_name, data, address) => {
    const facts = call(data, erc4626, address)
    expect(facts).toMatchObject({ function_name: '', function_signature: '' })
    expect(facts).not.toHaveProperty('contract_call_args')
  })

  test('abi: of several interfaces for a contract the newest counts alone', () => {
    const interfaces = [ethereumInterface(contract, erc4626), ethereumInterface(contract, [])]
    expect(read('ETHEREUM', transaction(deposit), { interfaces })).toMatchObject({ function_name: '' })
    expect(read('ETHEREUM', transaction(deposit), { interfaces: interfaces.toReversed() })).toMatchObject({
      function_name: 'deposit',
    })
  })

  test('abi: a contract that is created has no interface', () => {
    const creation = serializeTransaction({ type: 'eip1559', chainId: 1, data: deposit })
    expect(read('ETHEREUM', creation, { interfaces: [ethereumInterface('', erc4626)] })).toMatchObject({
      function_name: '',
    })
  })

  test('abi: a function without parameters has no arguments, and a parameter without a name is not reachable', () => {
    const abi = [
      abiFunction('stop', []),
      abiFunction('pay', [
        { name: '', type: 'uint8' },
        { name: 'to', type: 'bool' },
      ]),
    ]
    expect(call(toFunctionSelector('stop()'), abi)['contract_call_args']).toEqual({})
    const pay = `${toFunctionSelector('pay(uint8,bool)')}${word(1)}${word(1)}`
    expect(call(pay, abi)['contract_call_args']).toEqual({ to: true })
  })

  test('abi: names that objects have of themselves are names like others', () => {
    const abi = [
      abiFunction('f', [
        { name: '__proto__', type: 'uint8' },
        { name: 'constructor', type: 'uint8' },
      ]),
    ]
    const args = call(`${toFunctionSelector('f(uint8,uint8)')}${word(1)}${word(2)}`, abi)['contract_call_args']
    expect(Object.entries(args as object)).toEqual([
      ['__proto__', 1n],
      ['constructor', 2n],
    ])
  })
})

describe('abi: values', () => {
  const table: readonly { type: AbiParameter; given: unknown; expected: unknown }[] = [
    { type: { type: 'uint256' }, given: 2n ** 256n - 1n, expected: 2n ** 256n - 1n },
    { type: { type: 'uint8' }, given: 255, expected: 255n },
    { type: { type: 'int256' }, given: -(2n ** 255n), expected: { int: -(2n ** 255n) } },
    { type: { type: 'int8' }, given: -1, expected: { int: -1n } },
    { type: { type: 'bool' }, given: true, expected: true },
    { type: { type: 'address' }, given: someone, expected: someone.toLowerCase() },
    { type: { type: 'bytes4' }, given: '0xAABBCCDD', expected: '0xaabbccdd' },
    { type: { type: 'bytes' }, given: '0xFF00', expected: '0xff00' },
    { type: { type: 'bytes' }, given: '0x', expected: '0x' },
    { type: { type: 'string' }, given: 'żółw', expected: { text: 'żółw' } },
    { type: { type: 'string' }, given: '0xAB', expected: { text: '0xAB' } },
    { type: { type: 'uint8[]' }, given: [1, 2], expected: [1n, 2n] },
    {
      type: { type: 'uint8[2][]' },
      given: [
        [1, 2],
        [3, 4],
      ],
      expected: [
        [1n, 2n],
        [3n, 4n],
      ],
    },
    { type: { type: 'string[2]' }, given: ['a', 'b'], expected: [{ text: 'a' }, { text: 'b' }] },
    {
      type: {
        type: 'tuple[]',
        components: [
          { name: 'maker', type: 'address' },
          { name: 'note', type: 'string' },
        ],
      },
      given: [{ maker: someone, note: 'n' }],
      expected: [{ tuple: [someone.toLowerCase(), { text: 'n' }] }],
    },
    {
      type: {
        type: 'tuple',
        components: [
          { name: 'same', type: 'uint8' },
          { name: 'other', type: 'bool[]' },
        ],
      },
      given: { same: 1, other: [true, false] },
      expected: { tuple: [1n, [true, false]] },
    },
  ]

  test.each(table)('abi: $type.type $given', ({ type, given, expected }) => {
    const abi = [abiFunction('f', [{ ...type, name: 'a' } as AbiParameter])]
    const data = encodeFunctionData({ abi, functionName: 'f', args: [given] })
    expect(call(data, abi)['contract_call_args']).toEqual({ a: expected })
  })

  test('abi: `uint` and `int` are those of 256 bits', () => {
    const abi = [
      abiFunction('f', [
        { name: 'a', type: 'uint' },
        { name: 'b', type: 'int[]' },
      ]),
    ]
    const data = `${toFunctionSelector('f(uint256,int256[])')}${word(2n ** 255n)}${word(64)}${word(0)}`
    expect(call(data, abi)['contract_call_args']).toEqual({ a: 2n ** 255n, b: [] })
  })

  test('abi: long lists are read whole', () => {
    const abi = [
      abiFunction('f', [{ name: 'a', type: 'tuple[]', components: [{ name: 'x', type: 'uint256' }] } as AbiParameter]),
    ]
    const list = Array.from({ length: 5_000 }, (_, index) => ({ x: BigInt(index) }))
    const { a } = call(encodeFunctionData({ abi, functionName: 'f', args: [list] }), abi)['contract_call_args'] as Facts
    expect(a).toEqual(list.map(({ x }) => ({ tuple: [x] })))
  })

  test('abi: bytes behind the arguments do not matter', () => {
    expect(call(`${deposit}c0ffee`, erc4626)['contract_call_args']).toMatchObject({ assets: 1_000_000n })
  })
})

describe('abi: calldata that a function does not take', () => {
  const refused = (inputs: readonly string[], data: string) => {
    const selector = toFunctionSelector(`f(${inputs.join(',')})`)
    const abi = [
      abiFunction(
        'f',
        inputs.map((type, index) => ({ name: `a${index}`, type })),
      ),
    ]
    return refusalOf('ETHEREUM', transaction(`${selector}${data}`), { interfaces: [ethereumInterface(contract, abi)] })
  }

  test.each([
    ['nothing', ['uint256'], '', 'the calldata ends before its arguments'],
    ['half a word', ['uint256'], word(1).slice(2), 'the calldata ends before its arguments'],
    ['a number that is too large', ['uint8'], word(256), 'the calldata has a value that does not fit 8 bits'],
    ['a signed number that is too large', ['int8'], word(128), 'the calldata has a value that does not fit 8 bits'],
    ['an address with more bits', ['address'], word(2n ** 160n), 'the calldata has a value that does not fit 160 bits'],
    ['a bool of 2', ['bool'], word(2), 'the calldata has a value that does not fit 1 bits'],
    ['bytes with more bytes', ['bytes4'], word(1), 'the calldata has a value that does not fit 4 bytes'],
    ['an offset behind the end', ['bytes'], word(2n ** 200n), 'the calldata points behind its end'],
    ['a length behind the end', ['bytes'], word(32) + word(33) + word(0), 'the calldata ends within a text'],
    ['a list longer than the data', ['uint8[]'], word(32) + word(3) + word(1), 'the calldata ends within a list'],
    [
      'a string that is no text',
      ['string'],
      `${word(32)}${word(1)}ff${'00'.repeat(31)}`,
      'the calldata has a string that is no UTF-8',
    ],
  ])('abi: %s is refused', (_name, inputs, data, reason) => {
    expect(refused(inputs, data)).toBe(`failed to parse transaction: ${reason}`)
  })

  test('abi: very many values of no size are refused', () => {
    const abi = [abiFunction('f', [{ name: 'a', type: 'tuple[65536][1000]', components: [] } as AbiParameter])]
    const data = toFunctionSelector('f(()[65536][1000])')
    expect(refusalOf('ETHEREUM', transaction(data), { interfaces: [ethereumInterface(contract, abi)] })).toBe(
      'failed to parse transaction: the calldata stands for more values than its size admits',
    )
  })

  test('abi: offsets that point to one place over and over are refused', () => {
    // Each level is a list of eight offsets to the one list below: 8^8 values in a few hundred bytes.
    const level = (below: number) => word(8) + word(below).repeat(8)
    const data = word(32) + Array.from({ length: 8 }, () => level(8 * 32)).join('')
    expect(refused([`uint8${'[]'.repeat(9)}`], data)).toMatch(/^failed to parse transaction: the calldata /)
  })
})

describe('abi: interfaces', () => {
  const check = (json: string) => checkInterface({ type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM', json })

  test.each([
    ['no JSON', '{', 'it is no JSON'],
    ['no list', '{"abi": []}', 'expected a list of ABI entries'],
    ['an entry that is no object', '[1]', 'an ABI entry is no object'],
    ['a function without a name', '[{"type": "function", "inputs": []}]', 'a function has no name'],
    [
      'an unknown type',
      '[{"type": "function", "name": "f", "inputs": [{"name": "a", "type": "uint7"}]}]',
      'there is no ABI type `uint7`',
    ],
    [
      'a tuple without components',
      '[{"type": "function", "name": "f", "inputs": [{"name": "a", "type": "tuple"}]}]',
      'a tuple has no components',
    ],
    [
      'one name for two parameters',
      '[{"type": "function", "name": "f", "inputs": [{"name": "a", "type": "bool"}, {"name": "a", "type": "bool"}]}]',
      'two parameters of `f` have one name',
    ],
    [
      'a list without end',
      '[{"type": "function", "name": "f", "inputs": [{"name": "a", "type": "uint8[99999999]"}]}]',
      'an ABI array is longer than 65536',
    ],
  ])('abi: %s is no interface', (_name, json, reason) => {
    expect(check(json)).toBe(`invalid smart contract interface: ${reason}`)
    expect(
      refusalOf('ETHEREUM', transaction(deposit), {
        interfaces: [{ address: contract, type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM', json }],
      }),
    ).toBe(`failed to parse transaction: the interface of \`${contract}\`: invalid smart contract interface: ${reason}`)
  })

  test('abi: an interface may have up to 400 kB', () => {
    expect(check(`[]${' '.repeat(399_998)}`)).toBeUndefined()
    expect(check(`[]${' '.repeat(399_999)}`)).toMatch(/longer than 400000 bytes$/)
  })
})

interface Typed {
  readonly type: AbiParameter
  readonly value: unknown
  readonly expected: unknown
}

const hexBytes = (size: number) =>
  fc.uint8Array({ minLength: size, maxLength: size }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)

const elementary: fc.Arbitrary<Typed> = fc.oneof(
  fc.integer({ min: 1, max: 32 }).chain((bytes) =>
    fc.bigInt({ min: 0n, max: 2n ** BigInt(bytes * 8) - 1n }).map((value) => ({
      type: { type: `uint${bytes * 8}` },
      value: bytes <= 6 ? Number(value) : value,
      expected: value,
    })),
  ),
  fc.integer({ min: 1, max: 32 }).chain((bytes) =>
    fc.bigInt({ min: -(2n ** BigInt(bytes * 8 - 1)), max: 2n ** BigInt(bytes * 8 - 1) - 1n }).map((value) => ({
      type: { type: `int${bytes * 8}` },
      value: bytes <= 6 ? Number(value) : value,
      expected: { int: value },
    })),
  ),
  fc.boolean().map((value) => ({ type: { type: 'bool' }, value, expected: value })),
  hexBytes(20).map((value) => ({ type: { type: 'address' }, value, expected: value })),
  fc
    .integer({ min: 1, max: 32 })
    .chain((size) => hexBytes(size).map((value) => ({ type: { type: `bytes${size}` }, value, expected: value }))),
  fc
    .nat(70)
    .chain(hexBytes)
    .map((value) => ({ type: { type: 'bytes' }, value, expected: value })),
  fc
    .string({ unit: 'grapheme', maxLength: 40 })
    .map((value) => ({ type: { type: 'string' }, value, expected: { text: value } })),
)

const { typed } = fc.letrec<{ typed: Typed }>((tie) => ({
  typed: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    elementary,
    // A list of equal values: the elements must have one type.
    fc.tuple(tie('typed'), fc.nat(4), fc.boolean()).map(([each, length, fixed]) => ({
      type: { ...each.type, type: `${each.type.type}[${fixed && length > 0 ? length : ''}]` },
      value: Array.from({ length }, () => each.value),
      expected: Array.from({ length }, () => each.expected),
    })),
    fc.array(tie('typed'), { minLength: 1, maxLength: 4 }).map((parts) => ({
      type: { type: 'tuple', components: parts.map(({ type }) => type) },
      value: parts.map(({ value }) => value),
      expected: { tuple: parts.map(({ expected }) => expected) },
    })),
  ),
}))

test('abi: whatever is written by its types is read', () => {
  fc.assert(
    fc.property(fc.array(typed, { maxLength: 5 }), (parameters) => {
      const inputs = parameters.map(({ type }, index) => ({ ...type, name: `a${index}` }))
      const abi = [abiFunction('f', inputs as AbiParameter[])]
      const data = encodeAbiParameters(
        inputs as AbiParameter[],
        parameters.map(({ value }) => value),
      )
      const selector = toFunctionSelector(abi[0]!)
      const expected = Object.fromEntries(parameters.map(({ expected }, index) => [`a${index}`, expected]))
      expect(call(`${selector}${data.slice(2)}`, abi)).toMatchObject({
        function_name: 'f',
        function_signature: selector,
        contract_call_args: expected,
      })
    }),
  )
})
