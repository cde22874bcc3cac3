/** Organizations of two to six people and up to twelve policies of any syntax that the checker takes, and requests that they decide. */
import fc from 'fast-check'
import type { PowerRow } from '../../src/analysis/index.ts'
import { contextOf } from '../../src/authority/index.ts'
import { type RootName, roots, structRow } from '../../src/policy/environment.ts'
import type { PolicyContext } from '../../src/policy/index.ts'
import type * as t from '../../src/policy/types.ts'
import type { Resource } from '../../src/resources/index.ts'
import { bootstrap, idFor, key, live } from '../plan/organization.ts'
import { anySyntax, joined, sampleOf, Tape } from '../policy/generate.ts'
import { COLD, conditions, consensuses, faultsOf, LATER, NOW, TIMES } from './generated.ts'

const PEOPLE = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank'] as const
const TAGS = ['ops', 'treasury'] as const
const SORTS = ['P256', 'SECP256K1', 'ED25519'] as const

/** What policies compare with, so that some comparisons hold. */
const TEXTS: Readonly<Record<'condition' | 'consensus', readonly string[]>> = {
  condition: ['', 'a', '0xab', '0xABCDEF0123456789', COLD.id, 'cold', 'hot', 'SIGN_TRANSACTION', 'SIGN', 'EXPORT'],
  consensus: [
    ...PEOPLE.flatMap((name) => [idFor(`user.${name}`), name]),
    ...TAGS.map((name) => idFor(`tag.${name}`)),
    ...SORTS.map((sort) => `CREDENTIAL_TYPE_API_KEY_${sort}`),
    'alice@acme.test',
    'a',
  ],
}

/** Roots that a text reads; what a request has not is an error of the whole. */
const READ: Readonly<Record<'condition' | 'consensus', readonly (readonly RootName[])[]>> = {
  condition: [
    ['wallet'],
    ['activity', 'wallet'],
    ['wallet', 'wallet_account', 'eth'],
    ['eth'],
    ['solana', 'private_key'],
  ],
  consensus: [['approvers', 'credentials'], ['approvers'], ['credentials']],
}

/** Texts of any syntax and those that people write, joined. */
const textOf = (field: 'condition' | 'consensus', written: readonly string[]): fc.Arbitrary<string> =>
  joined(fc.constantFrom(...written), anySyntax(field, { texts: TEXTS[field], given: READ[field] }))
const consensus = fc.oneof(
  fc.constant(null),
  textOf(
    'consensus',
    consensuses.flatMap((one) => one ?? []),
  ),
)
const condition = fc.oneof(fc.constant(null), textOf('condition', conditions))
const time = fc.constantFrom(null, null, null, null, ...TIMES)

export const wideShapes = fc.record({
  people: fc.array(
    fc.record({
      tags: fc.subarray([...TAGS]),
      sorts: fc.subarray([...SORTS], { minLength: 1, maxLength: 2 }),
      isMember: fc.boolean(),
    }),
    { minLength: 2, maxLength: 6 },
  ),
  threshold: fc.integer({ min: 1, max: 3 }),
  policies: fc.array(fc.record({ effect: fc.constantFrom('allow', 'allow', 'deny'), condition, consensus, time }), {
    maxLength: 12,
  }),
  requests: fc.array(fc.array(fc.nat(1_000_000), { minLength: 120, maxLength: 120 }), { minLength: 3, maxLength: 3 }),
})
type Wide = typeof wideShapes extends fc.Arbitrary<infer One> ? One : never

