import { createHash } from 'node:crypto'
import { createBase58check } from '@scure/base'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Facts } from '../../../src/chain/index.ts'
import { readVectors } from '../../vectors/read-vectors.ts'
import { read, refusalOf } from './harness.ts'

const base58check = createBase58check(
  (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest()),
)
const text = (address: Uint8Array) => base58check.encode(address)

/** A protobuf message: integers as varints, everything else with its length before it. */
type Field = readonly [number: number, value: bigint | Uint8Array | string]

function varint(value: bigint): number[] {
  const low = Number(value & 0x7fn)
  return value < 0x80n ? [low] : [low | 0x80, ...varint(value >> 7n)]
}

function write(fields: readonly Field[]): Uint8Array {
  return Uint8Array.from(
    fields.flatMap(([number, value]) => {
      if (typeof value === 'bigint') return [...varint(BigInt(number << 3)), ...varint(BigInt.asUintN(64, value))]
      const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value
      return [...varint(BigInt((number << 3) | 2)), ...varint(BigInt(bytes.length)), ...bytes]
    }),
  )
}

const owner = Uint8Array.of(0x41, ...Array(20).fill(0xaa))
const shop = Uint8Array.of(0x41, ...Array(20).fill(0xbb))

function rawData(number: bigint, name: string, contract: readonly Field[], more: readonly Field[] = []): Uint8Array {
  const parameter = write([
    [1, `type.googleapis.com/protocol.${name}`],
    [2, write(contract)],
  ])
  return write([
    [1, Uint8Array.of(0x7b, 0x3b)],
    [4, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)],
    [8, 1_539_331_479_000n],
    [11, write([[1, number], [2, parameter], ...more])],
    [14, 1_539_295_479_000n],
  ])
}

const transfer: readonly Field[] = [
  [1, owner],
  [2, shop],
  [3, 2_500_000n],
]
const contractOf = (facts: Facts) => (facts['contract'] as readonly Facts[])[0]!

describe('tron: what a transaction says', () => {
  test('tron: a transfer', () => {
    expect(read('TRON', rawData(1n, 'TransferContract', transfer, [[5, 2n]]))).toEqual({
      ref_block_bytes: '7b3b',
      ref_block_hash: '0102030405060708',
      expiration: 1_539_331_479_000n,
      timestamp: 1_539_295_479_000n,
      data: '',
      fee_limit: 0n,
      contract: [
        {
          type: 'TransferContract',
          permission_id: 2n,
          owner_address: text(owner),
          to_address: text(shop),
          amount: 2_500_000n,
        },
      ],
    })
  })

  test('tron: a memo is hex, and the fee limit is read', () => {
    const bytes = Uint8Array.from([
      ...rawData(1n, 'TransferContract', transfer),
      ...write([
        [10, 'hi'],
        [18, 30n],
      ]),
    ])
    expect(read('TRON', bytes)).toMatchObject({ data: '6869', fee_limit: 30n })
  })

  test('tron: a field of the contract that is not written has its default; one of another contract is absent', () => {
    const contract = contractOf(
      read(
        'TRON',
        rawData(31n, 'TriggerSmartContract', [
          [1, owner],
          [2, shop],
        ]),
      ),
    )
    expect(contract).toEqual({
      type: 'TriggerSmartContract',
      permission_id: 0n,
      owner_address: text(owner),
      contract_address: text(shop),
      call_value: 0n,
      data: '',
      call_token_value: 0n,
      token_id: 0n,
    })
  })

  test('tron: the period of a lock is absent without a lock', () => {
    const delegate = (lock: readonly Field[]) =>
      contractOf(read('TRON', rawData(57n, 'DelegateResourceContract', [[1, owner], [4, shop], ...lock])))
    expect(delegate([[6, 9n]])).not.toHaveProperty('lock_period')
    expect(
      delegate([
        [5, 1n],
        [6, 9n],
      ]),
    ).toMatchObject({ lock: true, lock_period: 9n })
    expect(delegate([[5, 1n]])).toMatchObject({ lock: true, lock_period: 0n, resource: 'BANDWIDTH', balance: 0n })
  })

  test('tron: a negative amount is read as one', () => {
    const bytes = rawData(1n, 'TransferContract', [
      [1, owner],
      [2, shop],
      [3, -1n],
    ])
    expect(contractOf(read('TRON', bytes))).toMatchObject({ amount: -1n })
  })

  test('tron: permissions, with a witness only where there is one', () => {
    const key = write([
      [1, shop],
      [2, 1n],
    ])
    const permission = (type: bigint, name: string) =>
      write([
        [1, type],
        [2, type],
        [3, name],
        [4, 2n],
        [6, new Uint8Array(32).fill(0xff)],
        [7, key],
        [7, key],
      ])
    const update = (more: readonly Field[]) =>
      contractOf(
        read('TRON', rawData(46n, 'AccountPermissionUpdateContract', [[1, owner], [2, permission(0n, 'o')], ...more])),
      )
    const facts = update([
      [4, permission(2n, 'a')],
      [4, permission(2n, 'b')],
    ])
    expect(facts).not.toHaveProperty('witness')
    expect(facts).toMatchObject({
      owner: {
        type: 'Owner',
        id: 0n,
        permission_name: 'o',
        threshold: 2n,
        parent_id: 0n,
        operations: 'ff'.repeat(32),
        keys: [
          { address: text(shop), weight: 1n },
          { address: text(shop), weight: 1n },
        ],
      },
      actives: [
        { type: 'Active', permission_name: 'a' },
        { type: 'Active', permission_name: 'b' },
      ],
    })
    expect(update([[3, permission(1n, 'w')]])).toMatchObject({ witness: { type: 'Witness', id: 1n }, actives: [] })
  })
})

