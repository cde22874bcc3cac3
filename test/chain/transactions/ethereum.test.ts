import fc from 'fast-check'
import {
  concatHex,
  fromRlp,
  type Hex,
  hexToBytes,
  serializeTransaction,
  type TransactionSerializable,
  toRlp,
} from 'viem'
import { describe, expect, test } from 'vitest'
import { readVectors } from '../../vectors/read-vectors.ts'
import { read, refusalOf } from './harness.ts'

const to = '0xBBbbBBbbBBbbBBbbBBbbBBbbBBbbBBbbBBbbBBbb'.toLowerCase() as Hex
const from = '0xAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAa'
const signature = { r: `0x${'11'.repeat(32)}`, s: `0x${'22'.repeat(32)}`, yParity: 1 } as const
const authorization = { address: to, chainId: 10, nonce: 1, r: signature.r, s: signature.s, yParity: 0 } as const
const noCall = { function_name: '', function_signature: '' }
const common = { to, data: '0x', value: 5n, gas: 21_000n, nonce: 7n, ...noCall }
const base = { to, value: 5n, gas: 21_000n, nonce: 7 } as const
const fees = { maxFeePerGas: 40n, maxPriorityFeePerGas: 2n } as const

describe('ethereum: what each kind of transaction says', () => {
  const table: readonly { name: string; given: TransactionSerializable; expected: object }[] = [
    {
      name: 'a legacy transaction without a chain has no chain id and no fees of EIP-1559',
      given: { ...base, type: 'legacy', gasPrice: 9n },
      expected: { ...common, type: 'LEGACY', gas_price: 9n },
    },
    {
      name: 'a legacy transaction of EIP-155 has its chain id',
      given: { ...base, type: 'legacy', gasPrice: 9n, chainId: 10 },
      expected: { ...common, type: 'LEGACY', gas_price: 9n, chain_id: 10n },
    },
    {
      name: 'type 1 has a gas price',
      given: {
        ...base,
        type: 'eip2930',
        gasPrice: 9n,
        chainId: 10,
        accessList: [{ address: to, storageKeys: [`0x${'01'.repeat(32)}`] }],
      },
      expected: { ...common, type: 'TYPE_1', gas_price: 9n, chain_id: 10n },
    },
    {
      name: 'type 2 has the fees of EIP-1559, and the highest as its gas price',
      given: { ...base, ...fees, type: 'eip1559', chainId: 10 },
      expected: {
        ...common,
        type: 'TYPE_2',
        chain_id: 10n,
        gas_price: 40n,
        max_fee_per_gas: 40n,
        max_priority_fee_per_gas: 2n,
      },
    },
    {
      name: 'type 3 has a fee for blobs, too',
      given: {
        ...base,
        ...fees,
        type: 'eip4844',
        chainId: 10,
        maxFeePerBlobGas: 3n,
        blobVersionedHashes: [`0x01${'ab'.repeat(31)}`],
      },
      expected: {
        ...common,
        type: 'TYPE_3',
        chain_id: 10n,
        gas_price: 40n,
        max_fee_per_gas: 40n,
        max_priority_fee_per_gas: 2n,
        max_fee_per_blob_gas: 3n,
      },
    },
    {
      name: 'type 4 is read with its authorizations',
      given: { ...base, ...fees, type: 'eip7702', chainId: 10, authorizationList: [authorization] },
      expected: {
        ...common,
        type: 'TYPE_4',
        chain_id: 10n,
        gas_price: 40n,
        max_fee_per_gas: 40n,
        max_priority_fee_per_gas: 2n,
      },
    },
  ]

  test.each(table)('ethereum: $name', ({ given, expected }) => {
    expect(read('ETHEREUM', serializeTransaction(given))).toEqual(expected)
  })

  test.each(table)('ethereum: signed, $name, once signed ones are accepted', ({ given, expected }) => {
    const signed = serializeTransaction(given, { ...signature, v: 28n })
    expect(read('ETHEREUM', signed, { acceptSigned: true })).toEqual(expected)
    expect(refusalOf('ETHEREUM', signed)).toBe('failed to parse transaction: the transaction is signed already')
  })

  test('ethereum: creating a contract leaves the receiver empty', () => {
    const creation = serializeTransaction({ type: 'eip1559', chainId: 1, data: '0x6000' })
    expect(read('ETHEREUM', creation)).toMatchObject({ to: '', data: '0x6000', value: 0n, gas: 0n, nonce: 0n })
  })

  test('ethereum: the sender is who signs, where that is an address of the chain', () => {
    const transaction = serializeTransaction({ ...base, type: 'legacy' })
    expect(read('ETHEREUM', transaction, { signer: from })).toMatchObject({ from: from.toLowerCase() })
    expect(read('ETHEREUM', transaction, { signer: '02aa' })).not.toHaveProperty('from')
  })

  test('ethereum: hex may have `0x` and be in either case, and bytes are read as well', () => {
    const transaction = serializeTransaction({ ...base, type: 'legacy' })
    const facts = read('ETHEREUM', transaction)
    expect(read('ETHEREUM', transaction.slice(2).toUpperCase())).toEqual(facts)
    expect(read('ETHEREUM', hexToBytes(transaction))).toEqual(facts)
  })
})

