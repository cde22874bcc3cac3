import fc from 'fast-check'
import { hashTypedData, type TypedDataDefinition } from 'viem'
import { describe, expect, test } from 'vitest'
import { type Facts, readPayloadFacts } from '../../../src/chain/index.ts'
import { readVectors } from '../../vectors/read-vectors.ts'
import { refusal } from './harness.ts'

const EIP712 = 'PAYLOAD_ENCODING_EIP712'
const EIP7702 = 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION'

function typedData(payload: unknown): Facts {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
  return readPayloadFacts({ encoding: EIP712, payload: text }).eth!['eip_712'] as Facts
}

const order = {
  types: {
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: 'uint256' },
      { name: 'verifyingContract', type: 'address' },
    ],
    Order: [
      { name: 'offer', type: 'Offer' },
      { name: 'legs', type: 'Leg[]' },
      { name: 'paid', type: 'bool' },
    ],
    Offer: [{ name: 'kind', type: 'string' }],
    Leg: [
      { name: 'token', type: 'address' },
      { name: 'amount', type: 'uint256' },
      { name: 'proof', type: 'bytes' },
    ],
  },
  primaryType: 'Order',
  domain: { name: 'Desk', version: '1', chainId: 137, verifyingContract: `0x${'Dd'.repeat(20)}` },
  message: {
    offer: { kind: 'erc20' },
    legs: [
      { token: `0x${'Ee'.repeat(20)}`, amount: '900', proof: '0xAB' },
      { token: `0x${'Ee'.repeat(20)}`, amount: '0x257', proof: '0x' },
    ],
    paid: false,
  },
}

describe('eip-712: what typed data says', () => {
  test('eip-712: domain, primary type and message, numbers as numbers and hex in lower case', () => {
    expect(typedData(order)).toEqual({
      primary_type: 'Order',
      domain: { name: 'Desk', version: '1', chain_id: 137n, verifying_contract: `0x${'dd'.repeat(20)}` },
      message: {
        offer: { kind: 'erc20' },
        legs: [
          { token: `0x${'ee'.repeat(20)}`, amount: 900n, proof: '0xab' },
          { token: `0x${'ee'.repeat(20)}`, amount: 599n, proof: '0x' },
        ],
        paid: false,
      },
    })
  })

  test('eip-712: a JSON number above 2^53 keeps its digits', () => {
    const text = JSON.stringify(order).replace('"900"', '9007199254740993')
    expect(typedData(text)).toMatchObject({ message: { legs: [{ amount: 9_007_199_254_740_993n }, {}] } })
  })

  test('eip-712: members that no type declares are not signed, and no facts', () => {
    const facts = typedData({
      ...order,
      domain: { ...order.domain, salt: `0x${'00'.repeat(32)}`, extra: 1 },
      message: { ...order.message, limit: 1 },
    })
    expect(facts['message']).not.toHaveProperty('limit')
    expect(Object.keys(facts['domain'] as object)).toEqual(['name', 'version', 'chain_id', 'verifying_contract'])
  })

  test('eip-712: without a type of the domain its members are what it has; those left out are absent', () => {
    const { EIP712Domain: _, ...types } = order.types
    expect(typedData({ ...order, types, domain: { chainId: '0x0a' } })['domain']).toEqual({ chain_id: 10n })
  })

  test('eip-712: a member of the domain that its type leaves out is not signed, and absent', () => {
    const types = { ...order.types, EIP712Domain: [{ name: 'name', type: 'string' }] }
    expect(typedData({ ...order, types })['domain']).toEqual({ name: 'Desk' })
  })

  const change = (path: string, value: unknown) => {
    const copy = structuredClone(order) as Record<string, unknown>
    const keys = path.split('.')
    let at = copy
    for (const key of keys.slice(0, -1)) at = at[key] as Record<string, unknown>
    at[keys.at(-1)!] = value
    return copy
  }

  test.each([
    ['no JSON', '{', 'it is no JSON'],
    ['a list', '[]', 'expected the payload to be an object'],
    ['no types', change('types', undefined), 'expected `types` to be an object'],
    ['no primary type', change('primaryType', undefined), 'expected `primaryType` to name a type'],
    ['the domain as primary type', change('primaryType', 'EIP712Domain'), 'expected `primaryType` to name a type'],
    ['a primary type that is not there', change('primaryType', 'Horse'), 'there is no type `Horse` for `message`'],
    [
      'a primary type of every object',
      change('primaryType', 'constructor'),
      'there is no type `constructor` for `message`',
    ],
    ['a field of no type', change('types.Offer.0.type', 'Kind'), 'there is no type `Kind` for `kind` of `Offer`'],
    ['a field twice', change('types.Offer.1', { name: 'kind', type: 'bool' }), '`Offer` has a field twice'],
    ['a type called as an elementary one', change('types.uint8', []), 'no type can be called `uint8`'],
    ['a member that is missing', change('message.offer', {}), '`message.offer` lacks `kind`'],
    ['null for a struct', change('message.offer', null), 'expected `message.offer` to be an object'],
    ['a number as text', change('message.offer.kind', 1), 'expected `message.offer.kind` to be a string'],
    ['a text as bool', change('message.paid', 'false'), 'expected `message.paid` to be a bool'],
    ['a short address', change('message.legs.0.token', '0x12'), 'expected `message.legs[0].token` to have 20 bytes'],
    ['a fraction', change('message.legs.0.amount', 1.5), 'expected `message.legs[0].amount` to be a whole number'],
    ['a negative amount', change('message.legs.0.amount', -1), '`message.legs[0].amount` does not fit `uint256`'],
    [
      'an amount too large',
      change('message.legs.0.amount', `1${'0'.repeat(77)}8`),
      'expected `message.legs[0].amount` to be a whole number',
    ],
    [
      'a number too long to be one',
      JSON.stringify(order).replace('"900"', '9'.repeat(100_000)),
      'expected `message.legs[0].amount` to be a whole number',
    ],
    ['a list that is none', change('message.legs', {}), 'expected `message.legs` to be a list'],
    ['a chain as text', change('types.EIP712Domain.2.type', 'string'), 'expected `domain.chainId` to be a string'],
  ])('eip-712: %s is refused', (_name, payload, reason) => {
    expect(refusal(() => typedData(payload))).toBe(`failed to parse payload: ${reason}`)
  })

  test('eip-712: a message that nests without end is refused', () => {
    const types = { ...order.types, Order: [{ name: 'next', type: 'Order[]' }] }
    const message = Array.from({ length: 100 }).reduce<object>((next) => ({ next: [next] }), { next: [] })
    expect(refusal(() => typedData({ ...order, types, message }))).toMatch(/nests deeper than 64 levels$/)
  })
})

