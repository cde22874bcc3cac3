import { describe, expect, test } from 'vitest'
import { parseAllow } from '../../src/plan/index.ts'
import { formatAddress, type Resource } from '../../src/resources/index.ts'
import { bootstrap, declare, idFor, key, live, lockOfDeclared, ref } from './organization.ts'
import { type Given, planOf } from './planning.ts'

const tags = (n: number) => Array.from({ length: n }, (_, index) => live(`tag.t${index}`))
const keep = (n: number) => Array.from({ length: n }, (_, index) => declare(`tag.t${index}`))
const quorum = (threshold: number, ...names: readonly string[]) =>
  declare('rootQuorum', { threshold, users: names.map((name) => ref(`user.${name}`)) })
const liveQuorum = (threshold: number, ...names: readonly string[]) =>
  live('rootQuorum', { threshold, users: names.map((name) => idFor(`user.${name}`)) })
const [organization, , alice, aliceKey] = bootstrap() as [Resource, Resource, Resource, Resource]
const person = (name: string) => [live(`user.${name}`), live(`apiKey.${name}.k`, key(name))]
const declaredAlice = [declare('user.alice'), declare('apiKey.alice.laptop', key('alice laptop'))]

/** Guards as `name allowed: message [bypass]`; what is declared and lives is in the lock. */
function guardsOf(given: Given): readonly string[] {
  const actual = (given.actual ?? bootstrap()) as readonly Resource[]
  const lock = lockOfDeclared(actual, given.desired)
  return planOf({ lock, ...given }).guards.map(
    ({ name, message, bypass, allowed }) => `${name}${allowed ? ' allowed' : ''}: ${message} [${bypass}]`,
  )
}

const TRIO = [
  organization,
  liveQuorum(2, 'alice', 'bob', 'carol'),
  alice,
  aliceKey,
  ...person('bob'),
  ...person('carol'),
]

const PROXY_USER = formatAddress('user', 'Auth Proxy')
const PROXY_POLICY = formatAddress('policy', 'Auth Proxy')
const PROXY_KEY = (name: string) => formatAddress('apiKey', 'Auth Proxy', name)
/** As enabling makes it, and a policy of somebody's that is about its user. */
const PROXY = [
  live(PROXY_USER),
  live(PROXY_KEY('Auth Proxy key'), key('sealed')),
  live(PROXY_POLICY, {
    effect: 'allow',
    consensus: `approvers.any(user, user.id == '${idFor(PROXY_USER)}')`,
  }),
  live('policy.no-codes', {
    effect: 'deny',
    consensus: `approvers.any(user, user.id == '${idFor(PROXY_USER)}')`,
  }),
]

