import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkFresh, type Lock, makePlan, readPlan, writePlan } from '../../src/plan/index.ts'
import { type Address, formatAddress, type KindName, type Resource } from '../../src/resources/index.ts'
import { runs } from '../runs.ts'
import { Model } from './model.ts'
import { acme, declare, key, policy, ref, text } from './organization.ts'
import { planInput, planOf, rows } from './planning.ts'

const PEOPLE = ['bob', 'carol', 'dave'] as const
const TAGS = ['treasury', 'engineering', 'audit'] as const
const WALLETS = ['cold', 'hot'] as const
const POLICIES = ['p1', 'p2', 'p3', 'p4'] as const

interface Shape {
  readonly tags: readonly string[]
  readonly users: readonly { name: string; tags: readonly string[]; keys: readonly number[] }[]
  readonly wallets: readonly { name: string; accounts: readonly number[] }[]
  readonly policies: readonly { name: string; effect: string; who: number; what: number; notes: string }[]
  readonly features: readonly string[]
  readonly quorum: { members: number; threshold: number }
}

const subset = <T>(of: readonly T[]) => fc.subarray([...of])
const named = <T>(names: readonly string[], rest: Record<string, fc.Arbitrary<T>>) =>
  subset(names).chain((some) => fc.tuple(...some.map((name) => fc.record({ name: fc.constant(name), ...rest }))))

const shapes = fc.record({
  tags: subset(TAGS),
  users: named<unknown>(PEOPLE, { tags: subset(TAGS), keys: fc.subarray([1, 2, 3], { minLength: 1 }) }),
  wallets: named<unknown>(WALLETS, { accounts: subset([0, 1, 2]) }),
  policies: named<unknown>(POLICIES, {
    effect: fc.constantFrom('allow', 'deny'),
    who: fc.nat(5),
    what: fc.nat(5),
    notes: fc.constantFrom('', 'a remark'),
  }),
  features: subset(['AUTH_PROXY', 'SMS_AUTH', 'WEBAUTHN_ORIGINS']),
  quorum: fc.record({ members: fc.nat(3), threshold: fc.integer({ min: 1, max: 3 }) }),
}) as unknown as fc.Arbitrary<Shape>

/** What a shape declares; what an earlier state made and this one lacks is deleted where that needs a tombstone. */
function declarations(shape: Shape): readonly Resource[] {
  const { tags, users, wallets, policies, features, quorum } = shape
  const members = ['alice', ...users.map(({ name }) => name)].slice(0, 1 + quorum.members)
  const pick = (addresses: readonly Address[], n: number) => addresses[n % (addresses.length + 1)]
  const who = [...tags.map((name) => `tag.${name}`), ...users.map(({ name }) => `user.${name}`)]
  const what = wallets.map(({ name }) => `wallet.${name}`)
  const inText = (address: Address | undefined, around: string) =>
    address === undefined ? null : text(`${around}('`, ref(address), "')")
  return [
    declare('rootQuorum', {
      threshold: Math.min(quorum.threshold, members.length),
      users: members.map((name) => ref(`user.${name}`)),
    }),
    ...tags.map((name) => declare(`tag.${name}`)),
    declare('user.alice', { tags: tags.slice(0, 1).map((name) => ref(`tag.${name}`)) }),
    declare('apiKey.alice.laptop', key('alice laptop')),
    ...users.flatMap((user) => [
      declare(`user.${user.name}`, {
        tags: user.tags.filter((tag) => tags.includes(tag)).map((tag) => ref(`tag.${tag}`)),
      }),
      ...user.keys.map((n) => declare(`apiKey.${user.name}.k${n}`, key(`${user.name} ${n}`))),
    ]),
    ...PEOPLE.filter((name) => !users.some((user) => user.name === name)).map((name) =>
      declare(`user.${name}`, {}, { tombstone: true }),
    ),
    ...wallets.flatMap(({ name, accounts }) => [
      declare(`wallet.${name}`),
      ...accounts.map((n) => {
        const path = `m/44'/60'/0'/0/${n}`
        return declare(formatAddress('walletAccount', name, `${path} ethereum`), {
          path,
          curve: 'secp256k1',
          format: 'ethereum',
        })
      }),
    ]),
    ...WALLETS.filter((name) => !wallets.some((wallet) => wallet.name === name)).map((name) =>
      declare(`wallet.${name}`, {}, { tombstone: true }),
    ),
    ...policies.map(({ name, effect, who: w, what: a, notes }) =>
      declare(`policy.${name}`, {
        ...policy(inText(pick(who, w), 'approvers.any'), inText(pick(what, a), 'wallet.is'), effect),
        notes,
      }),
    ),
    ...features.map((name) => declare(`feature.${name}`)),
  ]
}

