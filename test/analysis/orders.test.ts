/** A forecast holds in every order that the plan allows: judged again, step by step, over an organization of its own. */
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { forecast, planWithForecast } from '../../src/analysis/index.ts'
import { outcomeOf } from '../../src/analysis/outcome.ts'
import { createPolicyCompiler, policiesOf } from '../../src/analysis/policies.ts'
import { actingVoter } from '../../src/authority/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { loadDefinitions } from '../../src/definitions/index.ts'
import { approvalRounds, collectIds, type Forecast, fillParameters, makePlan, type Plan } from '../../src/plan/index.ts'
import { type Address, organizationOf, type Resource, type Value } from '../../src/resources/index.ts'
import { Model } from '../plan/model.ts'
import {
  acme,
  bootstrap,
  declare,
  idFor,
  key,
  live,
  lockOfDeclared,
  ORGANIZATION,
  policy,
  ref,
  text,
} from '../plan/organization.ts'
import { NOW, planInput } from '../plan/planning.ts'
import { runs } from '../runs.ts'

const TAGS = ['ops', 'eng'] as const
const PEOPLE = ['bob', 'carol', 'dave'] as const
const RESOURCES = ['USER', 'POLICY', 'WALLET', 'CREDENTIAL'] as const

interface World {
  readonly people: readonly {
    readonly name: string
    readonly tags: readonly string[]
    readonly hasKey: boolean
    readonly mail: string
  }[]
  readonly aliceTags: readonly string[]
  readonly policies: readonly {
    readonly name: string
    readonly effect: string
    readonly who: number
    readonly what: number
  }[]
  readonly quorum: { readonly threshold: number; readonly members: readonly string[] }
  readonly wallets: readonly string[]
  readonly feature: boolean
}

const subset = <T>(of: readonly T[], minLength = 0) => fc.subarray([...of], { minLength })
const worlds: fc.Arbitrary<World> = fc.record({
  people: subset(PEOPLE).chain((names) =>
    fc.tuple(
      ...names.map((name) =>
        fc.record({
          name: fc.constant(name),
          tags: subset(TAGS),
          hasKey: fc.boolean(),
          mail: fc.constantFrom('acme.test', 'bank.test'),
        }),
      ),
    ),
  ),
  aliceTags: subset(TAGS),
  policies: subset(['p1', 'p2', 'p3', 'p4']).chain((names) =>
    fc.tuple(
      ...names.map((name) =>
        fc.record({
          name: fc.constant(name),
          effect: fc.constantFrom('allow', 'allow', 'allow', 'deny'),
          who: fc.nat(6),
          what: fc.nat(4),
        }),
      ),
    ),
  ),
  quorum: fc.record({ threshold: fc.integer({ min: 1, max: 3 }), members: subset(['alice', ...PEOPLE], 1) }),
  wallets: subset(['cold', 'hot']),
  feature: fc.boolean(),
})

/** The consensus of a policy; `tag` and `person` say what stands for one in a live or a desired policy. */
function consensus(who: number, tag: (name: string) => Value, person: (name: string) => Value): Value {
  const some = (name: string) => text("approvers.any(u, u.tags.contains('", tag(name), "'))")
  const choices: readonly Value[] = [
    null,
    'approvers.count() >= 2',
    some('ops'),
    some('eng'),
    text("approvers.filter(u, u.tags.contains('", tag('ops'), "')).count() >= 2"),
    text("approvers.any(u, u.id == '", person('bob'), "')"),
    "approvers.any(u, u.email == 'bob@acme.test')",
  ]
  return choices[who]!
}

const condition = (what: number) => (what < RESOURCES.length ? `activity.resource == '${RESOURCES[what]}'` : null)

function quorumOf({ quorum, people }: World): { readonly threshold: number; readonly members: readonly string[] } {
  const able = quorum.members.filter(
    (name) => name === 'alice' || people.some((one) => one.name === name && one.hasKey),
  )
  const members = able.length === 0 ? ['alice'] : able
  return { threshold: Math.min(quorum.threshold, members.length), members }
}