describe('tron: what is no transaction', () => {
  const good = rawData(1n, 'TransferContract', transfer)

  test.each([
    ['nothing', new Uint8Array(), 'expected one contract, got 0'],
    ['two contracts', Uint8Array.from([...good, ...write([[11, 'x']])]), 'expected one contract, got 2'],
    [
      'an unknown field',
      Uint8Array.from([...good, ...write([[9, 'x']])]),
      'the raw data has a field 9, which is unknown',
    ],
    ['a field twice', Uint8Array.from([...good, ...write([[14, 1n]])]), '`timestamp` of the raw data stands twice'],
    ['a field of another form', write([[1, 5n]]), '`ref_block_bytes` of the raw data has the wrong form'],
    ['a number in too many bytes', Uint8Array.of(0x40, 0x80, 0x00), 'the raw data has a number in no proper form'],
    [
      'a number above 64 bits',
      Uint8Array.of(0x40, ...Array(9).fill(0xff), 0x7f),
      'the raw data has a number in no proper form',
    ],
    ['a length behind the end', Uint8Array.of(0x0a, 0x05, 1), 'the raw data ends early'],
    [
      'a parameter of another type',
      rawData(1n, 'TriggerSmartContract', transfer),
      'a contract of type `TransferContract` has a parameter of another type',
    ],
    [
      'an unknown field of a contract',
      rawData(1n, 'TransferContract', [...transfer, [4, 1n]]),
      'the TransferContract has a field 4, which is unknown',
    ],
    [
      'no receiver',
      rawData(1n, 'TransferContract', [
        [1, owner],
        [3, 1n],
      ]),
      '`to_address` is no address',
    ],
    [
      'an address of another chain',
      rawData(1n, 'TransferContract', [
        [1, owner],
        [2, Uint8Array.of(0, ...shop.subarray(1))],
      ]),
      '`to_address` is no address',
    ],
    [
      'an unknown resource',
      rawData(54n, 'FreezeBalanceV2Contract', [
        [1, owner],
        [3, 3n],
      ]),
      '`resource` has no value 3',
    ],
    [
      'a bool of 2',
      rawData(57n, 'DelegateResourceContract', [
        [1, owner],
        [4, shop],
        [5, 2n],
      ]),
      '`lock` has no value 2',
    ],
    [
      'a name that is no text',
      rawData(46n, 'AccountPermissionUpdateContract', [
        [1, owner],
        [2, write([[3, Uint8Array.of(0xff)]])],
      ]),
      '`permission_name` is no UTF-8',
    ],
  ])('tron: %s is refused', (_name, bytes, reason) => {
    expect(refusalOf('TRON', bytes)).toBe(`failed to parse transaction: ${reason}`)
  })

  test('tron: a contract that is not supported is refused as that', () => {
    const bytes = rawData(2n, 'TransferAssetContract', [])
    expect(refusalOf('TRON', bytes)).toBe('the contract type 2 is not supported')
  })
})

interface Vector {
  readonly name: string
  readonly bytes: string
  readonly expected: {
    readonly type: string
    readonly value: Readonly<Record<string, unknown>>
    readonly fee_limit?: number
  }
}

/** As the sources write it → as facts are: numbers as bigints, addresses in base58. */
function asFacts(value: unknown): unknown {
  if (typeof value === 'number') return BigInt(value)
  if (typeof value === 'string' && /^41[0-9a-f]{40}$/.test(value))
    return text(Uint8Array.from(Buffer.from(value, 'hex')))
  if (Array.isArray(value)) return value.map(asFacts)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, asFacts(member)]))
}

describe('tron: published transactions', () => {
  test.each(readVectors<Vector>('tron-transactions/raw-data.jsonl'))('tron: $name', ({ bytes, expected }) => {
    const { type, value, ...raw } = expected
    const facts = read('TRON', bytes)
    expect(facts).toMatchObject(asFacts({ fee_limit: 0, ...raw }) as object)
    expect(contractOf(facts)).toEqual({ type, permission_id: 0n, ...(asFacts(value) as object) })
  })
})

test('tron: whatever is written is read, and cut or lengthened it is refused', () => {
  const amount = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n })
  const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => Uint8Array.of(0x41, ...bytes))
  const data = fc.uint8Array({ minLength: 1, maxLength: 300 })
  fc.assert(
    fc.property(address, address, amount, amount, data, fc.nat(), (from, to, value, token, calldata, cut) => {
      const bytes = rawData(31n, 'TriggerSmartContract', [
        [1, from],
        [2, to],
        [3, value],
        [4, calldata],
        [5, token],
        [6, 7n],
      ])
      expect(contractOf(read('TRON', bytes))).toEqual({
        type: 'TriggerSmartContract',
        permission_id: 0n,
        owner_address: text(from),
        contract_address: text(to),
        call_value: value,
        data: Buffer.from(calldata).toString('hex'),
        call_token_value: token,
        token_id: 7n,
      })
      // Cut where a field of the raw data ends, what is left is whole as well: only the last one, the time, stands there.
      const shorter = bytes.subarray(0, cut % (bytes.length - 7))
      expect(refusalOf('TRON', shorter)).not.toBe('read')
      expect(refusalOf('TRON', Uint8Array.from([...bytes, 0]))).not.toBe('read')
    }),
  )
})