describe('ethereum: what is no transaction', () => {
  const typed = (type: Hex, items: Parameters<typeof toRlp>[0]) => concatHex([type, toRlp(items)])
  const type2 = (change: Record<number, unknown> = {}) =>
    Object.assign(['0x01', '0x', '0x02', '0x28', '0x5208', to, '0x05', '0x', []], change) as Hex[]

  test.each([
    ['nothing', '', 'there are no bytes'],
    ['no hex', '0xabc', 'it is no hex of whole bytes'],
    ['an unknown type', '0x05c0', 'there is no Ethereum transaction that begins with byte 5'],
    ['bytes behind the end', `${typed('0x02', type2())}00`, '1 bytes are left behind the RLP'],
    [
      'a short value with a long length',
      typed('0x02', type2())
        .replace('825208', 'b8025208')
        .replace(/^0x02(..)/, (_all, prefix: string) => `0x02${(Number.parseInt(prefix, 16) + 1).toString(16)}`),
      'the RLP has a short value with a long length',
    ],
    ['too few items', typed('0x02', type2().slice(1)), 'expected 9 items in a transaction of TYPE_2, got 8'],
    [
      'half a signature',
      typed('0x02', [...type2(), '0x', '0x01']),
      'expected 9 items in a transaction of TYPE_2, got 11',
    ],
    ['a list as the receiver', typed('0x02', type2({ 5: [] })), 'expected `to` to be bytes'],
    ['a short receiver', typed('0x02', type2({ 5: '0xbb' })), 'expected `to` to have 20 bytes, got 1'],
    ['a list as calldata', typed('0x02', type2({ 7: [to] })), 'expected `data` to be bytes'],
    ['leading zeros', typed('0x02', type2({ 6: '0x0005' })), '`value` has leading zeros'],
    ['a zero as a byte', typed('0x02', type2({ 6: '0x00' })), '`value` has leading zeros'],
    [
      'a nonce of nine bytes',
      typed('0x02', type2({ 1: `0x${'01'.repeat(9)}` })),
      'expected `nonce` to have at most 8 bytes, got 9',
    ],
    ['a y parity of 2', typed('0x02', [...type2(), '0x02', '0x01', '0x01']), 'the y parity is neither 0 nor 1'],
    ['a signature of zeros', typed('0x02', [...type2(), '0x01', '0x', '0x01']), 'the signature has a part that is 0'],
    [
      'an access list that is none',
      typed('0x02', type2({ 8: [[to]] })),
      'expected `access_list entry` to have 2 items, got 1',
    ],
    ['blobs without hashes', typed('0x03', [...type2(), '0x01', []]), '`blob_versioned_hashes` is empty'],
    [
      'the network form of blobs',
      typed('0x03', [[...type2()], [], [], []]),
      'expected 11 items in a transaction of TYPE_3, got 4',
    ],
    ['no authorizations', typed('0x04', [...type2(), []]), '`authorization_list` is empty'],
    [
      'an authorization that is not signed',
      typed('0x04', [...type2(), [['0x01', to, '0x']]]),
      'expected `authorization` to have 6 items, got 3',
    ],
    ['a chain of 0', toRlp(['0x', '0x', '0x', to, '0x', '0x', '0x', '0x', '0x']), 'the chain id is 0'],
    [
      'a `v` of no chain',
      toRlp(['0x', '0x', '0x', to, '0x', '0x', '0x1d', '0x01', '0x01']),
      '`v` is 29, which no chain has',
    ],
  ])('ethereum: %s is refused', (_name, transaction, reason) => {
    expect(refusalOf('ETHEREUM', transaction)).toBe(`failed to parse transaction: ${reason}`)
  })

  test.each(['0x03', '0x04'] as const)('ethereum: type %s must have a receiver', (type) => {
    const tail = type === '0x03' ? ['0x01', [`0x01${'00'.repeat(31)}`]] : [[['0x01', to, '0x', '0x', '0x01', '0x01']]]
    const items = [...type2({ 5: '0x' }), ...tail] as Hex[]
    expect(refusalOf('ETHEREUM', typed(type, items))).toMatch(/needs a receiver$/)
  })

  test('ethereum: lists that nest without end are refused', () => {
    const nested = Array.from({ length: 100 }).reduce<Uint8Array>(
      (inner) =>
        Uint8Array.from([
          inner.length < 56 ? 0xc0 + inner.length : 0xf8,
          ...(inner.length < 56 ? [] : [inner.length]),
          ...inner,
        ]),
      Uint8Array.of(0xc0),
    )
    expect(refusalOf('ETHEREUM', nested)).toMatch(/nests deeper than 16 levels$/)
  })
})

