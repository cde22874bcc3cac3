/** Drift told apart from a change of the definitions, by what the lock says was applied last. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Lock, makePlan } from '../../src/plan/index.ts'
import type { Resource } from '../../src/resources/index.ts'
import { bootstrap, declare, idFor, live, ORGANIZATION, policy, ref } from './organization.ts'
import { type Given, planInput, planOf } from './planning.ts'

const QUORUM = { threshold: 1, users: [ref('user.alice')] }
const before: readonly Resource[] = [
  declare('rootQuorum', QUORUM),
  declare('tag.ops'),
  declare('user.alice', { tags: [ref('tag.ops')] }),
  declare('policy.ops', policy(null, 'true')),
  declare('feature.SMS_AUTH'),
]
const world: readonly Resource[] = [
  ...bootstrap().map((one) =>
    one.address === 'user.alice' ? { ...one, fields: { ...one.fields, tags: [idFor('tag.ops')] } } : one,
  ),
  live('tag.ops'),
  live('policy.ops', policy(null, 'true')),
  live('feature.SMS_AUTH'),
]
const byAlice = madeByAlice(world)
const applied = lockAfter(before, world)

function madeByAlice(things: readonly Resource[]) {
  return Object.fromEntries(things.map(({ id }) => [id!, { userId: idFor('user.alice'), userName: 'alice' }]))
}

function lockAfter(desired: readonly Resource[], actual: readonly Resource[]): Lock {
  const { plan, lock } = makePlan(planInput({ desired, actual, creators: madeByAlice(actual) }))
  expect(plan.changes).toEqual([])
  return lock()
}

const but = (things: readonly Resource[], address: string, ...instead: readonly Resource[]) => [
  ...things.filter((one) => one.address !== address),
  ...instead,
]
const declares = (address: string, ...instead: readonly Resource[]) => but(before, address, ...instead)
const lives = (address: string, ...instead: readonly Resource[]) => but(world, address, ...instead)
const widened = declare('policy.ops', { ...policy(null, 'true'), condition: "activity.resource == 'WALLET'" })
const narrowed = live('policy.ops', policy(null, 'false'))

describe('drift and definition changes', () => {
  const cases: readonly { readonly name: string; readonly given: Given; readonly causes: readonly string[] }[] = [
    { name: 'nothing differs', given: {}, causes: [] },
    {
      name: 'its definition changed',
      given: { desired: declares('policy.ops', widened) },
      causes: ['update policy.ops: definition changed'],
    },
    {
      name: 'somebody changed it',
      given: { actual: lives('policy.ops', narrowed) },
      causes: ['update policy.ops: live changed'],
    },
    {
      name: 'both changed the same field',
      given: { desired: declares('policy.ops', widened), actual: lives('policy.ops', narrowed) },
      causes: ['update policy.ops: both changed'],
    },
    {
      name: 'the quorum, which has no id of its own, was lowered by somebody',
      given: { desired: before, actual: lives('rootQuorum', live('rootQuorum', { threshold: 1, users: [] })) },
      causes: ['update rootQuorum: live changed'],
    },
    {
      name: 'it is new in the definitions',
      given: { desired: [...before, declare('tag.new')] },
      causes: ['create tag.new: declared only'],
    },
    {
      name: 'somebody deleted it',
      given: { actual: lives('policy.ops') },
      causes: ['create policy.ops: live changed'],
    },
    {
      name: 'somebody took a feature away',
      given: { actual: lives('feature.SMS_AUTH') },
      causes: ['create feature.SMS_AUTH: live changed'],
    },
    {
      name: 'somebody deleted it, and its definition changed',
      given: { desired: declares('policy.ops', widened), actual: lives('policy.ops') },
      causes: ['create policy.ops: both changed'],
    },
    {
      name: 'somebody deleted a tag, and users lost it with that',
      given: {
        actual: but(lives('tag.ops'), 'user.alice', live('user.alice', { email: 'alice@acme.test', tags: [] })),
      },
      causes: ['create tag.ops: live changed', 'update user.alice: live changed'],
    },
    {
      name: 'it was taken out of the definitions',
      given: { desired: declares('policy.ops'), manageAll: ['policy'] },
      causes: ['delete policy.ops: definition changed'],
    },
    {
      name: 'it was marked as to be deleted',
      given: { desired: declares('policy.ops', declare('policy.ops', {}, { tombstone: true })) },
      causes: ['delete policy.ops: definition changed'],
    },
    {
      name: 'it was never in the definitions',
      given: { actual: [...world, live('policy.stray', policy(null, null))], manageAll: ['policy'] },
      causes: ['delete policy.stray: live only'],
    },
    {
      name: 'a definition begins to say something of it',
      given: { desired: declares('user.alice', declare('user.alice', { tags: [ref('tag.ops')], email: 'a@b.test' })) },
      causes: ['update user.alice: definition changed'],
    },
    {
      name: 'it was renamed in the definitions',
      given: {
        desired: declares('policy.ops', declare('policy.best', policy(null, 'true'), { renamedFrom: 'ops' })),
      },
      causes: ['update policy.best: definition changed'],
    },
    {
      name: 'somebody renamed it',
      given: {
        actual: lives('policy.ops', { ...live('policy.other', policy(null, 'true')), id: idFor('policy.ops') }),
      },
      causes: ['update policy.ops: live changed'],
    },
    {
      name: 'what was applied is not known',
      given: {
        desired: declares('policy.ops', widened),
        lock: { [ORGANIZATION]: { 'policy.ops': { id: idFor('policy.ops') } } },
      },
      causes: ['update policy.ops: differs'],
    },
    {
      name: 'there is no lock at all',
      given: { desired: declares('policy.ops', widened), lock: {} },
      causes: ['update policy.ops: differs'],
    },
  ]
  for (const { name, given, causes } of cases) {
    test(name, () => {
      const { changes } = planOf({ desired: before, actual: world, lock: applied, creators: byAlice, ...given })
      expect(changes.map(({ action, address, cause }) => `${action} ${address}: ${cause}`)).toEqual(causes)
    })
  }

  test('where one field was changed here and another there, each says which', () => {
    const { changes } = planOf({
      desired: declares('policy.ops', declare('policy.ops', { ...policy(null, 'true'), effect: 'deny' })),
      actual: lives('policy.ops', narrowed),
      lock: applied,
      creators: byAlice,
    })
    expect(changes.map(({ cause, fields }) => ({ cause, fields }))).toEqual([
      {
        cause: 'both changed',
        fields: [
          { field: 'condition', before: 'false', after: 'true', cause: 'live changed' },
          { field: 'effect', before: 'allow', after: 'deny', cause: 'definition changed' },
        ],
      },
    ])
  })

  test('what differs keeps what was applied to it, and what is equal is remembered as it is now', () => {
    const given = { actual: lives('policy.ops', narrowed), creators: byAlice, lock: applied }
    const drifted = makePlan(planInput({ desired: [...before, declare('wallet.cold')], ...given }))
    expect(drifted.lock()).toEqual(applied)
    const followed = makePlan(
      planInput({ desired: declares('policy.ops', declare('policy.ops', policy(null, 'false'))), ...given }),
    )
    expect(followed.lock()[ORGANIZATION]!['policy.ops']!.applied).not.toBe(
      applied[ORGANIZATION]!['policy.ops']!.applied,
    )
    expect({ ...followed.lock()[ORGANIZATION], 'policy.ops': 0 }).toEqual({ ...applied[ORGANIZATION], 'policy.ops': 0 })
  })

  test('a digest says nothing about another thing: two alike have digests of their own', () => {
    const all = policy(null, null)
    const lock = lockAfter(
      [declare('policy.a', all), declare('policy.b', all)],
      [live('policy.a', all), live('policy.b', all)],
    )
    const [a, b] = Object.values(lock[ORGANIZATION]!)
    expect(a!.applied).toMatch(/^[0-9a-f]{24}$/)
    expect(a!.applied).not.toBe(b!.applied)
  })

  test('for any fields applied, defined and live, each field that differs is told as it came about', () => {
    const text = fc.constantFrom('x', 'y', 'z')
    const fields = fc.record({ consensus: text, condition: text, notes: text })
    fc.assert(
      fc.property(fields, fields, fields, (was, wanted, now) => {
        const full = (some: typeof was) => ({ effect: 'allow', time: null, ...some })
        const lock = lockAfter([declare('policy.p', full(was))], [live('policy.p', full(was))])
        const [change] = planOf({
          desired: [declare('policy.p', full(wanted))],
          actual: [live('policy.p', full(now))],
          lock,
        }).changes
        const names = ['condition', 'consensus', 'notes'] as const
        const differ = names.filter((field) => wanted[field] !== now[field])
        const told = differ.map((field) => (was[field] === now[field] ? 'definition changed' : 'live changed'))
        const onBothSides = names.some((field) => was[field] !== now[field] && was[field] !== wanted[field])
        if (differ.length === 0) expect(change).toBeUndefined()
        else if (onBothSides) expect(change!.cause).toBe('both changed')
        else expect(change!.cause).toBe(new Set(told).size === 1 ? told[0] : 'both changed')
        const causes = change?.fields.flatMap(({ cause }) => cause ?? []) ?? []
        expect(causes).toEqual(!onBothSides && new Set(told).size > 1 ? told : [])
      }),
      { numRuns: 300 },
    )
  })
})
