/**
 * What a plan says of taking it back, played in the service: the plan is carried out, and then everybody tries to put back what was there,
 * activity by activity, in every order of activities and votes, with every credential, by moves too. Nobody gets there where nobody is
 * said; each set of people that is said does, in as many activities, and no set without one of these.
 */
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { planWithForecast } from '../../src/analysis/index.ts'
import { type Inverse, inverseOf } from '../../src/analysis/inverse.ts'
import { createQueryClient } from '../../src/client/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { readActual } from '../../src/live/index.ts'
import { collectIds, fillParameters, isNobody, type Plan } from '../../src/plan/index.ts'
import type { ActivityType } from '../../src/protocol/index.ts'
import { type Actual, type Resource, referencesOf } from '../../src/resources/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { addOrganizations, type Made, type Name, PEOPLE, type Shape } from '../authority/organizations.ts'
import { declare, desiredOf, policy } from '../plan/organization.ts'
import { runs } from '../runs.ts'
import { createTestClock, startTestService, type TestService } from '../service/harness.ts'
import { createPlayers, ordersOf, type Players } from './players.ts'

vi.setConfig({ testTimeout: 600_000 })

const HOUR = 3_600_000
const type = (name: string) => `activity.type == 'ACTIVITY_TYPE_${name}'`
/** What policies are about: what plans below do, what undoes it, and moves. */
const CONDITIONS = [
  type('CREATE_USER_TAG'),
  type('DELETE_USER_TAGS'),
  type('CREATE_POLICIES'),
  type('DELETE_POLICIES'),
  type('CREATE_WALLET'),
  type('DELETE_WALLETS'),
  type('UPDATE_USER_NAME'),
  "activity.action != 'DELETE'",
]
const BEGINS = ['CREATE_USER_TAG', 'CREATE_WALLET', 'UPDATE_USER_NAME'].map(type).join(' || ')
/** Changes, and what each touches. */
const CHANGES: Readonly<Record<string, readonly Resource[]>> = {
  'new tag': [declare('tag.new')],
  'new wallet': [declare('wallet.new', { mnemonicLength: 12 })],
  'new policy': [declare('policy.new', policy('approvers.count() >= 3', null))],
  'new denial': [declare('policy.new', policy(null, "activity.action == 'DELETE'", 'deny'))],
  'no first policy': [declare('policy.p0', {}, { tombstone: true })],
  'another name': [declare('user.bobby', { email: 'desk@acme.test' }, { renamedFrom: 'bob' })],
}

/** Of mostly one member who has no way to vote, and without whom the root quorum is not met; and of any two of three. */
const HARD = [['alice', 'dave'], ['dave'], ['alice', 'dave'], ['alice', 'bob']] as const
const EASY = [['alice', 'bob', 'carol']] as const

const shapesOf = (
  quorums: readonly (readonly Name[])[],
): fc.Arbitrary<{ readonly shape: Shape; readonly changes: readonly string[] }> =>
  fc
    .record({
      has: fc.record({
        bob: fc.constantFrom(['key'], ['key', 'passkey'], ['passkey']),
        carol: fc.constantFrom(['key'], [], ['expired']),
        dave: fc.constantFrom([], ['expired']),
      }),
      tagged: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
      members: fc.constantFrom(...quorums),
      policies: fc.array(
        fc.record({
          consensus: fc.constantFrom(0, 1, 2, 3, 5, 6, 10),
          who: fc.constantFrom<Name>('alice', 'bob', 'carol'),
          denies: fc.constantFrom(false, false, false, false, true),
          condition: fc.constantFrom(...CONDITIONS),
        }),
        { minLength: 1, maxLength: 2 },
      ),
      changes: fc.subarray(Object.keys(CHANGES), { minLength: 1, maxLength: 2 }),
    })
    .filter(({ changes }) => !(changes.includes('new policy') && changes.includes('new denial')))
    .map(({ has, tagged, members, policies, changes }) => ({
      shape: {
        people: Object.fromEntries(
          PEOPLE.map((name, at) => [name, { has: name === 'alice' ? ['key'] : has[name], tagged: tagged[at]! }]),
        ) as unknown as Shape['people'],
        members,
        threshold: Math.min(2, members.length),
        // One that lets somebody begin, so that there is something to take back.
        policies: [...policies, { consensus: 3, who: 'alice', denies: false, condition: BEGINS }],
      },
      changes,
    }))

