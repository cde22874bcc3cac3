import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Made,
  makePlan,
  movedSince,
  readPlan,
  renderPlanMarkdown,
  renderPlanText,
  writePlan,
} from '../../src/plan/index.ts'
import { type Address, parseAddress, type Resource } from '../../src/resources/index.ts'
import { actualOf, bootstrap, declare, idFor, key, live, lockOfDeclared, ORGANIZATION, policy } from './organization.ts'
import { type Given, planInput, planOf, rows, steps } from './planning.ts'

const person = (name: string) => [live(`user.${name}`), live(`apiKey.${name}.k`, key(name))]
const world: readonly Resource[] = [
  ...bootstrap(),
  ...person('bob'),
  live('tag.ops'),
  live('policy.loose', policy(null, null)),
  live('feature.SMS_AUTH', {}),
  live('wallet.cold'),
]
const lock = lockOfDeclared(world, world)
const LOOSE = 'policy.loose'
/** Everything that lives is declared, but for these. */
const but = (...gone: readonly Address[]): readonly Resource[] =>
  world
    .filter(({ address }) => !gone.includes(address))
    .map(({ address, fields }) => declare(address, withIds(address, fields)))
const withIds = (address: Address, { name: _, ...fields }: Resource['fields']): Resource['fields'] =>
  address === 'organization' ? { name: 'Acme' } : fields
const given = (more: Given): Given => ({ actual: world, lock, ...more })

