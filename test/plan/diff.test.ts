import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { makePlan } from '../../src/plan/index.ts'
import { formatAddress, type Resource } from '../../src/resources/index.ts'
import { Model } from './model.ts'
import { bootstrap, declare, idFor, key, live, policy, ref, text } from './organization.ts'
import { type Given, planInput, planOf, rows, steps } from './planning.ts'

/** The live things as a definition would write them. */
function declared(things: readonly Resource[]): readonly Resource[] {
  const names = new Map(things.map(({ id, address }) => [id, address]))
  return things
    .filter(({ kind }) => kind !== 'organization')
    .map(({ address, fields: { name: _name, ...fields } }) => {
      const asReferences = Object.entries(fields).map(([field, value]) => [
        field,
        Array.isArray(value) ? value.map((id) => (names.has(id) ? ref(names.get(id)!) : id)) : value,
      ])
      return declare(address, Object.fromEntries(asReferences))
    })
}

const byAlice = (things: readonly Resource[]) =>
  Object.fromEntries(things.map(({ id }) => [id, { userId: idFor('user.alice'), userName: 'alice' }]))

describe('diff', () => {
  test('what is declared as it lives is no change', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.constantFrom('a', 'b', "o'hara", 'x y', 'é'), { minLength: 0 }),
        fc.boolean(),
        (names, withTags) => {
          const things = [
            ...bootstrap(),
            ...names.flatMap((name) => [
              live(formatAddress('tag', name)),
              live(formatAddress('policy', name), policy('approvers.count() > 1', 'true == true')),
              live(formatAddress('user', name), { tags: withTags ? [idFor(formatAddress('tag', name))] : [] }),
              live(formatAddress('apiKey', name, 'k'), key(name)),
            ]),
          ]
          const lock = {
            [planInput({}).desired.organizationId]: Object.fromEntries(
              things.map((one) => [one.address, { id: one.id! }]),
            ),
          }
          const plan = planOf({
            desired: declared(things),
            actual: things,
            lock,
            manageAll: ['tag', 'policy', 'apiKey'],
          })
          expect([plan.changes, plan.batches, plan.unmanaged, plan.guards]).toEqual([[], [], [], []])
        },
      ),
    )
  })

  const tagged = live('user.bob', { email: 'Bob@Acme.test', tags: [idFor('tag.a'), idFor('tag.b')] })
  const world = [...bootstrap(), live('tag.a'), live('tag.b'), tagged]
  const creators = Object.fromEntries(world.map(({ id }) => [id, { userId: idFor('user.alice'), userName: 'alice' }]))
  const same: readonly { name: string; desired: Resource }[] = [
    { name: 'the order of a set', desired: declare('user.bob', { tags: [ref('tag.b'), ref('tag.a')] }) },
    { name: 'the case of an e-mail address', desired: declare('user.bob', { email: 'bob@acme.TEST' }) },
    { name: 'a field that is left out', desired: declare('user.bob') },
  ]
  test.each(same)('$name is no change', ({ desired }) => {
    expect(planOf({ desired: [desired], actual: world, creators }).changes).toEqual([])
  })

  test('an address that is taken away is an activity of its own, and the model ends without it', () => {
    const desired = [declare('user.bob', { email: null, phone: null, tags: [] })]
    const things = [
      ...bootstrap(),
      live('tag.a'),
      live('user.bob', { email: 'b@a.test', phone: '+155', tags: [idFor('tag.a')] }),
    ]
    const plan = planOf({ desired, actual: things, creators: byAlice(things) })
    expect(plan.batches.map(({ type, parameters }) => [type.slice('ACTIVITY_TYPE_'.length), parameters])).toEqual([
      ['UPDATE_USER', { userId: idFor('user.bob'), userTagIds: [] }],
      ['UPDATE_USER_EMAIL', { userId: idFor('user.bob'), userEmail: '' }],
      ['UPDATE_USER_PHONE_NUMBER', { userId: idFor('user.bob'), userPhoneNumber: '' }],
    ])
    expect(plan.changes.map(({ fields, batch }) => [fields.map(({ field }) => field), batch])).toEqual([
      [['tags'], 0],
      [['email'], 1],
      [['phone'], 2],
    ])
    const model = new Model(things)
    model.apply(plan, {})
    expect(planOf({ desired, actual: model.actual(), creators: byAlice(things) }).changes).toEqual([])
  })

  test.each([
    { field: 'email', value: 'new@a.test', type: 'UPDATE_USER_EMAIL' },
    { field: 'phone', value: '+1555', type: 'UPDATE_USER_PHONE_NUMBER' },
  ])('a change of $field alone is said by the activity for it', ({ field, value, type }) => {
    const things = [...bootstrap(), live('user.bob', {})]
    const plan = planOf({
      desired: [declare('user.bob', { [field]: value })],
      actual: things,
      creators: byAlice(things),
    })
    expect(steps(plan)).toEqual([`${type}: user.bob`])
  })

  test('an update says before and after by field, with names instead of ids', () => {
    const condition = text("wallet.id == '", ref('wallet.cold'), "'")
    const plan = planOf({
      desired: [declare('policy.ops', policy(null, condition)), declare('wallet.cold')],
      actual: [
        ...bootstrap(),
        live('policy.ops', policy(null, `wallet.id == '${idFor('wallet.hot')}'`)),
        live('wallet.hot'),
      ],
      creators: { [idFor('policy.ops')]: { userId: idFor('user.alice'), userName: 'alice' } },
    })
    const [change] = plan.changes
    expect(change).toEqual({
      address: 'policy.ops',
      kind: 'policy',
      action: 'update',
      cause: 'differs',
      fields: [{ field: 'condition', before: "wallet.id == '${wallet.hot}'", after: "wallet.id == '${wallet.cold}'" }],
      id: idFor('policy.ops'),
      batch: 1,
    })
    expect(plan.batches[1]!.parameters).toEqual({ policyId: idFor('policy.ops'), policyCondition: condition })
    expect(plan.batches[1]!.after).toEqual([0])
  })

  test('a rename is an update of the name', () => {
    const lock = { [planInput({}).desired.organizationId]: { 'tag.old': { id: idFor('tag.old') } } }
    const given: Given = {
      desired: [declare('tag.new', {}, { renamedFrom: 'old' })],
      actual: [...bootstrap(), live('tag.old')],
      lock,
    }
    expect(planOf(given).changes[0]!.fields).toEqual([{ field: 'name', before: 'old', after: 'new' }])
  })

  test('a field that is fixed for life is a diagnostic, and no change', () => {
    const { plan, diagnostics } = makePlan(
      planInput({
        desired: [declare('user.alice'), declare('apiKey.alice.laptop', { ...key('alice laptop'), expiresIn: 60 })],
      }),
    )
    expect(diagnostics.map(({ code, message }) => ({ code, message }))).toEqual([
      {
        code: 'plan/immutable',
        message:
          '`expiresIn` of `apiKey.alice.laptop` cannot be changed: a key keeps it for life; register a new key beside it, then delete this one',
      },
    ])
    expect(plan.changes).toEqual([])
  })

  test('a reference to what is neither defined nor live is a diagnostic', () => {
    const { diagnostics } = makePlan(planInput({ desired: [declare('user.bob', { tags: [ref('tag.nowhere')] })] }))
    expect(diagnostics.map(({ code, message }) => `${code}: ${message}`)).toEqual([
      'plan/unknown-reference: `tag.nowhere` is neither defined nor live',
    ])
  })
})