function liveThings(world: World): readonly Resource[] {
  const tag = (name: string) => idFor(`tag.${name}`)
  const user = (name: string) => idFor(`user.${name}`)
  const flat = (value: Value) =>
    typeof value === 'object' && value !== null ? (value as { $text: readonly string[] }).$text.join('') : value
  const { threshold, members } = quorumOf(world)
  const [organization] = bootstrap()
  return [
    organization!,
    live('rootQuorum', { threshold, users: members.map(user) }),
    ...TAGS.map((name) => live(`tag.${name}`)),
    live('user.alice', { email: 'alice@acme.test', tags: world.aliceTags.map(tag) }),
    live('apiKey.alice.laptop', key('alice laptop')),
    ...world.people.flatMap(({ name, tags, hasKey, mail }) => [
      live(`user.${name}`, { email: `${name}@${mail}`, tags: tags.map(tag) }),
      ...(hasKey ? [live(`apiKey.${name}.k`, key(name))] : []),
    ]),
    ...world.policies.map(({ name, effect, who, what }) =>
      live(`policy.${name}`, policy(flat(consensus(who, tag, user)), condition(what), effect)),
    ),
    ...world.wallets.map((name) => live(`wallet.${name}`)),
    ...(world.feature ? [live('feature.AUTH_PROXY')] : []),
  ]
}

function declarations(world: World, gone: World): readonly Resource[] {
  const tag = (name: string) => ref(`tag.${name}`)
  const user = (name: string) => (world.people.some((one) => one.name === name) ? ref(`user.${name}`) : 'nobody')
  const { threshold, members } = quorumOf(world)
  const left = gone.people.filter(({ name }) => !world.people.some((one) => one.name === name))
  return [
    declare('rootQuorum', { threshold, users: members.map((name) => ref(`user.${name}`)) }),
    ...TAGS.map((name) => declare(`tag.${name}`)),
    declare('user.alice', { tags: world.aliceTags.map(tag) }),
    declare('apiKey.alice.laptop', key('alice laptop')),
    ...world.people.flatMap(({ name, tags, hasKey, mail }) => [
      declare(`user.${name}`, { email: `${name}@${mail}`, tags: tags.map(tag) }),
      ...(hasKey ? [declare(`apiKey.${name}.k`, key(name))] : []),
    ]),
    ...left.map(({ name }) => declare(`user.${name}`, {}, { tombstone: true })),
    ...world.policies.map(({ name, effect, who, what }) =>
      declare(`policy.${name}`, policy(consensus(who, tag, user), condition(what), effect)),
    ),
    ...['cold', 'hot'].filter((name) => world.wallets.includes(name)).map((name) => declare(`wallet.${name}`)),
    ...(world.feature ? [declare('feature.AUTH_PROXY')] : []),
  ]
}

/**
 * Walks a plan: submits what may be submitted and completes what was, one step at a time, in the order of `choose`.
 * Returns what came of every batch when it was submitted and, once more, just before it completed.
 */
function walk(plan: Plan, model: Model, choose: (n: number) => number): ReadonlyMap<number, readonly Forecast[]> {
  const ids: Record<Address, string> = { ...plan.ids }
  const seen = new Map<number, Forecast[]>()
  const state = plan.batches.map((): 'idle' | 'submitted' | 'done' => 'idle')
  const judge = (index: number): Forecast => {
    const { type, parameters } = plan.batches[index]!
    const now = { things: model.actual().resources }
    const organization = organizationOf(now.things)
    const submitter = actingVoter(organization, plan.actor)
    if (!submitter) return { outcome: 'denied', reason: 'alice will not be a user any more' }
    const filled = fillParameters(parameters, ids) as Readonly<Record<string, unknown>>
    const policies = policiesOf(now, createPolicyCompiler())
    return outcomeOf({
      type,
      parameters: filled,
      submitter,
      state: now,
      organization,
      policies,
      nowMs: Date.parse(NOW),
    })
  }
  for (;;) {
    const steps = plan.batches.flatMap(({ index, after }) => {
      if (state[index] === 'submitted') return seen.get(index)!.at(-1)!.outcome === 'denied' ? [] : [index]
      return state[index] === 'idle' && after.every((one) => state[one] === 'done') ? [index] : []
    })
    if (steps.length === 0) return seen
    const index = steps[choose(steps.length)]!
    const came = judge(index)
    seen.set(index, [...(seen.get(index) ?? []), came])
    if (state[index] === 'idle') state[index] = 'submitted'
    else if (came.outcome !== 'denied') {
      const batch = plan.batches[index]!
      const result = model.submit(batch.type, fillParameters(batch.parameters, ids) as never)
      Object.assign(ids, collectIds(batch, result))
      state[index] = 'done'
    }
  }
}