describe('removal', () => {
  test('everything declared, nothing to do', () => {
    expect(rows(planOf(given({ desired: but() })))).toEqual([])
  })

  test('a policy taken out of the definitions is deleted, behind its guard, and says where it is known from', () => {
    const lockPlaces = { [ORGANIZATION]: { [LOOSE]: 'acme/quorate.lock.yaml:7:3' } }
    const plan = planOf(given({ desired: but(LOOSE), lockPlaces }))
    expect(plan.changes).toMatchObject([
      { address: LOOSE, action: 'delete', cause: 'definition changed', at: 'acme/quorate.lock.yaml:7:3', batch: 0 },
    ])
    expect(steps(plan)).toEqual(['DELETE_POLICIES: policy.loose'])
    expect(plan.guards.map(({ name, bypass }) => `${name} ${bypass}`)).toEqual([
      'delete --allow-delete',
      'deletes --allow deletes=1',
    ])
    expect(renderPlanText(plan)).toContain('- policy.loose  acme/quorate.lock.yaml:7:3, taken out of the definitions')
    expect(renderPlanText(plan)).not.toContain('No changes.')
    expect(readPlan(writePlan(plan))).toEqual(plan)
  })

  test('what nobody managed is left alone', () => {
    const plan = planOf({ actual: world, lock: {}, creators: {}, desired: [] })
    expect(rows(plan)).toEqual([])
    expect(plan.unmanaged.map(({ address }) => address)).toContain(LOOSE)
  })

  test('a policy that is renamed while it is tightened leaves no loose one', () => {
    const tight = declare('policy.tight', policy('approvers.count() > 1', null))
    expect(rows(planOf(given({ desired: [...but(LOOSE), tight] })))).toEqual([
      'delete policy.loose',
      'create policy.tight',
    ])
    const renamed = declare('policy.tight', policy('approvers.count() > 1', null), { renamedFrom: 'loose' })
    expect(rows(planOf(given({ desired: [...but(LOOSE), renamed] })))).toEqual(['update policy.tight'])
  })

  test('what was renamed outside goes under the name that it was managed by', () => {
    const elsewhere = world.map((one) =>
      one.address === LOOSE
        ? { ...one, address: 'policy.hidden', name: 'hidden', fields: { ...one.fields, name: 'hidden' } }
        : one,
    )
    const plan = planOf(given({ desired: but(LOOSE), actual: elsewhere }))
    expect(plan.changes).toMatchObject([{ address: LOOSE, action: 'delete', id: idFor(LOOSE) }])
  })

  test('a user who is taken out is asked about, with both ways on, and the keys follow the user', () => {
    const plan = planOf(given({ desired: but('user.bob', 'apiKey.bob.k') }))
    expect(rows(plan)).toEqual(['undecided user.bob'])
    expect(plan.batches).toEqual([])
    expect(plan.guards).toMatchObject([{ name: 'removal', addresses: ['user.bob'], bypass: '--allow removal' }])
    expect(plan.guards[0]!.message).toContain('`delete: true`')
    expect(plan.guards[0]!.message).toContain('`forget:`')
    expect(renderPlanText(plan)).toContain('? user.bob')
    expect(renderPlanText(plan)).not.toContain('No changes.')
    expect(renderPlanMarkdown(plan)).toContain('? user.bob')
    expect(plan.unmanaged.map(({ address }) => address)).toEqual(['apiKey.bob.k', 'user.bob'])
  })

  test('the quorum, which nothing can delete, is asked about too', () => {
    const plan = planOf(given({ desired: but('rootQuorum') }))
    expect(rows(plan)).toEqual(['undecided rootQuorum'])
    expect(plan.guards[0]!.message).toContain('it cannot be deleted')
  })

  test('a key taken away from a user who stays is deleted', () => {
    const plan = planOf(given({ desired: but('apiKey.bob.k') }))
    expect(rows(plan)).toEqual(['delete apiKey.bob.k'])
    expect(plan.guards.map(({ name }) => name)).toEqual(['delete', 'deletes'])
  })

  test('the key in use, taken out of its file, is not deleted without a word', () => {
    const plan = planOf(given({ desired: but('apiKey.alice.laptop') }))
    expect(plan.guards.map(({ name }) => name)).toEqual(['delete', 'deletes', 'lock-out', 'credential-in-use'])
  })

  test('what is forgotten is handed back with what it holds: a row, no activity, and no row of the lock', () => {
    const forget = ['user.bob', LOOSE]
    const made = makePlan(planInput(given({ desired: but('user.bob', 'apiKey.bob.k', LOOSE), forget })))
    expect(rows(made.plan)).toEqual(['forget user.bob', 'forget policy.loose'])
    expect(made.plan.batches).toEqual([])
    expect(made.plan.guards).toEqual([])
    const kept = Object.keys(made.lock()[ORGANIZATION]!)
    expect(kept).not.toContain('user.bob')
    expect(kept).not.toContain('apiKey.bob.k')
    expect(kept).not.toContain(LOOSE)
    const next = planOf({ actual: world, lock: made.lock(), desired: but('user.bob', 'apiKey.bob.k', LOOSE), forget })
    expect(rows(next)).toEqual([])
    expect(next.unmanaged.map(({ address }) => address)).toEqual(['apiKey.bob.k', LOOSE, 'user.bob'].sort())
  })

  test('what is forgotten stays under `manage: all` as well', () => {
    const more: Given = { desired: but(LOOSE), manageAll: ['policy'] }
    expect(rows(planOf(given(more)))).toEqual(['delete policy.loose'])
    expect(rows(planOf(given({ ...more, forget: [LOOSE] })))).toEqual(['forget policy.loose'])
    expect(rows(planOf({ ...more, actual: world, lock: lockOfDeclared(world, but(LOOSE)), forget: [LOOSE] }))).toEqual(
      [],
    )
  })

  test('the lock keeps what is to go until it is gone, and then says so once', () => {
    const waiting = makePlan(planInput(given({ desired: but(LOOSE) })))
    expect(waiting.lock()[ORGANIZATION]).toHaveProperty([LOOSE])
    const actual = world.filter(({ address }) => address !== LOOSE)
    const after = makePlan(planInput({ actual, lock, desired: but(LOOSE) }))
    expect(rows(after.plan)).toEqual([])
    expect(after.plan.gone).toEqual([LOOSE])
    expect(renderPlanText(after.plan)).toContain(
      '1 row of the lock names what is neither defined nor live any more: policy.loose; the next apply takes it out',
    )
    expect(after.lock()[ORGANIZATION]).not.toHaveProperty([LOOSE])
    expect(planOf({ actual, lock: after.lock(), desired: but(LOOSE) }).gone).toBeUndefined()
  })

  test('a tombstone that waits keeps its row, so that taking the tombstone out again is no way to be forgotten', () => {
    const tombstone = declare('user.bob', {}, { tombstone: true })
    const made = makePlan(planInput(given({ desired: [...but('user.bob', 'apiKey.bob.k'), tombstone] })))
    expect(made.lock()[ORGANIZATION]).toHaveProperty(['user.bob'])
  })

  test('what an apply made since the lock was written is ours, with what came along and the fields that it set', () => {
    const written = {
      [ORGANIZATION]: { 'user.alice': { id: idFor('user.alice'), applied: '0'.repeat(24), managed: [] } },
    }
    const change = (address: Address, action: 'create' | 'update' | 'delete', field?: string) => {
      const fields = field === undefined ? [] : [{ field, after: 'x' }]
      return { address, kind: parseAddress(address)!.kind, action, fields }
    }
    const made: readonly Made[] = [
      { change: change('user.bob', 'create', 'tags'), id: idFor('user.bob') },
      { change: change('apiKey.bob.k', 'create') },
      { change: change('feature.SMS_AUTH', 'create') },
      { change: change('policy.loose', 'create'), id: idFor('policy.loose') },
      { change: change('policy.gone', 'create'), id: idFor('policy.gone') },
      { change: change('tag.ops', 'delete') },
      { change: change('user.alice', 'update', 'tags') },
    ]
    const { lock: next } = makePlan({ ...planInput({ actual: world, lock: written, desired: [] }), made })
    const rows = next()[ORGANIZATION]!
    expect(Object.keys(rows).sort()).toEqual(['apiKey.bob.k', 'feature.SMS_AUTH', LOOSE, 'user.alice', 'user.bob'])
    expect(rows['apiKey.bob.k']!.id).toBe(idFor('apiKey.bob.k'))
    expect(rows['user.bob']!.managed).toEqual(['tags'])
    expect(rows['user.alice']!.managed).toEqual(['tags'])
    const { plan } = makePlan({ ...planInput({ actual: world, lock: written, desired: but(LOOSE) }), made })
    expect(steps(plan)).toEqual(['DELETE_POLICIES: policy.loose'])
    const later = planOf({ actual: world, lock: written, desired: but(LOOSE) })
    expect(later.changes.map(({ address }) => address)).not.toContain(LOOSE)
  })

  test('what was not read is neither live nor gone', () => {
    const unread = { ...actualOf(world.filter(({ kind }) => kind !== 'wallet')), unread: ['wallet' as const] }
    const made = makePlan(planInput({ actual: unread, lock, desired: but('wallet.cold') }))
    expect(made.plan.gone).toBeUndefined()
    expect(made.lock()[ORGANIZATION]).toHaveProperty(['wallet.cold'])
  })

  test('somebody changes what is to go: the plan is stale', () => {
    const plan = planOf(given({ desired: but('feature.SMS_AUTH', LOOSE) }))
    const other = world.filter(({ address }) => address !== 'feature.SMS_AUTH')
    expect(movedSince(plan, actualOf(world))).toEqual([])
    expect(movedSince(plan, actualOf(other))).toEqual(['`feature.SMS_AUTH` is gone'])
  })

  test('whatever is taken out, what goes and what is asked about are together exactly that', () => {
    const lasting = new Set<Address>(['organization', 'rootQuorum', 'user.alice', 'user.bob', 'wallet.cold'])
    const holderOf: Readonly<Record<Address, Address>> = {
      'apiKey.alice.laptop': 'user.alice',
      'apiKey.bob.k': 'user.bob',
    }
    fc.assert(
      fc.property(fc.subarray(world.map(({ address }) => address)), (gone) => {
        const whole = [...gone, ...Object.keys(holderOf).filter((one) => gone.includes(holderOf[one]!))]
        const plan = planOf(given({ desired: but(...whole) }))
        const own = [...new Set(whole)].filter((address) => !gone.includes(holderOf[address] ?? ''))
        expect(rows(plan).toSorted()).toEqual(
          own.map((address) => `${lasting.has(address) ? 'undecided' : 'delete'} ${address}`).toSorted(),
        )
        const open = plan.guards.filter(({ allowed }) => !allowed).flatMap(({ addresses }) => addresses)
        expect(own.filter((address) => !open.includes(address))).toEqual([])
      }),
    )
  })
})
