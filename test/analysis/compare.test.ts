/** How one set of policies relates to another, held against trying every vote in every order on concrete requests of both. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ComparedPower, comparePolicies, type Play, type PolicySet, relationOf } from '../../src/analysis/index.ts'
import { apiKeyFacts, type User, votersOf } from '../../src/authority/index.ts'
import { authorize, compilePolicy, mayVote, type PolicyContext, type PolicyText } from '../../src/policy/index.ts'
import { runs } from '../runs.ts'

const NOW = Date.parse('2026-06-30T12:00:00Z')
const WALLETS = [
  { id: 'w-cold', label: 'cold' },
  { id: 'w-hot', label: 'hot' },
]
const [TO, OTHER] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]

function user(name: string, tags: readonly string[]): User {
  const facts = apiKeyFacts({ id: `${name}-key`, userId: name, type: 'P256', publicKey: name })
  return { id: name, name, alias: name, email: `${name}@acme.test`, tags, credentials: [{ name: 'k', facts }] } as never
}

/** Policies of three people of operations and one of the treasury; `root` makes a quorum of two. */
function setOf(policies: readonly Partial<PolicyText>[], root = ['root', 'alice']): PolicySet {
  return {
    policies: policies.map((one, index) => ({ id: `p${index}`, name: `p${index}`, effect: 'EFFECT_ALLOW', ...one })),
    organization: {
      users: [user('alice', ['ops']), user('bob', ['ops']), user('carol', ['treasury']), user('root', [])],
      rootQuorum: { userIds: root, threshold: 2 },
    } as PolicySet['organization'],
    wallets: WALLETS,
  }
}

const clauses = [
  "activity.kind == 'SIGN_TRANSACTION'",
  "activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2'",
  "activity.action == 'EXPORT'",
  "wallet.id == 'w-cold'",
  "wallet.label in ['hot', 'warm']",
  "wallet.label[0..1] == 'c'",
  'wallet.exported',
  'eth.tx.value > 5',
  'eth.tx.value <= 9',
  'eth.tx.value == 10',
  `eth.tx.to == '${TO.toUpperCase().replace('0X', '0x')}'`,
  `eth.tx.to in ['${TO}', '${OTHER}']`,
  "eth.tx.data[0..10] == '0xa9059cbb'",
  "eth.tx.data[2..10] == 'a9059cbb' && eth.tx.data[10..12] == '07'",
  "eth.tx.contract_call_args['amount'] < 7",
  "solana.tx.transfers.all(t, t.to == 'A' && t.amount < 4)",
  'solana.tx.transfers.any(t, t.amount >= 4)',
  'solana.tx.transfers.count() > 1',
  "activity.params.encoding == 'PAYLOAD_ENCODING_EIP712'",
  'true',
] as const
const expression: fc.Arbitrary<string> = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...clauses),
    fc.tuple(tie('node'), fc.constantFrom('&&', '&&', '||'), tie('node')).map(([a, op, b]) => `(${a}) ${op} (${b})`),
    tie('node').map((a) => `!(${a})`),
  ),
})).node
const policy: fc.Arbitrary<Partial<PolicyText>> = fc.record({
  effect: fc.constantFrom('EFFECT_ALLOW' as const, 'EFFECT_ALLOW' as const, 'EFFECT_DENY' as const),
  condition: expression,
  consensus: fc.constantFrom(
    undefined,
    "approvers.any(u, u.tags.contains('ops'))",
    'approvers.count() >= 2',
    "approvers.all(u, u.id != 'bob')",
    "approvers[0].id == 'carol'",
  ),
})

