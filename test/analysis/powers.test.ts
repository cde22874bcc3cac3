/** Who has which power, held against trying every vote in every order on concrete requests; the trial knows nothing of the analysis. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { POWERS, type PowerLine, powersOf } from '../../src/analysis/index.ts'
import { createPolicyCompiler, policiesOf } from '../../src/analysis/policies.ts'
import { startState } from '../../src/analysis/state.ts'
import { votersOf } from '../../src/authority/index.ts'
import {
  authorize,
  compilePolicy,
  conditionHolds,
  mayVote,
  type PolicyContext,
  type Voter,
  writeOut,
} from '../../src/policy/index.ts'
import { activities } from '../../src/protocol/index.ts'
import { organizationOf, type Resource } from '../../src/resources/index.ts'
import { actualOf, bootstrap, idFor, key, live } from '../plan/organization.ts'
import { runs } from '../runs.ts'

const NOW = Date.parse('2026-06-30T12:00:00Z')
const NAMES = ['alice', 'bob', 'carol', 'dave'] as const
const COLD = { id: idFor('wallet.cold'), label: 'cold' }
const HOT = { id: idFor('wallet.hot'), label: 'hot' }
const TO = '0x1111111111111111111111111111111111111111'

const conditions = [
  'true',
  '1 == 1',
  "activity.kind == 'SIGN_TRANSACTION'",
  "activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION'",
  "activity.action == 'SIGN'",
  "activity.action == 'EXPORT'",
  `wallet.id == '${COLD.id}'`,
  "wallet.label in ['hot', 'warm']",
  "wallet.label[0..1] == 'c'",
  'eth.tx.value > 5',
  `eth.tx.to == '${TO}'`,
  'wallet.exported',
]
const expression: fc.Arbitrary<string> = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...conditions),
    fc.tuple(tie('node'), fc.constantFrom('&&', '||'), tie('node')).map(([a, op, b]) => `(${a}) ${op} (${b})`),
    tie('node').map((a) => `!(${a})`),
  ),
})).node

const ids = Object.fromEntries(NAMES.map((name) => [name, idFor(`user.${name}`)]))
const tagged = `approvers.filter(u, u.tags.contains('${idFor('tag.ops')}')).count()`
const consensuses = [
  null,
  'approvers.count() >= 2',
  'approvers.count() == 1',
  `${tagged} >= 2`,
  `${tagged} == 0`,
  `approvers.any(u, u.id == '${ids['bob']}')`,
  `!approvers.any(u, u.id == '${ids['carol']}')`,
  "approvers.any(u, u.alias == 'dave') && approvers.count() >= 2",
  'approvers.count() >= 2 && approvers[0].id != approvers[1].id',
  `approvers[0].id == '${ids['alice']}'`,
  "credentials.any(c, c.type == 'CREDENTIAL_TYPE_API_KEY_SECP256K1')",
  "credentials.all(c, c.type != 'CREDENTIAL_TYPE_API_KEY_SECP256K1')",
  "approvers.all(u, u.email[0..2] == 'ca')",
] as const

const shapes = fc.record({
  people: fc.array(fc.record({ ops: fc.boolean(), second: fc.boolean(), isMember: fc.boolean() }), {
    minLength: 4,
    maxLength: 4,
  }),
  threshold: fc.integer({ min: 1, max: 2 }),
  policies: fc.array(
    fc.record({
      effect: fc.constantFrom('allow', 'allow', 'deny'),
      condition: expression,
      consensus: fc.constantFrom(...consensuses),
    }),
    { maxLength: 5 },
  ),
})
type Shape = typeof shapes extends fc.Arbitrary<infer One> ? One : never

function organizationIn({ people, threshold, policies }: Shape): readonly Resource[] {
  const members = NAMES.filter((_, index) => people[index]!.isMember)
  const quorum = members.length === 0 ? ['alice'] : members
  return [
    bootstrap()[0]!,
    live('rootQuorum', {
      threshold: Math.min(threshold, quorum.length),
      users: quorum.map((name) => idFor(`user.${name}`)),
    }),
    live('tag.ops'),
    ...people.flatMap(({ ops, second }, index) => {
      const name = NAMES[index]!
      return [
        live(`user.${name}`, { tags: ops ? [idFor('tag.ops')] : [], email: `${name}@acme.test` }),
        live(`apiKey.${name}.k`, key(name)),
        ...(second ? [live(`apiKey.${name}.w`, { ...key(`${name} w`), curve: 'SECP256K1' })] : []),
      ]
    }),
    live('wallet.cold'),
    live('wallet.hot'),
    ...policies.map(({ effect, condition, consensus }, index) =>
      live(`policy.p${index}`, { effect, condition, consensus }),
    ),
  ]
}

/** Concrete requests of one activity type for one wallet. */
function requestsOf(type: string, wallet: typeof COLD): readonly Partial<PolicyContext>[] {
  const activity = { type, params: {} }
  return [true, false].flatMap((exported) => {
    const common = { activity, wallet: { ...wallet, exported, imported: false } }
    if (activities[type as keyof typeof activities].kind !== 'SIGN_TRANSACTION') return [common]
    return [0n, 10n].flatMap((value) =>
      [TO, `0x${'2'.repeat(40)}`].map((to) => ({ ...common, eth: { tx: { value, to } } })),
    )
  })
}