type Params = Readonly<Record<string, unknown>>

/** Carries out batches in an order; whether all of them were. */
async function carryOut(
  plan: Pick<Plan, 'batches' | 'ids'>,
  { get }: Players,
  {
    order = plan.batches.map(({ index }) => index),
    people,
  }: { order?: readonly number[]; people?: readonly Name[] } = {},
): Promise<boolean> {
  const ids = { ...plan.ids }
  for (const index of order) {
    const batch = plan.batches[index]!
    if (referencesOf(batch.parameters).some((address) => !Object.hasOwn(ids, address))) return false
    const parameters = fillParameters(batch.parameters, ids) as Params
    const done = await get(batch.type as ActivityType, parameters, people)
    if (!done) return false
    Object.assign(ids, collectIds(batch, done.result as never))
  }
  return true
}

/** Everything that could gain anybody anything, until nothing more is gained. */
async function move(service: TestService, { get, joins }: Players, made: Made, now: Actual): Promise<number> {
  const { userIds } = made
  const key = generateP256KeyPair()
  const apiKeys = [{ apiKeyName: 'new', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }]
  const things = (kind: string) => now.resources.filter((one) => one.kind === kind)
  const denials = things('policy').filter(({ fields }) => fields['effect'] === 'deny')
  const moves: readonly (readonly [ActivityType, object, (() => unknown)?])[] = [
    [
      'ACTIVITY_TYPE_CREATE_POLICIES',
      { policies: [{ policyName: 'all', effect: 'EFFECT_ALLOW', consensus: 'true', condition: 'true', notes: '' }] },
    ],
    ['ACTIVITY_TYPE_CREATE_POLICY_V3', { policyName: 'any', effect: 'EFFECT_ALLOW', consensus: 'true', notes: '' }],
    ...denials.map(({ id }) => ['ACTIVITY_TYPE_DELETE_POLICIES', { policyIds: [id!] }] as const),
    ['ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 1, userIds: [userIds.alice] }],
    [
      'ACTIVITY_TYPE_CREATE_API_KEYS_V2',
      { userId: userIds.dave, apiKeys },
      () => joins('dave', service.client(key.privateKey).raw),
    ],
    ...things('tag').map(
      ({ id, name }) =>
        [
          'ACTIVITY_TYPE_UPDATE_USER_TAG',
          { userTagId: id!, newUserTagName: name, addUserIds: Object.values(userIds), removeUserIds: [] },
        ] as const,
    ),
  ]
  let gained = 0
  for (const [kind, parameters, then] of moves) {
    if (!(await get(kind, parameters))) continue
    gained++
    then?.()
  }
  return gained
}

const MOST_ACTIVITIES = 3

describe('undo, played', () => {
  test('who can take a plan back does, and where nobody is said nobody gets there in any way', async () => {
    const clock = createTestClock()
    const service = await startTestService({ clock })
    const figures = { nobody: 0, somebody: 0, sets: 0, others: 0, byMoves: 0, notCarriedOut: 0, tooMany: 0, asked: 0 }
    try {
      const hard = fc.sample(shapesOf(HARD), { numRuns: runs(24), seed: 18 })
      const given = [...hard, ...fc.sample(shapesOf(EASY), { numRuns: runs(12), seed: 18 })]
      for (const [index, { shape, changes }] of given.entries()) {
        const make = async () => {
          const [made] = await addOrganizations(service, [shape], clock())
          clock.advance(2 * HOUR)
          return made!
        }
        try {
          await play(service, { make, changes, clock }, figures)
        } catch (error) {
          throw new Error(`organization ${index}: ${(error as Error).message}\n${JSON.stringify({ shape, changes })}`, {
            cause: error,
          })
        }
      }
      // Of the changes above, two at most, each is taken back by one activity.
      expect(figures.tooMany).toBe(0)
      expect(figures.nobody, JSON.stringify(figures)).toBeGreaterThan(hard.length / 8)
      expect(figures.somebody, JSON.stringify(figures)).toBeGreaterThan(given.length / 8)
      expect(figures.sets, JSON.stringify(figures)).toBeGreaterThan(figures.somebody)
      expect(figures.others, JSON.stringify(figures)).toBeGreaterThan(given.length / 8)
    } finally {
      await service.close()
    }
  })
})

async function play(
  service: TestService,
  {
    make,
    changes,
    clock,
  }: { readonly make: () => Promise<Made>; readonly changes: readonly string[]; readonly clock: () => number },
  figures: Record<
    'nobody' | 'somebody' | 'sets' | 'others' | 'byMoves' | 'notCarriedOut' | 'tooMany' | 'asked',
    number
  >,
): Promise<void> {
  const read = ({ organizationId, alice }: Made) => {
    const stamper = createApiKeyStamper({ privateKey: new Secret(alice.privateKey) })
    return readActual(createQueryClient({ baseUrl: service.url, organizationId, stamper }), { everything: true })
  }
  /** A copy in which the plan was carried out, and the way back; undefined where it cannot be carried out. */
  const begin = async () => {
    const one = await make()
    const actual = await read(one)
    const locked = ['user.bob', ...(changes.includes('no first policy') ? ['policy.p0'] : [])]
    const rows = actual.resources.map(({ address, id }) => [address, { id: id! }] as const)
    const input = {
      desired: { ...desiredOf(changes.flatMap((name) => CHANGES[name]!)), organizationId: one.organizationId },
      actual,
      lock: { [one.organizationId]: Object.fromEntries(rows.filter(([address]) => locked.includes(address))) },
      creators: {},
      allow: [],
      baseUrl: 'http://127.0.0.1:1',
      now: new Date(clock()).toISOString(),
    }
    const { plan } = planWithForecast(input)
    const players = createPlayers(service, one.organizationId, one.stampings)
    if (!(await carryOut(plan, players))) return undefined
    const after = await read(one)
    const inverse = inverseOf(
      { before: actual.resources, after: after.resources },
      { ...input, organization: input.desired.organization },
    )
    return { undo: plan.undo!, inverse, players, after, one }
  }
  const ends = async (orders: Iterable<readonly number[]>, people?: readonly Name[]) => {
    for (const order of orders) {
      const begun = (await begin())!
      const done = await carryOut(begun.inverse.plan, begun.players, { order, ...(people ? { people } : {}) })
      figures.asked += begun.players.asked()
      if (done) return true
    }
    return false
  }
  const first = await begin()
  if (!first) {
    figures.notCarriedOut++
    return
  }
  const { undo, inverse } = first
  expect(undo.activities).toBe(inverse.plan.batches.length)
  expect(undo.unknown).toBeUndefined()
  if (undo.activities > MOST_ACTIVITIES) return void figures.tooMany++
  const orders = [...ordersOf(placesOf(inverse))]
  if (undo.ways.length > 0) {
    figures.somebody++
    const told = undo.ways.flatMap(({ sets }) =>
      sets.map((set) => set.map((name) => (name === 'bobby' ? 'bob' : name))),
    )
    for (const set of told) {
      figures.sets++
      expect(await ends(orders, set as readonly Name[]), `${set} can`).toBe(true)
    }
    for (const set of largestWithout(told)) {
      figures.others++
      expect(await ends(orders, set), `${set} could`).toBe(false)
    }
    return
  }
  expect(await ends(orders), 'somebody could').toBe(false)
  const gained = await move(service, first.players, first.one, first.after)
  const done = await carryOut(inverse.plan, first.players)
  figures.asked += first.players.asked()
  if (undo.byMoves) {
    figures.byMoves++
    expect([gained > 0, done]).toEqual([true, true])
    return
  }
  expect(isNobody(undo)).toBe(true)
  expect(done, `somebody could after ${gained} moves`).toBe(false)
  figures.nobody++
}

/** The largest sets of people none of which holds a whole set that is told. */
function largestWithout(told: readonly (readonly string[])[]): readonly (readonly Name[])[] {
  const sets: readonly (readonly Name[])[] = Array.from({ length: 2 ** PEOPLE.length }, (_, bits) =>
    PEOPLE.filter((_, at) => (bits >> at) & 1),
  )
  const others = sets.filter((set) => !told.some((one) => one.every((name) => set.includes(name as Name))))
  const isIn = (set: readonly Name[], other: readonly Name[]) => set.every((name) => other.includes(name))
  return others.filter((set) => set.length > 0 && !others.some((other) => other !== set && isIn(set, other)))
}

function placesOf({ plan }: Inverse): readonly number[] {
  return plan.batches.map(({ index }) => index)
}
