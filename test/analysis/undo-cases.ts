/** Plans, and who could take each back: `undo.test.ts` checks the analysis by them, `other-mutants.long.ts` that they find mistakes in it. */
import type { Resource } from '../../src/resources/index.ts'
import { bootstrap, declare, idFor, key, live, policy, ref, text } from '../plan/organization.ts'
import type { Given } from '../plan/planning.ts'

export const [organization, , alice, aliceKey] = bootstrap() as [Resource, Resource, Resource, Resource]
export const is = (name: string) => `approvers.any(u, u.id == '${idFor(`user.${name}`)}')`
export const person = (name: string) => [
  live(`user.${name}`, { email: `${name}@acme.test`, tags: [] }),
  live(`apiKey.${name}.k`, key(name)),
]
export const quorum = (threshold: number, ...names: readonly string[]) =>
  live('rootQuorum', { threshold, users: names.map((name) => idFor(`user.${name}`)) })
export const TRIO = [
  organization,
  quorum(2, 'alice', 'bob', 'carol'),
  alice,
  aliceKey,
  ...person('bob'),
  ...person('carol'),
]
const DUO = [organization, quorum(2, 'alice', 'bob'), alice, aliceKey, ...person('bob')]
export const gone = (address: string, fields = {}) => declare(address, fields, { tombstone: true })

const may = (name: string, condition: string) => live(`policy.${name}-may`, policy(is(name), condition))
/** The plans are made at night. */
const WINDOWS = { night: "22 * * *', '8h", day: "6 * * *', '16h" }
const timed = (when: keyof typeof WINDOWS, name: string, condition: string) =>
  live(`policy.${name}-${when}`, { ...policy(is(name), condition), time: `CronSpan('0 ${WINDOWS[when]}', 'UTC')` })