/** All sets of people who get the request allowed, by every order of every vote. */
function trials(resources: readonly Resource[], request: Partial<PolicyContext>): ReadonlySet<string> {
  const organization = organizationOf(resources)
  const policies = policiesOf(startState(actualOf(resources)), createPolicyCompiler())
  const people = votersOf(organization, NOW)
  const allowed = new Set<string>()
  const vote = (context: PolicyContext, voted: readonly Voter[]) => {
    for (const person of people) {
      if (voted.includes(person)) continue
      for (const credential of person.credentials ?? []) {
        if (voted.length > 0 && !mayVote(policies, context, person.approver, credential)) continue
        const next = {
          ...context,
          approvers: [...context.approvers, person.approver],
          credentials: [...(context.credentials ?? []), credential],
        }
        const now = [...voted, person]
        const { outcome } = authorize(policies, next)
        if (outcome === 'OUTCOME_ALLOW') allowed.add(setText(now.map(({ name }) => name)))
        else if (outcome === 'OUTCOME_REQUIRES_CONSENSUS') vote(next, now)
      }
    }
  }
  vote(
    {
      now: BigInt(NOW) * 1_000_000n,
      activity: { type: '' },
      approvers: [],
      credentials: [],
      rootQuorum: organization.rootQuorum,
      ...request,
    },
    [],
  )
  return allowed
}

const setText = (names: readonly string[]) => [...names].sort().join(' ')
const isWithin = (small: string, large: string) => small.split(' ').every((name) => large.split(' ').includes(name))

/** The sets of a line, each written out. */
function setsOf({ people }: PowerLine): readonly string[] {
  if (people === 'unknown') throw new Error('four people are not too many')
  return writeOut(people).flatMap(({ sets, more }) => {
    expect(more).toBeUndefined()
    return sets.map(setText)
  })
}

/** Whether the requests that are tried are among those of a row. */
function isOf(told: string, type: string): boolean {
  const tried = ['', ' (TRANSACTION_TYPE_ETHEREUM)', ' (PAYLOAD_ENCODING_HEXADECIMAL)']
  return tried.some((requests) => told === `${type}${requests}`)
}

const TYPES = [
  'ACTIVITY_TYPE_SIGN_TRANSACTION',
  'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
  'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
  'ACTIVITY_TYPE_EXPORT_WALLET',
]