interface Vector {
  readonly name: string
  readonly bytes: string
  readonly exception?: string
}

/** What the rules of a chain or of its moment say, not the form: signatures, balances, prices. */
const notOfForm = [
  'EC_RECOVERY_FAIL',
  'GASLIMIT_PRICE_PRODUCT_OVERFLOW',
  'INTRINSIC_GAS_TOO_LOW',
  'INVALID_CHAINID',
  'INVALID_SIGNATURE_VRS',
  'NONCE_TOO_BIG',
  'PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS_2',
]

/** Nonce, gas, receiver, value and data, where each kind has them. viem's own reader has no nonces above 2^53. */
function itemsOf(bytes: Hex): readonly Hex[] {
  const positions = { 1: [1, 3, 4, 5, 6], 2: [1, 4, 5, 6, 7] }[Number(bytes.slice(0, 4))] ?? [0, 2, 3, 4, 5]
  const list = fromRlp(positions[0] === 0 ? bytes : `0x${bytes.slice(4)}`, 'hex') as readonly Hex[]
  return positions.map((position) => list[position]!)
}

function numberOf(hex: Hex): bigint {
  return hex === '0x' ? 0n : BigInt(hex)
}

describe('ethereum: the published tests', () => {
  const vectors = readVectors<Vector>('ethereum-transactions/cancun.jsonl')
  const valid = vectors.filter(({ exception }) => exception === undefined)
  const malformed = vectors.filter(({ exception }) => exception !== undefined && !notOfForm.includes(exception))

  test('ethereum: there are enough of both', () => {
    expect([valid.length, malformed.length]).toEqual([49, 91])
  })

  test.each(valid)('ethereum: $name is read', ({ bytes }) => {
    const [nonce, gas, to, value, data] = itemsOf(bytes as Hex)
    expect(read('ETHEREUM', bytes, { acceptSigned: true })).toMatchObject({
      to: to === '0x' ? '' : to,
      value: numberOf(value!),
      nonce: numberOf(nonce!),
      gas: numberOf(gas!),
      data,
    })
  })

  test.each(malformed)('ethereum: $name is refused ($exception)', ({ bytes }) => {
    expect(refusalOf('ETHEREUM', bytes, { acceptSigned: true })).toMatch(/^failed to parse transaction: /)
  })
})

const hexOf = (options: fc.IntArrayConstraints) =>
  fc.uint8Array(options).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
const quantity = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const anyTransaction = fc.record({
  type: fc.constantFrom('legacy', 'eip2930', 'eip1559', 'eip7702'),
  chainId: fc.integer({ min: 1, max: 2 ** 40 }),
  nonce: fc.nat(),
  gas: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  to: hexOf({ minLength: 20, maxLength: 20 }),
  value: quantity,
  data: hexOf({ maxLength: 300 }),
  price: quantity,
  tip: quantity,
})

test('ethereum: whatever is written is read, and cut or lengthened it is refused', () => {
  fc.assert(
    fc.property(anyTransaction, fc.nat(), ({ price, tip, type, ...fields }, cut) => {
      const isOld = type === 'legacy' || type === 'eip2930'
      const [max, priority] = price > tip ? [price, tip] : [tip, price]
      const priced = isOld
        ? { gasPrice: max }
        : {
            maxFeePerGas: max,
            maxPriorityFeePerGas: priority,
            ...(type === 'eip7702' ? { authorizationList: [authorization] } : {}),
          }
      const written = serializeTransaction({ ...fields, ...priced, type } as TransactionSerializable)
      const bytes = hexToBytes(written)
      expect(read('ETHEREUM', bytes)).toMatchObject({
        to: fields.to,
        value: fields.value,
        data: fields.data,
        nonce: BigInt(fields.nonce),
        gas: fields.gas,
        chain_id: BigInt(fields.chainId),
        gas_price: max,
      })
      expect(refusalOf('ETHEREUM', bytes.subarray(0, cut % bytes.length))).not.toBe('read')
      expect(refusalOf('ETHEREUM', Uint8Array.from([...bytes, cut & 0xff]))).not.toBe('read')
    }),
  )
})