const ALL_ACCOUNTS = WALLETS.flatMap((name) =>
  [0, 1, 2].map((n) => formatAddress('walletAccount', name, `m/44'/60'/0'/0/${n} ethereum`)),
)
const ALL: readonly KindName[] = ['tag', 'apiKey', 'policy', 'feature']

/** Plans, expects a sound plan, applies it, and expects the next plan to be empty. */
function step(
  model: Model,
  desired: readonly Resource[],
  lock: Lock,
  pick?: (ready: readonly number[]) => number,
): Lock {
  // What the API cannot take away is handed back.
  const forget = ALL_ACCOUNTS.filter((address) => !desired.some((one) => one.address === address))
  const given = { desired, manageAll: ALL, forget, actual: model.actual(), lock }
  const made = makePlan(planInput(given))
  const wrong = made.diagnostics.filter(({ severity }) => severity === 'error')
  expect(wrong.map(({ code, message }) => `${code}: ${message}`)).toEqual([])
  const plan = readPlan(writePlan(made.plan))
  expect(plan).toEqual(made.plan)
  checkFresh(plan, model.actual())
  const carried = plan.batches.flatMap(({ changes }) => changes)
  expect(carried).toHaveLength(plan.changes.filter(({ batch }) => batch !== undefined).length)
  expect(new Set(carried).size).toBe(carried.length)
  const after = model.apply(plan, made.lock(), pick)
  const next = makePlan(planInput({ ...given, actual: model.actual(), lock: after }))
  expect(rows(next.plan)).toEqual([])
  expect(next.plan.batches).toEqual([])
  return next.lock()
}

describe('sequences', () => {
  test('acme: one plan leads from alice alone to the whole organization, and the next is empty', () => {
    const model = new Model()
    const lock = step(model, acme(), {})
    expect(Object.keys(lock[Object.keys(lock)[0]!]!)).toContain('policy.treasury-signs')
  })

  test('any sequence of desired states: each is reached, in any order that the plan leaves open, and then nothing is left to do', () => {
    fc.assert(
      fc.property(fc.array(shapes, { minLength: 1, maxLength: 4 }), fc.nat(), (sequence, seed) => {
        const model = new Model()
        let lock: Lock = {}
        for (const shape of sequence)
          lock = step(model, declarations(shape), lock, (ready) => ready[seed % ready.length]!)
      }),
      { numRuns: runs(30) },
    )
  })

  test('the same things in another order, desired or actual, give the same bytes', () => {
    fc.assert(
      fc.property(shapes, shapes, fc.integer(), (before, after, seed) => {
        const model = new Model()
        const lock = step(model, declarations(before), {})
        const given = { desired: declarations(after), manageAll: ALL, actual: model.actual(), lock }
        const shuffled = planInput({
          ...given,
          actual: { ...given.actual, resources: shuffle(given.actual.resources, seed) },
        })
        const { digest } = planInput(given).desired
        const desired = { ...shuffled.desired, resources: shuffle(given.desired, seed + 1), digest }
        expect(writePlan(makePlan({ ...shuffled, desired }).plan)).toBe(writePlan(planOf(given)))
      }),
      { numRuns: runs(20) },
    )
  })
})

/** A permutation that depends on the seed alone. */
function shuffle<T>(list: readonly T[], seed: number): readonly T[] {
  const keyed = list.map((value, index) => ({ value, rank: Math.sin(seed * 7919 + index * 104729) }))
  return keyed.sort((a, b) => a.rank - b.rank).map(({ value }) => value)
}
