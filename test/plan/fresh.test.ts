import { describe, expect, test } from 'vitest'
import { checkFresh, liveDigest, movedSince } from '../../src/plan/index.ts'
import type { Resource } from '../../src/resources/index.ts'
import {
  actualOf,
  bootstrap,
  declare,
  desiredOf,
  idFor,
  key,
  live,
  lockOfDeclared,
  policy,
  ref,
} from './organization.ts'
import { planOf } from './planning.ts'

const world: readonly Resource[] = [
  ...bootstrap(),
  live('tag.a'),
  live('user.bob', { tags: [idFor('tag.a')], email: 'bob@acme.test', phone: '+15550001' }),
  live('apiKey.bob.k', key('bob')),
  live('policy.stray', policy(null, null)),
  live('wallet.cold'),
  live('wallet.stray'),
]
const desired = [declare('user.bob', { tags: [ref('tag.a')] }), declare('wallet.cold'), declare('wallet.new')]
const lock = lockOfDeclared(world, desired)
const plan = planOf({ desired, actual: world, lock })

const without = (address: string) => world.filter((one) => one.address !== address)
const edit = (address: string, fields: Resource['fields']) =>
  world.map((one) => (one.address === address ? { ...one, fields: { ...one.fields, ...fields } } : one))

describe('fresh', () => {
  const cases: readonly { name: string; now: readonly Resource[]; moved: readonly string[] }[] = [
    { name: 'nothing moved', now: [...world].reverse(), moved: [] },
    { name: 'a field that nobody manages', now: edit('user.bob', { phone: '+15550002' }), moved: [] },
    {
      name: 'a set in another order, an address in another case',
      now: edit('user.bob', { email: 'BOB@acme.test' }),
      moved: [],
    },
    { name: 'a key of somebody outside the quorum', now: without('apiKey.bob.k'), moved: [] },
    { name: 'an undeclared wallet', now: without('wallet.stray'), moved: [] },
    { name: 'a managed field', now: edit('user.bob', { tags: [] }), moved: ['`user.bob` has another `tags`'] },
    {
      name: 'an undeclared policy',
      now: edit('policy.stray', { condition: 'false' }),
      moved: ['`policy.stray` has another `condition`'],
    },
    { name: 'a policy that is gone', now: without('policy.stray'), moved: ['`policy.stray` is gone'] },
    { name: 'a new policy', now: [...world, live('policy.new', policy(null, null))], moved: ['`policy.new` is new'] },
    { name: 'a new user', now: [...world, live('user.eve')], moved: ['`user.eve` is new'] },
    {
      name: 'a new key of a quorum member',
      now: [...world, live('apiKey.alice.x', key('x'))],
      moved: ['`apiKey.alice.x` is new'],
    },
    { name: 'the quorum', now: edit('rootQuorum', { threshold: 2 }), moved: ['`rootQuorum` has another `threshold`'] },
    { name: 'a declared wallet that is gone', now: without('wallet.cold'), moved: ['`wallet.cold` is gone'] },
    { name: 'what the plan would create', now: [...world, live('wallet.new')], moved: ['`wallet.new` is live now'] },
    {
      name: 'another one of the same name',
      now: [...without('policy.stray'), live('policy.stray', policy(null, null), 'id-2')],
      moved: ['`policy.stray` is gone', '`policy.stray` is new'],
    },
  ]
  test.each(cases)('$name', ({ now, moved }) => {
    expect(movedSince(plan, actualOf(now))).toEqual(moved)
    const check = () => checkFresh(plan, actualOf(now))
    if (moved.length === 0) expect(check).not.toThrow()
    else {
      const message = `the organization has moved since the plan was made: ${moved.join('; ')}`
      expect(check).toThrow(expect.objectContaining({ code: 'plan/stale', exit: 5, message }))
    }
    const same = liveDigest(desiredOf(desired), actualOf(now), lock) === plan.liveDigest
    expect(same).toBe(moved.length === 0)
  })

  test('a kind of which all is managed is covered whole', () => {
    const all = planOf({ desired: [declare('feature.SMS_AUTH')], manageAll: ['feature'], actual: bootstrap() })
    expect(movedSince(all, actualOf([...bootstrap(), live('feature.WEBHOOK')]))).toEqual(['`feature.WEBHOOK` is new'])
  })

  test('a new key that bears the name of the old one does not make its own plan stale', () => {
    const given = {
      desired: [declare('user.bob', { tags: [ref('tag.a')] }), declare('apiKey.bob.k', key('new'))],
      actual: world,
    }
    const renewed = planOf({ ...given, lock: lockOfDeclared(world, [declare('user.bob')]) })
    expect(() => checkFresh(renewed, actualOf(world))).not.toThrow()
  })

  test('a plan for another organization is refused', () => {
    const other = { ...actualOf(world), organizationId: 'other' }
    expect(() => checkFresh(plan, other)).toThrow(expect.objectContaining({ code: 'plan/other-organization' }))
  })
})
