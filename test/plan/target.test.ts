import { describe, expect, test } from 'vitest'
import { makePlan, readPlan, renderPlanMarkdown, renderPlanText, writePlan } from '../../src/plan/index.ts'
import type { Address, Resource } from '../../src/resources/index.ts'
import { bootstrap, declare, key, live, lockOfDeclared, ORGANIZATION, policy, ref, text } from './organization.ts'
import { type Given, planInput, planOf, rows, steps } from './planning.ts'

const world: readonly Resource[] = [
  ...bootstrap(),
  live('user.bob'),
  live('apiKey.bob.k', key('bob')),
  live('tag.ops'),
  live('policy.loose', policy(null, null)),
  live('wallet.cold'),
]
const lock = lockOfDeclared(world, world)
const withIds = ({ address, fields: { name: _, ...fields } }: Resource): Resource['fields'] =>
  address === 'organization' ? { name: 'Acme' } : fields
/** What lives, declared, but for these. */
const but = (...gone: readonly Address[]): readonly Resource[] =>
  world.filter(({ address }) => !gone.includes(address)).map((one) => declare(one.address, withIds(one)))
const given = (more: Given): Given => ({ actual: world, lock, ...more })

const desk = declare(
  'policy.desk',
  policy(text("approvers.any(user, user.tags.contains('", ref('tag.desk'), "'))"), null),
)
const dana = [declare('user.dana', { tags: [ref('tag.desk')] }), declare('apiKey.dana.laptop', key('dana'))]