describe('guards', () => {
  const cases: readonly { name: string; given: Given; expected: readonly string[] }[] = [
    {
      name: 'what is made anew just as what goes is asked about: it may be the same under a new name',
      given: {
        desired: [...keep(9), declare('tag.nine')],
        actual: [...bootstrap(), ...tags(10)],
        manageAll: ['tag'],
      },
      expected: [
        'delete: the plan deletes `tag.t9`; if `tag.nine` is `tag.t9` under a new name, say there `renamedFrom: t9` [--allow-delete]',
      ],
    },
    {
      name: 'a deletion is refused without its flag',
      given: { desired: keep(9), actual: [...bootstrap(), ...tags(10)], manageAll: ['tag'] },
      expected: ['delete: the plan deletes `tag.t9` [--allow-delete]'],
    },
    {
      name: 'the flag gives leave, and that is recorded',
      given: { desired: keep(9), actual: [...bootstrap(), ...tags(10)], manageAll: ['tag'], allow: ['delete'] },
      expected: ['delete allowed: the plan deletes `tag.t9` [--allow-delete]'],
    },
    {
      name: 'a mark on the resource gives leave',
      given: { desired: [declare('tag.t0', {}, { tombstone: true })], actual: [...bootstrap(), ...tags(10)] },
      expected: [],
    },
    {
      name: '30 % of a kind is not too many',
      given: {
        desired: keep(7),
        actual: [...bootstrap(), ...tags(10)],
        manageAll: ['tag'],
        allow: new Set(['delete']),
      },
      expected: ['delete allowed: the plan deletes `tag.t7`, `tag.t8` and `tag.t9` [--allow-delete]'],
    },
    {
      name: 'more than 30 % says count, base, limit and the bypass, also when the deletions are marked',
      given: {
        desired: tags(4).map(({ address }) => declare(address, {}, { tombstone: true })),
        actual: [...bootstrap(), ...tags(10)],
      },
      expected: ['deletes: deleting 4 of 10 tags is 40 %, over 30 % [--allow deletes=4]'],
    },
    {
      name: 'a kind may have a limit of its own, stricter or not',
      given: {
        desired: keep(8),
        actual: [...bootstrap(), ...tags(10), live('policy.a'), live('policy.b')],
        manageAll: ['tag', 'policy'],
        deleteLimits: { tag: 10, policy: 100 },
        allow: ['delete'],
      },
      expected: [
        'delete allowed: the plan deletes `policy.a`, `policy.b`, `tag.t8` and `tag.t9` [--allow-delete]',
        'deletes: deleting 2 of 10 tags is 20 %, over 10 % [--allow deletes=2]',
      ],
    },
    {
      name: 'a bypass for fewer deletions does not do, one for as many does',
      given: {
        desired: [],
        actual: [...bootstrap(), live('tag.a'), live('policy.a'), live('policy.b')],
        manageAll: ['tag', 'policy'],
        allow: ['delete', 'deletes=1'],
      },
      expected: [
        'delete allowed: the plan deletes `policy.a`, `policy.b` and `tag.a` [--allow-delete]',
        'deletes allowed: deleting 1 of 1 tag is 100 %, over 30 % [--allow deletes=1]',
        'deletes: deleting 2 of 2 policies is 100 %, over 30 % [--allow deletes=2]',
      ],
    },
    {
      name: 'a long list is cut',
      given: { desired: [], actual: [...bootstrap(), ...tags(9)], manageAll: ['tag'], allow: ['deletes=9'] },
      expected: [
        'delete: the plan deletes `tag.t0`, `tag.t1`, `tag.t2`, `tag.t3`, `tag.t4` and 4 more [--allow-delete]',
        'deletes allowed: deleting 9 of 9 tags is 100 %, over 30 % [--allow deletes=9]',
      ],
    },
    {
      name: 'a quorum that could not be met locks the organization out',
      given: { desired: [quorum(2, 'alice', 'bob'), declare('user.bob', { email: 'bob@acme.test' })] },
      expected: [
        'lock-out: afterwards 1 of 2 quorum members would have credentials, and the root quorum needs 2: nobody could act for the organization [--allow lock-out]',
        'exclusive-credentials: `apiKey.alice.laptop` lets quorum members in and is not in the definitions [--allow exclusive-credentials]',
      ],
    },
    {
      name: 'keys that come with the plan count',
      given: {
        desired: [
          quorum(2, 'alice', 'bob'),
          ...declaredAlice,
          declare('user.bob'),
          declare('apiKey.bob.k', key('bob')),
        ],
      },
      expected: [],
    },
    {
      name: 'keys that go with the plan do not',
      given: {
        desired: [
          ...declaredAlice,
          ...['bob', 'carol'].map((name) => declare(`apiKey.${name}.k`, {}, { tombstone: true })),
          declare('user.bob'),
          declare('user.carol'),
        ],
        actual: TRIO,
        allow: ['deletes=2'],
      },
      expected: [
        'deletes allowed: deleting 2 of 3 API keys is 67 %, over 30 % [--allow deletes=2]',
        'lock-out: afterwards 1 of 3 quorum members would have credentials, and the root quorum needs 2: nobody could act for the organization [--allow lock-out]',
      ],
    },
    {
      name: 'users that go take their keys along',
      given: {
        desired: [
          ...declaredAlice,
          ...['bob', 'carol'].map((name) => declare(`user.${name}`, {}, { tombstone: true })),
        ],
        actual: TRIO,
        allow: ['deletes=2'],
      },
      expected: [
        'deletes allowed: deleting 2 of 3 users is 67 %, over 30 % [--allow deletes=2]',
        'lock-out: afterwards 1 of 3 quorum members would have credentials, and the root quorum needs 2: nobody could act for the organization [--allow lock-out]',
      ],
    },
    {
      name: 'the quorum is lowered',
      given: {
        desired: [
          quorum(1, 'alice', 'bob', 'carol'),
          ...declaredAlice,
          ...['bob', 'carol'].map((name) => declare(`apiKey.${name}.k`, key(name))),
          declare('user.bob'),
          declare('user.carol'),
        ],
        actual: TRIO,
      },
      expected: ['quorum-lowered: the root quorum falls from 2 to 1 [--allow quorum-lowered]'],
    },
    {
      name: 'the credential in use is removed',
      given: {
        desired: [declare('user.alice'), declare('apiKey.alice.laptop', {}, { tombstone: true })],
        actual: [...TRIO, ...['1', '2', '3'].map((n) => live(`apiKey.alice.${n}`, key(n)))],
      },
      expected: [
        'credential-in-use: deleting `apiKey.alice.laptop` takes away the credential in use: this run could not go on after it [--allow credential-in-use]',
        'exclusive-credentials: `apiKey.alice.1`, `apiKey.alice.2` and `apiKey.alice.3` let quorum members in and are not in the definitions [--allow exclusive-credentials]',
      ],
    },
    {
      name: 'an undeclared key of a declared quorum member is somebody else’s way in',
      given: { desired: declaredAlice, actual: [...bootstrap(), live('apiKey.alice.spare', key('spare'))] },
      expected: [
        'exclusive-credentials: `apiKey.alice.spare` lets quorum members in and is not in the definitions [--allow exclusive-credentials]',
      ],
    },
    {
      name: 'what the service keeps for the authentication proxy is not changed, nor is it given power',
      given: {
        desired: [
          ...keep(9),
          declare(PROXY_USER, { tags: [ref('tag.t0')] }),
          declare(PROXY_KEY('mine'), key('mine')),
          ...declaredAlice,
          declare('rootQuorum', { threshold: 1, users: [ref('user.alice'), ref(PROXY_USER)] }),
          declare('policy.no-codes', { effect: 'deny' }),
        ],
        actual: [...bootstrap(), ...tags(9), ...PROXY],
        manageAll: ['policy'],
        allow: ['delete', 'deletes=1'],
      },
      expected: [
        `delete allowed: the plan deletes \`${PROXY_POLICY}\` [--allow-delete]`,
        'deletes allowed: deleting 1 of 2 policies is 50 %, over 30 % [--allow deletes=1]',
        `exclusive-credentials: \`${PROXY_KEY('Auth Proxy key')}\` lets quorum members in and is not in the definitions [--allow exclusive-credentials]`,
        `auth-proxy: \`${PROXY_KEY('mine')}\`, \`${PROXY_POLICY}\` and \`${PROXY_USER}\` are what the service keeps for the authentication proxy: nobody could rely on logging in through it [--allow auth-proxy]`,
        'auth-proxy: the user of the authentication proxy would join the root quorum, by a key that answers everybody [--allow auth-proxy]',
      ],
    },
    {
      name: 'keys of people whom the definitions do not mention are none of theirs',
      given: { desired: [declare('tag.new')], actual: [...TRIO, ...person('mallory')] },
      expected: [],
    },
  ]
  test.each(cases)('$name', ({ given, expected }) => {
    expect(guardsOf(given)).toEqual(expected)
  })

  test('no bypass lets another guard pass', () => {
    const all = ['delete', 'deletes=99', 'lock-out', 'quorum-lowered', 'adoption', 'exclusive-credentials']
    const desired = [declare('apiKey.alice.laptop', {}, { tombstone: true }), declare('user.alice')]
    expect(guardsOf({ desired, allow: all }).filter((text) => !text.includes(' allowed: '))).toEqual([
      expect.stringMatching(/^credential-in-use: /),
    ])
  })

  test('names with control characters are escaped', () => {
    const [text] = guardsOf({
      actual: [...bootstrap(), ...tags(9), live(formatAddress('tag', 'a\u202eb'))],
      desired: keep(9),
      manageAll: ['tag'],
    })
    expect(text).toContain('`tag["a\\u{202e}b"]`')
  })
})

describe('bypasses', () => {
  const wrong: readonly { name: string; text: string; message: string; next: string }[] = [
    {
      name: 'an unknown name',
      text: 'adoptoin',
      message: 'no guard is called `adoptoin`',
      next: 'did you mean `adoption`?',
    },
    {
      name: 'deletes without its number',
      text: 'deletes',
      message: 'expected `deletes` to have a number, as in `deletes=4`, got `deletes`',
      next: 'use the bypass that the guard itself prints',
    },
    {
      name: 'a number where none belongs',
      text: 'lock-out=2',
      message: 'expected `lock-out` to have no value, got `lock-out=2`',
      next: 'use the bypass that the guard itself prints',
    },
  ]
  test.each(wrong)('$name is refused', ({ text, message, next }) => {
    expect(() => parseAllow([text])).toThrow(expect.objectContaining({ code: 'plan/unknown-bypass', message, next }))
  })
})