/** Requests of some types with every value on both sides of what the clauses say. */
function* requests(): Generator<Partial<PolicyContext>> {
  const of = (type: string, params = {}) => ({ activity: { type, params } })
  const wallets = [...WALLETS, { id: 'w-warm', label: 'warm' }]
    .flatMap((one) => [true, false].map((exported) => ({ ...one, exported, imported: false })))
    .map((wallet) => ({ wallet, wallet_account: { address: TO } }))
  for (const wallet of wallets) {
    yield { ...of('ACTIVITY_TYPE_EXPORT_WALLET', { target_public_key: '' }), wallet: wallet.wallet }
    yield {
      ...of('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', { encoding: 'PAYLOAD_ENCODING_EIP712' }),
      ...wallet,
      eth: { eip_712: {} },
    }
    for (const type of ['ACTIVITY_TYPE_SIGN_TRANSACTION', 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2']) {
      for (const value of [5n, 9n, 10n])
        for (const to of [TO, OTHER, ''])
          for (const data of ['0x', `0xa9059cbb07`, '0xa9059cbb08'])
            for (const args of [undefined, { amount: 6n }, { amount: 7n }]) {
              const named = args === undefined ? {} : { contract_call_args: args }
              yield { ...of(type), ...wallet, eth: { tx: { value, to, data, ...named } } }
            }
      for (const transfers of [[], [3n], [4n], [3n, 3n], [3n, 4n]])
        for (const to of ['A', 'B'])
          yield { ...of(type), ...wallet, solana: { tx: { transfers: transfers.map((amount) => ({ to, amount })) } } }
    }
  }
}

/** The people of all sets that get the request executed, by every order of their votes; asks the evaluator alone. */
function trials(
  { policies, organization }: PolicySet,
  request: Partial<PolicyContext>,
): readonly (readonly string[])[] {
  const compiled = policies.map(compilePolicy)
  const voters = votersOf(organization, NOW)
  const found: (readonly string[])[] = []
  const vote = (context: PolicyContext, names: readonly string[]) => {
    for (const { name, approver, credentials: [credential] = [] } of voters) {
      if (names.includes(name) || (names.length > 0 && !mayVote(compiled, context, approver, credential))) continue
      const { approvers, credentials = [] } = context
      const next = { ...context, approvers: [...approvers, approver], credentials: [...credentials, credential!] }
      const { outcome } = authorize(compiled, next)
      if (outcome === 'OUTCOME_ALLOW') found.push([...names, name])
      else if (outcome === 'OUTCOME_REQUIRES_CONSENSUS') vote(next, [...names, name])
    }
  }
  const { rootQuorum } = organization
  const start = { now: BigInt(NOW) * 1_000_000n, activity: { type: '' }, approvers: [], credentials: [], rootQuorum }
  vote({ ...start, ...request }, [])
  return found
}

/** Whether each set of the one has a set of the other within it. */
const covers = (wide: readonly (readonly string[])[], narrow: readonly (readonly string[])[]) =>
  narrow.every((set) => wide.some((some) => some.every((name) => set.includes(name))))

function checkPlay({ context, votes }: Play, by: PolicySet, not: PolicySet): void {
  const people = votes.map(({ user }) => user)
  expect(covers(trials(by, context), [people]), JSON.stringify(people)).toBe(true)
  expect(trials(not, context).some((set) => set.every((name) => people.includes(name)))).toBe(false)
}

const show = (value: unknown) => JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? `${one}` : one))
const POWERS = ['sign', 'export'] as const