describe('target', () => {
  test('a plan of one address has that, and says what else a plan of everything would change', () => {
    const desired = [...but(), declare('tag.new'), declare('tag.other')]
    const plan = planOf(given({ desired, targets: ['tag.new'] }))
    expect(rows(plan)).toEqual(['create tag.new'])
    expect(steps(plan)).toEqual(['CREATE_USER_TAG: tag.new'])
    expect(plan.target).toEqual({
      addresses: ['tag.new'],
      needed: [],
      leftOut: [{ address: 'tag.other', action: 'create' }],
    })
    expect(renderPlanText(plan)).toContain('only tag.new\nleft out: 1 other change (create tag.other)')
    expect(renderPlanMarkdown(plan)).toContain('left out: 1 other change \\(create tag.other\\)')
    expect(readPlan(writePlan(plan))).toEqual(plan)
    expect(rows(planOf(given({ desired })))).toEqual(['create tag.new', 'create tag.other'])
  })

  test('what it refers to and what holds it are included, and said', () => {
    const desired = [...but(), declare('tag.desk'), ...dana, desk]
    const policyAlone = planOf(given({ desired, targets: ['policy.desk'] }))
    expect(rows(policyAlone)).toEqual(['create tag.desk', 'create policy.desk'])
    expect(policyAlone.target!.needed).toEqual([{ address: 'tag.desk', by: 'policy.desk' }])
    expect(renderPlanText(policyAlone)).toContain('with tag.desk, which policy.desk needs')
    const keyAlone = planOf(given({ desired, targets: ['apiKey.dana.laptop'] }))
    expect(rows(keyAlone)).toEqual(['create tag.desk', 'create user.dana', 'create apiKey.dana.laptop'])
    expect(keyAlone.target!.leftOut).toEqual([{ address: 'policy.desk', action: 'create' }])
  })

  test('a former name is told with the one that it has in the definitions, also of what it holds and of what has its new name already', () => {
    const renamed = [...but('user.bob', 'apiKey.bob.k', 'policy.loose')]
    const bert = declare('user.bert', { tags: [] }, { renamedFrom: 'bob' })
    const desired = [
      ...renamed,
      bert,
      declare('apiKey.bert.k', key('bob')),
      declare('policy.tight', policy(null, null)),
    ]
    const old = (target: Address) => () => planOf(given({ desired, actual: moved, lock, targets: [target] }))
    const moved = world.map((one) =>
      one.address === 'policy.loose' ? { ...one, address: 'policy.tight', name: 'tight' } : one,
    )
    expect(old('user.bob')).toThrow('`user.bob` is renamed: it is `user.bert` in the definitions')
    expect(old('apiKey.bob.k')).toThrow('`apiKey.bob.k` is renamed: it is `apiKey.bert.k` in the definitions')
    expect(old('policy.loose')).toThrow('`policy.loose` is renamed: it is `policy.tight` in the definitions')
    expect(rows(planOf(given({ desired, targets: ['user.bert'] })))).toEqual(['update user.bert'])
    const reused = [...desired, declare('policy.loose', policy('approvers.count() >= 2', null))]
    const anew = planOf(
      given({ desired: reused, actual: moved, lock: lockOfDeclared(moved, moved), targets: ['policy.loose'] }),
    )
    expect(rows(anew)).toEqual(['create policy.loose'])
  })

  test('a user is planned with its keys', () => {
    const plan = planOf(given({ desired: [...but(), declare('tag.desk'), ...dana], targets: ['user.dana'] }))
    expect(rows(plan)).toEqual(['create tag.desk', 'create user.dana', 'create apiKey.dana.laptop'])
  })

  test('a deletion takes along who has to let go first', () => {
    const holder = live('user.carl', { tags: [live('tag.ops').id!] })
    const actual = [...world, holder, live('apiKey.carl.k', key('carl'))]
    const desired = [
      ...but('tag.ops'),
      declare('user.carl', { tags: [] }),
      declare('apiKey.carl.k', key('carl')),
      declare('tag.far'),
    ]
    const locked = lockOfDeclared(actual, actual)
    const plan = planOf({ actual, lock: locked, desired, targets: ['tag.ops'], allow: ['delete', 'deletes=1'] })
    expect(rows(plan)).toEqual(['delete tag.ops', 'update user.carl'])
    expect(plan.target).toMatchObject({
      needed: [{ address: 'user.carl', by: 'tag.ops' }],
      leftOut: [{ address: 'tag.far', action: 'create' }],
    })
  })

  test('a guard stops for what is planned alone; what is left out keeps its row of the lock, and is found again', () => {
    const desired = [...but('policy.loose', 'wallet.cold'), declare('tag.new')]
    const input = planInput(given({ desired, targets: ['tag.new'] }))
    const { plan, lock: next } = makePlan(input)
    expect(plan.guards).toEqual([])
    expect(plan.target!.leftOut).toEqual([
      { address: 'policy.loose', action: 'delete' },
      { address: 'wallet.cold', action: 'undecided' },
    ])
    expect(next()[ORGANIZATION]!['policy.loose']).toEqual(lock[ORGANIZATION]!['policy.loose'])
    expect(next()[ORGANIZATION]!['wallet.cold']).toEqual(lock[ORGANIZATION]!['wallet.cold'])
    expect(planOf(given({ desired, targets: ['policy.loose'] })).guards.map(({ name }) => name)).toContain('delete')
    expect(rows(planOf(given({ desired, lock: next() })))).toEqual([
      'create tag.new',
      'delete policy.loose',
      'undecided wallet.cold',
    ])
  })

  test('what would be adopted is not adopted by leaving it out, and is included where a target refers to it', () => {
    const planted = [...world, live('tag.desk')]
    const desired = [...but(), declare('tag.desk'), declare('tag.new'), desk]
    const input = planInput({ actual: planted, lock, desired, targets: ['tag.new'] })
    const { plan, lock: next } = makePlan(input)
    expect(rows(plan)).toEqual(['create tag.new'])
    expect(plan.guards).toEqual([])
    expect(next()[ORGANIZATION]).not.toHaveProperty(['tag.desk'])
    const referring = planOf({ actual: planted, lock, desired, targets: ['policy.desk'] })
    expect(rows(referring)).toEqual(['adopt tag.desk', 'create policy.desk'])
    expect(referring.guards.map(({ name, allowed }) => [name, allowed])).toEqual([['adoption', false]])
  })

  test('nothing to do in it is said of it alone', () => {
    const plan = planOf(given({ desired: [...but(), declare('tag.new')], targets: ['user.bob'] }))
    expect(renderPlanText(plan)).toContain('left out: 1 other change (create tag.new)')
    expect(renderPlanText(plan)).toMatch(/\nNo changes in what `--target` names\.\n$/)
  })

  test('an address that nobody knows is refused with the nearest', () => {
    const plan = (target: Address) => () => planOf(given({ desired: but(), targets: [target] }))
    expect(plan('policy.lose')).toThrow(
      expect.objectContaining({ code: 'plan/unknown-target', next: 'did you mean `policy.loose`?' }),
    )
    expect(plan('treasury')).toThrow(
      expect.objectContaining({ next: 'leave --target out: without it, too, the plan has no changes' }),
    )
    const changing = given({ desired: [...but(), declare('tag.new'), declare('tag.other')], targets: ['treasury'] })
    expect(() => planOf(changing)).toThrow(
      expect.objectContaining({
        next: 'name an address as a plan shows it; the plan without --target changes `tag.new`, `tag.other`',
      }),
    )
    expect(plan('customer-1/policy.x')).toThrow(
      expect.objectContaining({ next: expect.stringContaining('inside sub-organizations') }),
    )
  })
})