describe('powers', () => {
  test('nobody is missed and nobody is named untruly, by every vote in every order', () => {
    fc.assert(
      fc.property(shapes, (shape) => {
        const resources = organizationIn(shape)
        const rows = powersOf(actualOf(resources), { nowMs: NOW, powers: ['sign', 'export'] })
        for (const type of TYPES)
          for (const wallet of [COLD, HOT]) {
            const lines = rows
              .filter(
                ({ activities: types, over }) =>
                  types.some((one) => isOf(one, type)) && over.includes(`wallet.${wallet.label}`),
              )
              .flatMap((row) => row.lines)
            for (const request of requestsOf(type, wallet)) check(resources, request, lines)
          }
      }),
      { numRuns: runs(40) },
    )
  })

  test('two conditions together are told without a third that excludes them', () => {
    const resources = organizationIn({
      people: NAMES.map(() => ({ ops: false, second: false, isMember: false })),
      threshold: 1,
      policies: [
        // Nobody submits by the first; who submits by the second may wait for bob.
        { effect: 'allow', condition: 'eth.tx.value > 5', consensus: `approvers[1].id == '${ids['bob']}'` as never },
        {
          effect: 'allow',
          condition: `eth.tx.to == '${TO}'`,
          consensus: "approvers.any(u, u.alias == 'dave') && approvers.count() >= 4" as never,
        },
        { effect: 'allow', condition: 'eth.tx.value < 5', consensus: 'approvers.count() == 4' as never },
      ],
    })
    const rows = powersOf(actualOf(resources), { nowMs: NOW, powers: ['sign'] })
    const found = rows.filter(
      ({ over, activities: types }) =>
        over.includes('wallet.cold') && types.some((one) => isOf(one, 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2')),
    )
    for (const request of requestsOf('ACTIVITY_TYPE_SIGN_TRANSACTION_V2', COLD))
      check(
        resources,
        request,
        found.flatMap(({ lines }) => lines),
      )
  })

  test('whom one condition alone lets in by oneself hides nobody who needs two others that exclude it', () => {
    const resources = organizationIn({
      people: NAMES.map((name) => ({ ops: name === 'dave', second: false, isMember: false })),
      threshold: 1,
      policies: [
        {
          effect: 'allow',
          condition: 'wallet.exported',
          consensus: 'approvers.count() >= 2 && approvers[0].id != approvers[1].id',
        },
        { effect: 'allow', condition: `eth.tx.to == '${TO}'`, consensus: 'true' as never },
        {
          effect: 'allow',
          condition: `!(eth.tx.to == '${TO}')`,
          consensus: `approvers.filter(u, u.tags.contains('${idFor('tag.ops')}')).count() >= 2` as never,
        },
      ] as never,
    })
    const rows = powersOf(actualOf(resources), { nowMs: NOW, powers: ['sign'] })
    for (const type of TYPES.filter((one) => one.includes('SIGN_TRANSACTION')))
      for (const request of requestsOf(type, COLD))
        check(
          resources,
          request,
          rows
            .filter(
              ({ over, activities: types }) => over.includes('wallet.cold') && types.some((one) => isOf(one, type)),
            )
            .flatMap(({ lines }) => lines),
        )
  })

  test('of many conditions nothing is unknown where nobody needs two; where somebody does, what was not asked is', () => {
    const people = NAMES.map(() => ({ ops: false, second: false, isMember: false }))
    const lines = (policies: Parameters<typeof organizationIn>[0]['policies']) =>
      powersOf(actualOf(organizationIn({ people, threshold: 1, policies })), { nowMs: NOW, powers: ['sign'] })
        .filter(({ over, activities: types }) => over.includes('wallet.cold') && types.join().includes('ETHEREUM'))
        .flatMap((row) => row.lines)
    const each = [1, 2, 3, 4, 5, 6, 7, 8].map((value) => ({
      effect: 'allow' as const,
      condition: `eth.tx.value == ${value}`,
      consensus: "approvers.any(u, u.alias == 'dave')" as never,
    }))
    expect(lines(each).filter(({ people: who }) => who === 'unknown')).toEqual([])
    expect(lines(each).filter(({ condition }) => condition !== undefined).length).toBe(8)
    const joint = [
      {
        effect: 'allow' as const,
        condition: 'eth.tx.nonce > 5',
        consensus: `approvers[1].id == '${ids['bob']}'` as never,
      },
      { effect: 'allow' as const, condition: 'eth.tx.gas > 5', consensus: 'approvers.count() == 3' as never },
    ]
    const asked = lines([...each, ...joint])
    expect(asked.filter(({ people: who }) => who === 'unknown').length).toBe(1)
  })

  test('each activity of the catalogue that leads to funds, or to who may decide, is of one power', () => {
    const none = new Set<string>()
    for (const row of Object.values(activities)) {
      const powers = Object.entries(POWERS).filter(([, isOf]) => isOf(row))
      expect(powers.length, row.type).toBeLessThan(2)
      if (powers.length === 0) none.add(row.family)
    }
    expect([...none].sort()).toMatchInlineSnapshot(`
      [
        "ACTIVATE_BILLING_TIER",
        "APPROVE_ACTIVITY",
        "CREATE_FIAT_ON_RAMP_CREDENTIAL",
        "CREATE_SMART_CONTRACT_INTERFACE",
        "CREATE_SWAP_QUOTE",
        "CREATE_TVC_APP",
        "CREATE_TVC_DEPLOYMENT",
        "CREATE_TVC_MANIFEST_APPROVALS",
        "CREATE_TVC_OPERATOR",
        "CREATE_TVC_QUORUM_KEY",
        "CREATE_WEBHOOK_ENDPOINT",
        "DELETE_FIAT_ON_RAMP_CREDENTIAL",
        "DELETE_PAYMENT_METHOD",
        "DELETE_SMART_CONTRACT_INTERFACE",
        "DELETE_TVC_APP_AND_DEPLOYMENTS",
        "DELETE_TVC_DEPLOYMENT",
        "DELETE_WEBHOOK_ENDPOINT",
        "INIT_FIAT_ON_RAMP",
        "POST_TVC_QUORUM_KEY_SHARE",
        "REJECT_ACTIVITY",
        "REMOVE_IP_ALLOWLIST",
        "RESTORE_TVC_DEPLOYMENT",
        "RE_ENCRYPT_TVC_QUORUM_KEY_SHARE",
        "SET_IP_ALLOWLIST",
        "SET_PAYMENT_METHOD",
        "UPDATE_ALLOWED_ORIGINS",
        "UPDATE_FIAT_ON_RAMP_CREDENTIAL",
        "UPDATE_ORGANIZATION_NAME",
        "UPDATE_TVC_APP_LIVE_DEPLOYMENT",
        "UPDATE_WEBHOOK_ENDPOINT",
        "UPSERT_GAS_USAGE_CONFIG",
        "UPSERT_SWAP_CONFIG",
      ]
    `)
  })
})

function check(resources: readonly Resource[], request: Partial<PolicyContext>, lines: readonly PowerLine[]): void {
  const allowed = trials(resources, request)
  const told = lines.map((line) => ({ line, sets: setsOf(line) }))
  for (const set of allowed) {
    const isTold = told.some(
      ({ line, sets }) => holds(line.condition ?? 'true', request) && sets.some((one) => isWithin(one, set)),
    )
    expect(
      isTold,
      `${set} may ${JSON.stringify(request, (_, one) => (typeof one === 'bigint' ? String(one) : one))}`,
    ).toBe(true)
  }
  for (const { line, sets } of told) {
    if (!holds(line.condition ?? 'true', request) || (line.unless ?? []).some((one) => holds(one, request))) continue
    for (const set of sets) {
      // Some of them may suffice where more holds than the line asks for.
      const suffices = [...allowed].some((one) => isWithin(one, set))
      expect(suffices, `${set} of ${JSON.stringify(line)}`).toBe(true)
    }
  }
}

/** Ids of the names that conditions are shown with. */
function holds(condition: string, request: Partial<PolicyContext>): boolean {
  const text = condition.replaceAll('${wallet.cold}', COLD.id).replaceAll('${wallet.hot}', HOT.id)
  const compiled = compilePolicy({ id: '', name: '', effect: 'EFFECT_ALLOW', condition: text })
  const context = { now: 0n, activity: { type: '' }, approvers: [], ...request }
  return conditionHolds(compiled, context) === true
}
