import { describe, expect, test } from 'vitest'
import { makePlan } from '../../src/plan/index.ts'
import type { Resource } from '../../src/resources/index.ts'
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
} from './organization.ts'
import { type Given, planInput, planOf, steps } from './planning.ts'

/** What is declared and lives was made by the acting user, so that nothing is adopted. */
function ours(given: Given): Given {
  return { lock: lockOfDeclared(given.actual as readonly Resource[], given.desired), ...given }
}

describe('order', () => {
  test('acme: tags, then people with their keys, then the quorum, then everything else', () => {
    expect(steps(planOf({ desired: acme() }))).toEqual([
      'CREATE_USER_TAG: tag.engineering',
      'CREATE_USER_TAG: tag.treasury',
      'CREATE_USERS_V4: apiKey.bob.laptop, apiKey.carol.laptop, user.bob, user.carol',
      'UPDATE_ROOT_QUORUM: rootQuorum',
      'CREATE_POLICIES: policy.engineering-wallets, policy.no-exports',
      'CREATE_WALLET: wallet.payroll',
      `CREATE_WALLET: wallet.treasury, walletAccount.treasury["m/44'/60'/0'/0/0 ethereum"]`,
      'SET_ORGANIZATION_FEATURE: feature.AUTH_PROXY',
      'UPDATE_USER: user.alice',
      'CREATE_POLICIES: policy.treasury-signs',
    ])
  })

  const alicePlus = (...names: readonly string[]) => [
    ...bootstrap(),
    ...names.flatMap((name) => [live(`user.${name}`, { tags: [] }), live(`apiKey.${name}.k`, key(name))]),
  ]
  const quorum = (threshold: number, ...names: readonly string[]) =>
    declare('rootQuorum', { threshold, users: names.map((name) => ref(`user.${name}`)) })
  const withQuorum = (things: readonly Resource[], threshold: number, ...names: readonly string[]) =>
    things.map((one) =>
      one.kind === 'rootQuorum' ? { ...one, fields: { threshold, users: names.map((n) => idFor(`user.${n}`)) } } : one,
    )

  const cases: readonly { name: string; given: Given; expected: readonly string[] }[] = [
    {
      name: 'a quorum is raised after its members have keys, though keys loosen; a feature stays last',
      given: {
        desired: [
          quorum(2, 'alice', 'bob'),
          declare('user.bob'),
          declare('apiKey.bob.k', key('bob')),
          declare('feature.SMS_AUTH'),
        ],
        actual: [...bootstrap(), live('user.bob')],
      },
      expected: [
        'CREATE_API_KEYS_V2: apiKey.bob.k',
        'UPDATE_ROOT_QUORUM: rootQuorum',
        'SET_ORGANIZATION_FEATURE: feature.SMS_AUTH',
      ],
    },
    {
      name: 'a quorum is lowered last',
      given: {
        desired: [quorum(1, 'alice', 'bob'), declare('policy.no', policy(null, null, 'deny'))],
        actual: withQuorum(alicePlus('bob'), 2, 'alice', 'bob'),
      },
      expected: ['CREATE_POLICIES: policy.no', 'UPDATE_ROOT_QUORUM: rootQuorum'],
    },
    {
      name: 'a member leaves the quorum before the user goes',
      given: {
        desired: [quorum(1, 'alice'), declare('user.bob', {}, { tombstone: true })],
        actual: withQuorum(alicePlus('bob'), 1, 'alice', 'bob'),
      },
      expected: ['UPDATE_ROOT_QUORUM: rootQuorum', 'DELETE_USERS: user.bob'],
    },
    {
      name: 'a new key comes before the old one of the same user goes',
      given: {
        desired: [declare('user.bob'), declare('apiKey.bob.k2', key('new'))],
        actual: alicePlus('bob'),
        manageAll: ['apiKey'],
      },
      expected: ['CREATE_API_KEYS_V2: apiKey.bob.k2', 'DELETE_API_KEYS: apiKey.bob.k'],
    },
    {
      name: 'keys that the old quorum cannot do without go after the new one stands, though it lets people in',
      given: {
        desired: [
          quorum(2, 'alice', 'dave'),
          declare('user.bob'),
          declare('user.carol'),
          declare('apiKey.bob.k', {}, { tombstone: true }),
          declare('apiKey.carol.k', {}, { tombstone: true }),
        ],
        actual: withQuorum(alicePlus('bob', 'carol', 'dave'), 2, 'bob', 'carol'),
      },
      expected: ['UPDATE_ROOT_QUORUM: rootQuorum', 'DELETE_API_KEYS: apiKey.bob.k', 'DELETE_API_KEYS: apiKey.carol.k'],
    },
    {
      name: 'an ALLOW that goes comes before an ALLOW that comes',
      given: {
        desired: [declare('policy.new', policy(null, null))],
        actual: [...bootstrap(), live('policy.old', policy(null, null))],
        manageAll: ['policy'],
      },
      expected: ['DELETE_POLICIES: policy.old', 'CREATE_POLICIES: policy.new'],
    },
    {
      name: 'a DENY that comes and an ALLOW that comes share an activity, which happens at once',
      given: {
        desired: [declare('policy.no', policy(null, null, 'deny')), declare('policy.yes', policy(null, null))],
        actual: bootstrap(),
      },
      expected: ['CREATE_POLICIES: policy.no, policy.yes'],
    },
    {
      name: 'what names a tag lets go of it before it is deleted',
      given: {
        desired: [declare('user.bob', { tags: [] }), declare('policy.ops', policy(null, null))],
        actual: [
          ...bootstrap(),
          live('tag.a'),
          live('user.bob', { tags: [idFor('tag.a')] }),
          live('policy.ops', policy(`approvers.any(user, user.tags.contains('${idFor('tag.a')}'))`, null)),
        ],
        manageAll: ['tag'],
      },
      expected: ['UPDATE_USER: user.bob', 'UPDATE_POLICY_V2: policy.ops', 'DELETE_USER_TAGS: tag.a'],
    },
    {
      name: 'an id inside of a note is no reference, and holds up no deletion',
      given: {
        desired: [declare('policy.ops', policy('approvers.count() >= 2', null))],
        actual: [
          ...bootstrap(),
          live('tag.a'),
          live('policy.ops', { ...policy(null, null), notes: `once about ${idFor('tag.a')}` }),
        ],
        manageAll: ['tag'],
      },
      expected: ['DELETE_USER_TAGS: tag.a', 'UPDATE_POLICY_V2: policy.ops'],
    },
    {
      name: 'a name is free before it is taken',
      given: {
        desired: [
          declare('policy.b', policy(null, null), { renamedFrom: 'a' }),
          declare('policy.c', policy(null, null), { renamedFrom: 'b' }),
        ],
        actual: [...bootstrap(), live('policy.a', policy(null, null)), live('policy.b', policy(null, null), 'id-b')],
        lock: { [ORGANIZATION]: { 'policy.b': { id: idFor('policy.a') }, 'policy.c': { id: 'id-b' } } },
      },
      expected: ['UPDATE_POLICY_V2: policy.c', 'UPDATE_POLICY_V2: policy.b'],
    },
    {
      name: 'people who are not in the quorum share the activity of those who are, tags and all',
      given: {
        desired: [
          quorum(2, 'alice', 'bob'),
          declare('user.bob'),
          declare('apiKey.bob.k', key('bob')),
          declare('tag.late'),
          declare('user.zoe', { tags: [ref('tag.late')] }),
          declare('apiKey.zoe.k', key('zoe')),
        ],
        actual: bootstrap(),
      },
      expected: [
        'CREATE_USER_TAG: tag.late',
        'CREATE_USERS_V4: apiKey.bob.k, apiKey.zoe.k, user.bob, user.zoe',
        'UPDATE_ROOT_QUORUM: rootQuorum',
      ],
    },
  ]
  test.each(cases)('$name', ({ given, expected }) => {
    expect(steps(planOf(ours(given)))).toEqual(expected)
  })

  test('the credential in use goes last, in one activity with others of its user where that is last as well', () => {
    const keys = [live('apiKey.alice.old', key('old')), live('apiKey.alice.new', key('new'))]
    const gone = ['apiKey.alice.laptop', 'apiKey.alice.old'].map((one) => declare(one, {}, { tombstone: true }))
    const given = (more: readonly Resource[]) =>
      ours({ desired: [declare('user.alice'), ...gone, ...more], actual: [...bootstrap(), ...keys] })
    expect(steps(planOf(given([])))).toEqual(['DELETE_API_KEYS: apiKey.alice.laptop, apiKey.alice.old'])
    const later = given([declare('policy.wide', policy(null, null)), declare('tag.new')])
    expect(steps(planOf(later))).toEqual([
      'DELETE_API_KEYS: apiKey.alice.old',
      'CREATE_USER_TAG: tag.new',
      'CREATE_POLICIES: policy.wide',
      'DELETE_API_KEYS: apiKey.alice.laptop',
    ])
    expect(planOf(later).batches[3]!.after).toEqual([0, 1, 2])
  })

  test('two names that are exchanged are a circle, which is a diagnostic', () => {
    const { plan, diagnostics } = makePlan(
      planInput({
        desired: [declare('tag.a'), declare('tag.b')],
        actual: [...bootstrap(), live('tag.a', {}, 'id-a'), live('tag.b', {}, 'id-b')],
        lock: { [ORGANIZATION]: { 'tag.a': { id: 'id-b' }, 'tag.b': { id: 'id-a' } } },
      }),
    )
    expect(diagnostics.map(({ code, message }) => `${code}: ${message}`)).toEqual([
      'plan/cycle: changes wait for one another: `tag.a`, `tag.b`',
    ])
    expect(plan.batches).toEqual([])
  })

  test('a batch carries at most what its activity does, and the rest comes in another', () => {
    const names = Array.from({ length: 230 }, (_, index) => `t${String(index).padStart(3, '0')}`)
    const plan = planOf({ desired: names.map((name) => declare(`policy.${name}`, policy(null, null))) })
    expect(plan.batches.map(({ changes }) => changes.length)).toEqual([100, 100, 30])
    expect(plan.batches.flatMap(({ changes }) => changes)).toEqual(names.map((name) => `policy.${name}`))
  })

  test('ids holds what batches refer to and nothing else', () => {
    const condition = text("wallet.id == '", ref('wallet.cold'), "' || wallet.id == '", ref('wallet.new'), "'")
    const plan = planOf(
      ours({
        desired: [declare('policy.ops', policy(null, condition)), declare('wallet.new')],
        actual: [...bootstrap(), live('wallet.cold'), live('wallet.other')],
      }),
    )
    expect(plan.ids).toEqual({ 'wallet.cold': idFor('wallet.cold') })
  })

  test('a tag waits for what names it in an expression that this version cannot read', () => {
    const unreadable = policy(`approvers.any('${idFor('tag.ops')}')`, null)
    const actual = [...bootstrap(), live('tag.ops'), live('policy.p', unreadable)]
    const desired = [declare('tag.ops', {}, { tombstone: true }), declare('policy.p', policy(null, null))]
    const { batches } = planOf(ours({ actual, desired }))
    expect(batches.map(({ type, after }) => [type, after])).toEqual([
      ['ACTIVITY_TYPE_UPDATE_POLICY_V2', []],
      ['ACTIVITY_TYPE_DELETE_USER_TAGS', [0]],
    ])
  })
})