function check(plan: Plan, things: readonly Resource[], seed: number): void {
  let at = seed
  const seen = walk(plan, new Model(things), (n) => {
    at = (at * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((at / 2_147_483_648) * n)
  })
  for (const { index, forecast: said } of plan.batches) {
    for (const came of seen.get(index)!) expect({ index, ...came }).toEqual({ index, ...said! })
  }
}

describe('forecast', () => {
  test('in every order that the plan allows, every activity comes out as it was forecast', () => {
    let walked = 0
    fc.assert(
      fc.property(worlds, worlds, fc.array(fc.nat(), { minLength: 4, maxLength: 4 }), (before, after, seeds) => {
        const things = liveThings(before)
        const desired = declarations(after, before)
        const lock = lockOfDeclared(things, desired)
        const input = planInput({
          desired,
          actual: things,
          lock,
          manageAll: ['policy', 'apiKey'],
        })
        const { plan } = makePlan(input)
        const annotated = forecast(plan, input)
        // A plan with a denial is refused whole.
        if (annotated.batches.some(({ forecast: said }) => /denied|depends/.test(said!.outcome))) return
        walked++
        for (const seed of seeds) check(annotated, things, seed)
      }),
      { numRuns: runs(120) },
    )
    expect(walked).toBeGreaterThan(10)
  })

  test('acme: what is made after the quorum is raised waits for it; what decides nothing else is approved in two rounds', () => {
    const desired = acme().filter(({ address }) => address !== 'policy.engineering-wallets')
    const input = planInput({ desired })
    const { plan } = planWithForecast(input)
    for (let seed = 0; seed < 50; seed++) check(plan, bootstrap(), seed)
    const quorum = plan.batches.find(({ type }) => type.endsWith('ROOT_QUORUM'))!.index
    for (const { index, after } of plan.batches) if (index > quorum) expect(after).not.toEqual([])
    expect(approvalRounds(plan)).toBe(2)
  })

  test('definitions/acme: after the quorum, everything is approved in two rounds', async () => {
    const keys = ['alice', 'bob', 'carol'].map((name) => [`${name}PublicKey`, generateP256KeyPair().publicKey])
    const folder = join(import.meta.dirname, '../../definitions/acme')
    const { desired } = await loadDefinitions(folder, {
      env: { ACME_ORGANIZATION_ID: ORGANIZATION },
      vars: Object.fromEntries(keys),
    })
    const { plan } = planWithForecast({ ...planInput({}), desired: desired! })
    expect(plan.batches.filter(({ forecast: said }) => said!.outcome === 'waits')).toHaveLength(6)
    expect(approvalRounds(plan)).toBe(2)
  })

  test('of two orders that are as safe, the one with fewer rounds of approval is taken', () => {
    const things = [
      ...bootstrap().filter(({ kind }) => kind !== 'rootQuorum'),
      live('rootQuorum', { threshold: 2, users: [idFor('user.alice'), idFor('user.bob')] }),
      live('tag.ops'),
      live('user.bob'),
      live('apiKey.bob.k', key('bob')),
    ]
    const desired = [
      declare('user.alice', { tags: [ref('tag.ops')] }),
      declare('policy.people', policy(null, "activity.resource == 'USER'")),
    ]
    const input = planInput({ desired, actual: things, lock: lockOfDeclared(things, desired) })
    const types = (plan: Plan) => plan.batches.map(({ type, forecast: said }) => [type.slice(14), said!.outcome])
    expect(types(forecast(makePlan(input).plan, input))).toEqual([
      ['UPDATE_USER', 'waits'],
      ['CREATE_POLICIES', 'waits'],
    ])
    expect(types(planWithForecast(input).plan)).toEqual([
      ['CREATE_POLICIES', 'waits'],
      ['UPDATE_USER', 'completes'],
    ])
  })
})