interface Vector {
  readonly name: string
  readonly valid: boolean
  readonly data: TypedDataDefinition
}

describe('eip-712: the published messages', () => {
  const vectors = readVectors<Vector>('eip712/messages.jsonl')

  test.each(vectors.filter(({ valid }) => valid))(
    'eip-712: $name is read, and what is read is what is signed',
    ({ data }) => {
      const { message } = typedData(data)
      expect(hashTypedData({ ...data, message } as TypedDataDefinition)).toBe(hashTypedData(data))
    },
  )

  // The published test wants every member of the domain declared; viem and wallets leave out those that are not.
  const invalid = vectors.filter(
    ({ name, valid }) => !valid && name !== 'one_arg_invalid_domain_value_not_in_domain_types',
  )

  test.each(invalid)('eip-712: $name is refused', ({ data }) => {
    expect(refusal(() => typedData(data))).toMatch(/^failed to parse payload: /)
  })
})

test('eip-712: what is read of a random message is what is signed', () => {
  const hex = (size: number) =>
    fc.uint8Array({ minLength: size, maxLength: size }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`)
  const leaf = fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map((value) => ({ type: 'uint256', value: value.toString() })),
    fc.bigInt({ min: -128n, max: 127n }).map((value) => ({ type: 'int8', value: Number(value) })),
    fc.boolean().map((value) => ({ type: 'bool', value })),
    fc.string().map((value) => ({ type: 'string', value })),
    hex(20).map((value) => ({ type: 'address', value })),
    hex(32).map((value) => ({ type: 'bytes32', value })),
    fc
      .nat(40)
      .chain(hex)
      .map((value) => ({ type: 'bytes', value })),
  )
  fc.assert(
    fc.property(fc.array(leaf, { minLength: 1, maxLength: 6 }), fc.nat(3), (leaves, copies) => {
      const fields = leaves.map(({ type }, index) => ({ name: `f${index}`, type }))
      const inner = Object.fromEntries(leaves.map(({ value }, index) => [`f${index}`, value]))
      const data = {
        types: {
          Outer: [
            { name: 'inner', type: 'Inner' },
            { name: 'list', type: 'Inner[]' },
          ],
          Inner: fields,
        },
        primaryType: 'Outer',
        domain: { name: 'D', chainId: 1 },
        message: { inner, list: Array.from({ length: copies }, () => inner) },
      }
      const { message } = typedData(data)
      expect(hashTypedData({ ...data, message } as TypedDataDefinition)).toBe(
        hashTypedData(data as TypedDataDefinition),
      )
    }),
  )
})

describe('eip-7702: what an authorization says', () => {
  const read = (payload: unknown) => readPayloadFacts({ encoding: EIP7702, payload: JSON.stringify(payload) })
  const address = `0x${'4A'.repeat(20)}`

  test.each([
    ['numbers', 10, 3],
    ['decimal text', '10', '3'],
    ['hex text', '0xa', '0x3'],
  ])('eip-7702: chain and nonce may be %s', (_name, chainId, nonce) => {
    expect(read({ address, chainId, nonce })).toEqual({
      eth: { eip_7702_authorization: { address: address.toLowerCase(), chain_id: 10n, nonce: 3n } },
    })
  })

  test.each([
    ['no address', { chainId: 1, nonce: 0 }, 'expected `address` to be hex of whole bytes with `0x`'],
    ['no nonce', { address, chainId: 1 }, 'expected `nonce` to be a whole number'],
    ['a negative chain', { address, chainId: -1, nonce: 0 }, '`chainId` does not fit 256 bits'],
    ['a nonce above 64 bits', { address, chainId: 1, nonce: '18446744073709551616' }, '`nonce` does not fit 64 bits'],
  ])('eip-7702: %s is refused', (_name, payload, reason) => {
    expect(refusal(() => read(payload))).toBe(`failed to parse payload: ${reason}`)
  })
})

test.each(['PAYLOAD_ENCODING_HEXADECIMAL', 'PAYLOAD_ENCODING_TEXT_UTF8'])(
  'payloads: %s exposes nothing',
  (encoding) => {
    expect(readPayloadFacts({ encoding, payload: JSON.stringify(order) })).toEqual({})
  },
)