const CREDENTIALS = "activity.action == 'CREATE' && activity.resource == 'CREDENTIAL'"
const TAGS = "activity.kind == 'DELETE_USER_TAGS'"
const WALLETS = "activity.resource == 'WALLET'"
const bobLeaves = (...more: readonly Resource[]): Given => ({
  actual: [...DUO, ...person('carol'), ...more],
  allow: ['deletes=1', 'lock-out'],
  desired: [declare('user.bob'), gone('apiKey.bob.k')],
})
const TWO_MADE = [declare('tag.ops'), declare('wallet.cold', { mnemonicLength: 12 })]
/** Dora, who is the root quorum, has no way to vote. */
const twoMade = (...more: readonly Resource[]): Given => ({
  actual: [organization, quorum(1, 'dora'), live('user.dora', { tags: [] }), ...TRIO.slice(2), ...more],
  desired: TWO_MADE,
})
const DELETIONS = {
  tags: TAGS,
  wallets: WALLETS,
  users: "activity.type == 'ACTIVITY_TYPE_DELETE_USERS'",
}
export const CASES: readonly { name: string; given: Given; expected: readonly string[] }[] = [
  { name: 'an empty plan has nothing to take back', given: {}, expected: [] },
  {
    name: 'the root quorum can take back what was made',
    given: { actual: TRIO, desired: [declare('tag.ops'), declare('tag.eng')] },
    expected: ['  any 2 of alice, bob, carol can take it back, in 1 activity'],
  },
  {
    name: 'policies count, and who they let alone comes first',
    given: { actual: [...TRIO, may('carol', "activity.kind == 'DELETE_USER_TAGS'")], desired: [declare('tag.ops')] },
    expected: ['  carol, or alice and bob can take it back, in 1 activity'],
  },
  {
    name: 'of several activities those are told who get all of them',
    given: {
      actual: [
        ...TRIO,
        may('carol', "activity.kind == 'DELETE_USER_TAGS'"),
        may('bob', "activity.resource == 'WALLET'"),
      ],
      desired: [declare('tag.ops'), declare('wallet.cold', { mnemonicLength: 12 })],
    },
    expected: ['  any 2 of alice, bob, carol can take it back, in 2 activities'],
  },
  {
    name: 'it is asked of the state that the plan leaves: a new policy may let somebody, and a lower quorum too',
    given: {
      actual: TRIO,
      allow: ['quorum-lowered'],
      desired: [
        declare('rootQuorum', { threshold: 1, users: [ref('user.alice'), ref('user.bob'), ref('user.carol')] }),
        declare('policy.bob-may', policy(text("approvers.any(u, u.id == '", ref('user.bob'), "')"), null)),
      ],
    },
    expected: [
      '  any 1 of alice, bob, carol can take it back, in 2 activities',
      '! a key that is exported before it is taken back stays with the user who exported it',
    ],
  },
  {
    name: 'what an earlier activity opens counts in any order',
    given: {
      // Once bob is back, he and alice are the quorum again.
      actual: [...DUO, may('alice', 'true')],
      allow: ['deletes=1', 'lock-out'],
      desired: [declare('user.bob'), gone('apiKey.bob.k'), gone('policy.alice-may')],
    },
    expected: ['! nobody can take it back, in 2 activities: no set of people could create API key k'],
  },
  {
    name: 'a deleted wallet and a deleted key are lost, and the rest can be put back',
    given: {
      actual: [...TRIO, live('wallet.cold'), live('privateKey.ops', { curve: 'CURVE_SECP256K1' }), live('tag.ops')],
      desired: [gone('wallet.cold'), gone('privateKey.ops'), gone('tag.ops')],
    },
    expected: [
      '  any 2 of alice, bob, carol can take it back, in 1 activity',
      '! nobody can put privateKey.ops back: the key goes with it, so that a new one has other addresses',
      '! nobody can put wallet.cold back: its mnemonic goes with it, so that a new wallet has other keys and addresses',
    ],
  },
  {
    name: 'a passkey is lost, and with it a user who has nothing else',
    given: {
      actual: [
        ...TRIO,
        live('user.dora', { tags: [] }),
        live('authenticator.dora.yubi', { credentialId: 'aaaa' }),
        live('authenticator.bob.yubi', { credentialId: 'bbbb' }),
      ],
      desired: [gone('user.dora'), declare('user.bob'), gone('authenticator.bob.yubi')],
    },
    expected: [
      '! nobody can put authenticator.bob.yubi back: only its user can register a passkey; have them do it, or write the `attestation` and `challenge` of one that they made',
      '! nobody can put user.dora back: it has no way in but what only its user can register',
    ],
  },
  {
    name: 'who is made again has another id, so that all that names them is written again',
    given: {
      actual: [...TRIO, ...person('dora'), live('policy.d', policy(is('dora'), "activity.action == 'SIGN'"))],
      desired: [gone('user.dora')],
    },
    expected: ['  any 2 of alice, bob, carol can take it back, in 2 activities'],
  },
  {
    name: 'what one activity opens, another is executed by: of some, in any order',
    given: {
      actual: [...DUO, ...person('carol'), may('carol', "activity.resource == 'CREDENTIAL'")],
      allow: ['deletes=1', 'lock-out'],
      desired: [declare('user.bob'), gone('apiKey.bob.k'), declare('tag.ops')],
    },
    expected: ['  alice and bob and carol can take it back, in 2 activities'],
  },
  {
    name: 'what one activity closes, others come before: of many, in some order',
    given: {
      actual: [
        organization,
        quorum(1, 'bob'),
        alice,
        aliceKey,
        live('user.bob', { email: 'bob@acme.test', tags: [] }),
        may('alice', "activity.type == 'ACTIVITY_TYPE_DELETE_POLICIES'"),
      ],
      allow: ['lock-out'],
      desired: [
        declare('policy.own', policy(is('alice'), "activity.resource == 'WALLET'")),
        ...Array.from({ length: 7 }, (_, at) => declare(`wallet.w${at}`, { mnemonicLength: 12 })),
      ],
    },
    expected: ['  alice can take it back, in 8 activities'],
  },
  {
    name: 'by changing who decides first',
    given: {
      actual: [...DUO, ...person('carol'), may('carol', "activity.type == 'ACTIVITY_TYPE_CREATE_POLICIES'")],
      allow: ['deletes=1', 'lock-out'],
      desired: [declare('user.bob'), gone('apiKey.bob.k')],
    },
    expected: [
      '! nobody can take it back as things then are: no set of people could create API key k; carol could by changing who decides first',
    ],
  },
  {
    name: 'where a policy is open now, it is said to be otherwise at other times',
    given: bobLeaves(timed('night', 'carol', CREDENTIALS)),
    expected: ['  carol can take it back, in 1 activity; at other times others can, or nobody'],
  },
  {
    name: 'where a policy opens later, who could then is told as a move that is perhaps possible',
    given: bobLeaves(timed('day', 'carol', CREDENTIALS)),
    expected: [
      '! nobody can take it back as things then are: no set of people could create API key k; carol could by changing who decides first, perhaps',
    ],
  },
  {
    name: 'policies that take turns make no time another',
    given: bobLeaves(timed('night', 'carol', CREDENTIALS), timed('day', 'carol', CREDENTIALS)),
    expected: ['  carol can take it back, in 1 activity'],
  },
  {
    name: 'who gets one of two activities executed at another time, and never both, does not matter',
    given: twoMade(may('carol', 'true'), timed('day', 'bob', WALLETS)),
    expected: ['  carol can take it back, in 2 activities'],
  },
  {
    name: 'who gets both executed at another time does',
    given: twoMade(may('carol', 'true'), timed('day', 'bob', `${WALLETS} || ${TAGS}`)),
    expected: ['  carol can take it back, in 2 activities; at other times others can, or nobody'],
  },
  {
    name: 'so does who gets each executed at a time of its own, where two are needed at every moment',
    given: twoMade(
      timed('night', 'bob', WALLETS),
      timed('night', 'carol', TAGS),
      timed('day', 'bob', TAGS),
      timed('day', 'carol', WALLETS),
    ),
    expected: ['  bob and carol can take it back, in 2 activities; at other times others can, or nobody'],
  },
  {
    name: 'of many activities, it is told where others get any of them executed at another time',
    given: {
      ...twoMade(may('carol', 'true'), timed('day', 'bob', WALLETS)),
      desired: [
        declare('tag.ops'),
        ...Array.from({ length: 7 }, (_, at) => declare(`wallet.w${at}`, { mnemonicLength: 12 })),
      ],
    },
    expected: ['  carol can take it back, in 8 activities; at other times others can, or nobody'],
  },
  {
    name: 'where at each hour another gets all but one of them executed, not every way is followed',
    given: {
      actual: [
        ...(twoMade(may('carol', 'true')).actual as readonly Resource[]),
        ...Object.entries(DELETIONS).flatMap(([kind, condition]) =>
          Array.from({ length: 12 }, (_, hour) => [
            ...person(`${kind}-${hour}`),
            live(`policy.${kind}-${hour}`, {
              ...policy(is(`${kind}-${hour}`), condition),
              time: `CronSpan('0 ${2 * hour} * * *', '2h', 'UTC')`,
            }),
          ]).flat(),
        ),
      ],
      desired: [
        ...TWO_MADE,
        declare('user.erin', { email: 'erin@acme.test' }),
        declare('policy.new', policy('false', 'false')),
      ],
    },
    expected: ['  carol can take it back, in 4 activities; at other times others can, or nobody'],
  },
  {
    name: 'the time of a policy that has no part in it is not told',
    given: bobLeaves(timed('day', 'carol', "activity.action == 'EXPORT'")),
    expected: ['! nobody can take it back, in 1 activity: no set of people could create API key k'],
  },
]