export function wideOrganization({ people, threshold, policies }: Wide): readonly Resource[] {
  const names = PEOPLE.slice(0, people.length)
  const members = names.filter((_, index) => people[index]!.isMember)
  const quorum = members.length === 0 ? ['alice'] : members
  const users = quorum.map((name) => idFor(`user.${name}`))
  return [
    bootstrap()[0]!,
    live('rootQuorum', { threshold: Math.min(threshold, quorum.length), users }),
    ...TAGS.map((name) => live(`tag.${name}`)),
    ...people.flatMap(({ tags, sorts }, index) => {
      const name = names[index]!
      return [
        live(`user.${name}`, { tags: tags.map((tag) => idFor(`tag.${tag}`)), email: `${name}@acme.test` }),
        ...sorts.map((curve) => live(`apiKey.${name}.${curve}`, { ...key(`${name} ${curve}`), curve })),
      ]
    }),
    live('wallet.cold'),
    live('wallet.hot'),
    ...policies.map((fields, index) => live(`policy.p${index}`, fields)),
  ]
}

/** A kind of request, the roots that it has besides its wallet, and what rows call it. */
const KINDS = [
  {
    type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
    said: 'TRANSACTION_TYPE_ETHEREUM',
    parameters: { signWith: 'a', unsignedTransaction: 'ab', type: 'TRANSACTION_TYPE_ETHEREUM' },
    facts: (tape: Tape) => ({ eth: { tx: sampleOf(tape, typeOf('Ethereum', 'tx'), Number.POSITIVE_INFINITY, true) } }),
  },
  {
    type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
    said: 'TRANSACTION_TYPE_SOLANA',
    parameters: { signWith: 'a', unsignedTransaction: 'ab', type: 'TRANSACTION_TYPE_SOLANA' },
    facts: (tape: Tape) => ({ solana: sampleOf(tape, roots.solana.type, Number.POSITIVE_INFINITY, true) }),
  },
  {
    type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
    said: 'PAYLOAD_ENCODING_HEXADECIMAL',
    parameters: {
      ...{ signWith: 'a', payload: 'ab', encoding: 'PAYLOAD_ENCODING_HEXADECIMAL' },
      hashFunction: 'HASH_FUNCTION_NO_OP',
    },
    facts: () => ({}),
  },
  {
    type: 'ACTIVITY_TYPE_EXPORT_WALLET',
    said: undefined,
    parameters: { walletId: COLD.id, targetPublicKey: 'a', language: 'MNEMONIC_LANGUAGE_ENGLISH' },
    facts: () => ({}),
  },
] as const

function typeOf(struct: string, field: string): t.Type {
  return structRow(struct).fields.find(({ name }) => name === field)!.type
}

/** Concrete requests of each kind about one wallet, and what rows call them. */
function wideRequests({ requests }: Wide) {
  return requests.flatMap((drawn) => {
    const tape = new Tape(drawn)
    return KINDS.map(({ type, said, parameters, facts }) => {
      const wallet = { ...COLD, imported: tape.below(2) === 1, exported: tape.below(2) === 1 }
      const all = { wallet, ...(type.includes('SIGN') && { wallet_account: { address: '0xab' } }), ...facts(tape) }
      const none = { approvers: [], credentials: [], rootQuorum: { threshold: 0, userIds: [] } }
      const nowMs = [NOW, LATER][tape.below(2)]!
      const context = contextOf({ type, parameters, nowMs, facts: all as Partial<PolicyContext> }, none)
      const { approvers: _, credentials: __, rootQuorum: ___, ...request } = context
      return { request, names: [type, `${type} (${said})`] }
    })
  })
}

/** The faults of all that is told of one wallet; of how many requests that were asked something is told as unknown. */
export function wideFaults(shape: Wide, resources: readonly Resource[], rows: readonly PowerRow[]) {
  const requests = wideRequests(shape).map(({ request, names }) => {
    const lines = rows
      .filter(({ activities: types, over }) => types.some((one) => names.includes(one)) && over.includes('wallet.cold'))
      .flatMap((row) => row.lines)
    return { request, lines, isKnown: lines.every(({ people }) => people !== 'unknown') }
  })
  const known = requests.filter(({ isKnown }) => isKnown)
  return {
    faults: known.flatMap(({ request, lines }) => faultsOf(resources, request, lines)),
    asked: requests.length,
    unknown: requests.length - known.length,
  }
}