describe('compare', () => {
  test('a relation holds for concrete requests by every vote in every order, and each witness is one', () => {
    const pairs = fc.tuple(fc.array(policy, { maxLength: 4 }), fc.array(policy, { maxLength: 2 }), fc.nat(3))
    const told = new Map<string, number>()
    fc.assert(
      fc.property(pairs, ([policies, others, from]) => {
        const [first, second] = [setOf(policies), setOf([...policies.slice(0, from), ...others])]
        const rows = comparePolicies(first, second, { nowMs: NOW, powers: POWERS })
        for (const { wider, narrower, relation } of rows) {
          told.set(relation, (told.get(relation) ?? 0) + 1)
          if (wider) checkPlay(wider, second, first)
          if (narrower) checkPlay(narrower, first, second)
        }
        const relation = relationOf(rows)
        if (relation === 'unknown' || relation === 'incomparable') return
        for (const request of requests()) {
          const [a, b] = [trials(first, request), trials(second, request)]
          if (relation !== 'wider') expect(covers(a, b), `${relation} ${show(request)}`).toBe(true)
          if (relation !== 'narrower') expect(covers(b, a), `${relation} ${show(request)}`).toBe(true)
        }
      }),
      { numRuns: runs(40) },
    )
    for (const relation of ['equal', 'wider', 'narrower']) expect(told.get(relation), relation).toBeGreaterThan(0)
  })

  const SIGNS = "activity.kind == 'SIGN_TRANSACTION'"
  const relation = (a: readonly Partial<PolicyText>[], b: readonly Partial<PolicyText>[]) =>
    relationOf(comparePolicies(setOf(a), setOf(b), { nowMs: NOW }))
  const deny = (condition: string) => ({ effect: 'EFFECT_DENY' as const, condition })

  test.each<readonly [string, readonly Partial<PolicyText>[], readonly Partial<PolicyText>[], string]>([
    [
      'clauses in another order',
      [{ condition: `${SIGNS} && eth.tx.value > 5` }],
      [{ condition: `eth.tx.value > 5 && ${SIGNS}` }],
      'equal',
    ],
    [
      'one policy as two',
      [{ condition: "activity.action in ['SIGN', 'EXPORT']" }],
      [{ condition: "activity.action == 'SIGN'" }, { condition: "activity.action == 'EXPORT'" }],
      'equal',
    ],
    [
      'a limit raised',
      [{ condition: `${SIGNS} && eth.tx.value < 5` }],
      [{ condition: `${SIGNS} && eth.tx.value <= 5` }],
      'wider',
    ],
    [
      'the same limit, told otherwise',
      [{ condition: `${SIGNS} && eth.tx.value < 6` }],
      [{ condition: `${SIGNS} && eth.tx.value <= 5` }],
      'equal',
    ],
    [
      'another limit and another wallet',
      [{ condition: `${SIGNS} && eth.tx.value < 5` }],
      [{ condition: `${SIGNS} && eth.tx.value < 9 && wallet.id == 'w-hot'` }],
      'incomparable',
    ],
    [
      'a DENY that errs where a side is missing, split',
      [{ condition: SIGNS }, deny(`${SIGNS} && (eth.tx.value > 5 || wallet.label == 'hot')`)],
      [{ condition: SIGNS }, deny(`${SIGNS} && eth.tx.value > 5`), deny(`${SIGNS} && wallet.label == 'hot'`)],
      'narrower',
    ],
    [
      'a DENY without a condition',
      [{ condition: SIGNS }],
      [{ condition: SIGNS }, { effect: 'EFFECT_DENY' }],
      'narrower',
    ],
    [
      'an ALLOW under a DENY',
      [deny("activity.action == 'EXPORT'")],
      [deny("activity.action == 'EXPORT'"), { condition: "activity.kind == 'EXPORT_WALLET'" }],
      'equal',
    ],
    ['what the root quorum may export', [deny("activity.action == 'EXPORT'")], [], 'wider'],
    [
      'other people',
      [{ consensus: "approvers.any(u, u.tags.contains('ops'))" }],
      [{ consensus: "approvers.any(u, u.id in ['alice', 'bob'])" }],
      'equal',
    ],
    [
      'a time that is over',
      [{ time: "time.now < Timestamp('2026-01-01T00:00:00Z')" }],
      [{ time: "time.now < Timestamp('2026-01-02T00:00:00Z')" }],
      'wider',
    ],
    [
      'business hours',
      [{ condition: SIGNS }],
      [{ condition: SIGNS, time: "CronSpan('0 9 * * 1-5', '8h', 'Europe/Oslo')" }],
      'narrower',
    ],
    [
      'a call by its selector and by its name',
      [{ condition: `${SIGNS} && eth.tx.function_signature == '0xa9059cbb' && eth.tx.data[10..12] == '07'` }],
      [{ condition: `${SIGNS} && eth.tx.data[10..12] == '07' && eth.tx.function_signature == '0xA9059CBB'` }],
      'equal',
    ],
    [
      'a selector that the bytes have, and an interface need not name',
      [{ condition: `${SIGNS} && eth.tx.function_signature == '0xa9059cbb'` }],
      [{ condition: `${SIGNS} && eth.tx.data[0..10] == '0xa9059cbb'` }],
      'wider',
    ],
    [
      'a request of a kind whose roots are not all known',
      [{ condition: 'eth.tx.value < 5' }],
      [{ condition: 'eth.tx.value < 6' }],
      'unknown',
    ],
    ['the same for such a request', [{ condition: 'eth.tx.value < 6' }], [{ condition: 'eth.tx.value <= 5' }], 'equal'],
    [
      'parts that are compared with each other',
      [{ condition: `${SIGNS} && eth.tx.to == eth.tx.from` }],
      [{ condition: `${SIGNS} && eth.tx.from == eth.tx.to` }],
      'unknown',
    ],
  ])('%s', (_, a, b, expected) => {
    expect(relation(a, b)).toBe(expected)
    const mirrored: Readonly<Record<string, string>> = { wider: 'narrower', narrower: 'wider' }
    expect(relation(b, a)).toBe(mirrored[expected] ?? expected)
    expect(relation(a, a)).toBe('equal')
  })

  test('another root quorum is another power', () => {
    const [first, second] = [setOf([]), setOf([], ['root', 'bob'])]
    const rows = comparePolicies(first, second, { nowMs: NOW })
    const quorum = rows.find(({ power }) => power === 'quorum') as ComparedPower
    expect(quorum).toMatchObject({ relation: 'incomparable', wider: { votes: [{ user: 'bob' }, { user: 'root' }] } })
    expect(rows.map((row) => row.relation)).not.toContain('unknown')
  })
})