describe('ownership', () => {
  const mallory = live('user.mallory')
  const things = [
    ...bootstrap(),
    live('tag.a'),
    live('tag.b'),
    mallory,
    live('apiKey.mallory.k', key('k')),
    live('wallet.cold'),
  ]
  const cases: readonly { name: string; given: Given; expected: readonly string[]; unmanaged: readonly string[] }[] = [
    {
      name: 'live and undeclared is left alone',
      given: { desired: [declare('tag.a')] },
      expected: [],
      unmanaged: ['apiKey.alice.laptop', 'apiKey.mallory.k', 'tag.b', 'user.alice', 'user.mallory', 'wallet.cold'],
    },
    {
      name: '`manage: all` deletes the undeclared of that kind alone',
      given: { desired: [declare('tag.a')], manageAll: ['tag'] },
      expected: ['delete tag.b'],
      unmanaged: ['apiKey.alice.laptop', 'apiKey.mallory.k', 'user.alice', 'user.mallory', 'wallet.cold'],
    },
    {
      name: 'users and wallets are never deleted by `manage: all`, nor what an undeclared user holds',
      given: { desired: [declare('tag.a'), declare('tag.b')], manageAll: ['user', 'wallet', 'apiKey'] },
      expected: [],
      unmanaged: ['apiKey.alice.laptop', 'apiKey.mallory.k', 'user.alice', 'user.mallory', 'wallet.cold'],
    },
    {
      name: 'a tombstone deletes, and what the thing holds goes with it without rows of its own',
      given: { desired: [declare('user.mallory', {}, { tombstone: true })], manageAll: ['apiKey'] },
      expected: ['delete user.mallory'],
      unmanaged: ['apiKey.alice.laptop', 'tag.a', 'tag.b', 'user.alice', 'wallet.cold'],
    },
    {
      name: 'a tombstone of what does not live is no change',
      given: { desired: [declare('wallet.gone', {}, { tombstone: true })] },
      expected: [],
      unmanaged: [
        'apiKey.alice.laptop',
        'apiKey.mallory.k',
        'tag.a',
        'tag.b',
        'user.alice',
        'user.mallory',
        'wallet.cold',
      ],
    },
  ]
  const creators = Object.fromEntries(things.map(({ id }) => [id, { userId: idFor('user.alice'), userName: 'alice' }]))
  test.each(cases)('$name', ({ given, expected, unmanaged }) => {
    const plan = planOf({ actual: things, creators, ...given })
    expect(rows(plan)).toEqual(expected)
    expect(plan.unmanaged.map(({ address }) => address)).toEqual(unmanaged)
  })

  test('two undeclared twins are both deleted under `manage: all`', () => {
    const twins = [live('tag.x', {}, 'id-1'), live('tag.x', {}, 'id-2')]
    const plan = planOf({ actual: [...bootstrap(), ...twins], manageAll: ['tag'] })
    expect(steps(plan)).toEqual(['DELETE_USER_TAGS: tag.x, tag.x'])
    expect(plan.batches[0]!.parameters).toEqual({ userTagIds: ['id-1', 'id-2'] })
  })
})
