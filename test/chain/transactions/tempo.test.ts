import fc from 'fast-check'
import { concatHex, type Hex, hexToBytes, toRlp } from 'viem'
import { Transaction } from 'viem/tempo'
import { describe, expect, test } from 'vitest'
import { read, refusalOf } from './harness.ts'

const token = `0x${'55'.repeat(20)}` as const
const from = `0x${'aA'.repeat(20)}` as const
const transfer: Hex = `0xa9059cbb${'00'.repeat(12)}${'ab'.repeat(20)}${'00'.repeat(31)}01`

const base = {
  type: 'tempo',
  chainId: 42_431,
  nonce: 3,
  gas: 90_000n,
  maxFeePerGas: 20n,
  maxPriorityFeePerGas: 1n,
  calls: [{ to: token, data: transfer }],
} as const

const facts = {
  chain_id: 42_431n,
  nonce: 3n,
  gas_limit: 90_000n,
  fee_token: '',
  max_fee_per_gas: 20n,
  max_priority_fee_per_gas: 1n,
  valid_before: 0n,
  valid_after: 0n,
  calls: [{ to: token, input: transfer, function_signature: '0xa9059cbb' }],
}

describe('tempo: what a transaction says', () => {
  test("tempo: the fields of the chain's own writer; what is not set is 0 or empty", async () => {
    expect(read('TEMPO', await Transaction.serialize(base))).toEqual(facts)
  })

  test('tempo: the time it is valid in, the token that pays and who signs', async () => {
    const feeToken = `0x20c0${'00'.repeat(17)}01` as const
    const bytes = await Transaction.serialize({ ...base, validBefore: 9, validAfter: 5, feeToken, nonceKey: 7n })
    expect(read('TEMPO', bytes, { signer: from })).toEqual({
      ...facts,
      from: from.toLowerCase(),
      fee_token: feeToken,
      valid_before: 9n,
      valid_after: 5n,
    })
  })

  test.each([
    ['a contract that is created', { data: '0x6000' as Hex }, { to: '', input: '0x6000', function_signature: '' }],
    ['no input', { to: token }, { to: token, input: '0x', function_signature: '' }],
    [
      'an input shorter than a selector',
      { to: token, data: '0xa9059c' as Hex },
      { to: token, input: '0xa9059c', function_signature: '' },
    ],
    [
      'a selector alone',
      { to: token, data: '0xa9059cbb' as Hex },
      { to: token, input: '0xa9059cbb', function_signature: '0xa9059cbb' },
    ],
  ])('tempo: a call with %s', async (_name, call, expected) => {
    expect(read('TEMPO', await Transaction.serialize({ ...base, calls: [call] }))['calls']).toEqual([expected])
  })

  test('tempo: a fee payer may sign later, or have signed', async () => {
    const later = await Transaction.serialize({ ...base, feePayer: true } as never)
    expect(read('TEMPO', later)).toEqual(facts)
    const signed = concatHex(['0x76', toRlp(items({ 11: ['0x01', '0x02', '0x03'] }))])
    expect(read('TEMPO', signed)).toMatchObject({ nonce: 3n })
  })

  test('tempo: a signed one is refused, or read once signed ones are accepted', async () => {
    const signature = { r: `0x${'11'.repeat(32)}`, s: `0x${'22'.repeat(32)}`, yParity: 1 } as const
    const signed = await Transaction.serialize(base, signature)
    expect(refusalOf('TEMPO', signed)).toBe('failed to parse transaction: the transaction is signed already')
    expect(read('TEMPO', signed, { acceptSigned: true })).toEqual(facts)
  })
})

type Items = Parameters<typeof toRlp>[0]

function items(change: Readonly<Record<number, unknown>> = {}): Items {
  const calls = [[token, '0x', transfer]]
  const list = ['0x01', '0x01', '0x02', '0x5208', calls, [], '0x', '0x03', '0x', '0x', '0x', '0x', []]
  return Object.assign(list, change) as Items
}

describe('tempo: what is refused', () => {
  const written = (list: Items) => concatHex(['0x76', toRlp(list)])

  test('tempo: the items that the others differ from are read', () => {
    expect(refusalOf('TEMPO', written(items()))).toBe('read')
    // A key authorization is a list behind the thirteen.
    expect(refusalOf('TEMPO', written(items({ 13: ['0x01'] })))).toBe('read')
  })

  test.each([
    ['another type', `0x02${written(items()).slice(4)}`, 'a Tempo transaction begins with byte 0x76'],
    ['bytes behind the end', `${written(items())}00`, '1 bytes are left behind the RLP'],
    ['too few items', written((items() as Hex[]).slice(1)), 'a Tempo transaction cannot have 12 items'],
    ['no calls', written(items({ 4: [] })), 'a Tempo transaction has no calls'],
    ['a call of two items', written(items({ 4: [[token, '0x']] })), 'expected `call` to have 3 items, got 2'],
    ['a short receiver', written(items({ 4: [['0x55', '0x', '0x']] })), 'expected `to` to have 20 bytes, got 1'],
    ['a fee payer that is none', written(items({ 11: '0x01' })), '`fee_payer_signature` is none'],
    ['a short signature', written(items({ 13: '0x11' })), 'expected a signature of 65 bytes, got 1'],
    ['an authorization list that is none', written(items({ 12: '0x' })), 'expected `authorization_list` to be a list'],
  ])('tempo: %s', (_name, transaction, reason) => {
    expect(refusalOf('TEMPO', transaction)).toBe(`failed to parse transaction: ${reason}`)
  })
})

test('tempo: whatever is written is read, and cut or lengthened it is refused', async () => {
  const hexOf = (options: fc.IntArrayConstraints) =>
    fc.uint8Array(options).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
  const call = fc.record({ to: hexOf({ minLength: 20, maxLength: 20 }), data: hexOf({ maxLength: 80 }) })
  const fields = fc.record({
    nonce: fc.nat(),
    gas: fc.bigInt({ min: 0n, max: 2n ** 63n }),
    calls: fc.array(call, { minLength: 1, maxLength: 5 }),
    validBefore: fc.integer({ min: 1, max: 2 ** 31 }),
  })
  await fc.assert(
    fc.asyncProperty(fields, fc.nat(), async (given, cut) => {
      const bytes = hexToBytes(await Transaction.serialize({ ...base, ...given }))
      expect(read('TEMPO', bytes)).toMatchObject({
        nonce: BigInt(given.nonce),
        gas_limit: given.gas,
        valid_before: BigInt(given.validBefore),
        calls: given.calls.map(({ to, data }) => ({
          to,
          input: data,
          function_signature: data.length < 10 ? '' : data.slice(0, 10),
        })),
      })
      expect(refusalOf('TEMPO', bytes.subarray(0, cut % bytes.length))).not.toBe('read')
      expect(refusalOf('TEMPO', Uint8Array.from([...bytes, 0]))).not.toBe('read')
    }),
  )
})
