/** Who could take a plan back once it is carried out: by example. `undo-played.test.ts` plays what is said in the service. */
import { describe, expect, test } from 'vitest'
import { planWithForecast } from '../../src/analysis/index.ts'
import { type Plan, renderPlanMarkdown, renderPlanText, undoLines } from '../../src/plan/index.ts'
import type { Resource } from '../../src/resources/index.ts'
import { bootstrap, declare, idFor, key, live, lockOfDeclared, policy, ref, text } from '../plan/organization.ts'
import { type Given, planInput } from '../plan/planning.ts'

const [organization, , alice, aliceKey] = bootstrap() as [Resource, Resource, Resource, Resource]
const is = (name: string) => `approvers.any(u, u.id == '${idFor(`user.${name}`)}')`
const person = (name: string) => [
  live(`user.${name}`, { email: `${name}@acme.test`, tags: [] }),
  live(`apiKey.${name}.k`, key(name)),
]
const quorum = (threshold: number, ...names: readonly string[]) =>
  live('rootQuorum', { threshold, users: names.map((name) => idFor(`user.${name}`)) })
const TRIO = [organization, quorum(2, 'alice', 'bob', 'carol'), alice, aliceKey, ...person('bob'), ...person('carol')]
const gone = (address: string, fields = {}) => declare(address, fields, { tombstone: true })

function planOf(given: Given): Plan {
  const actual = (given.actual ?? bootstrap()) as readonly Resource[]
  const lock = lockOfDeclared(actual, given.desired)
  const { plan, diagnostics } = planWithForecast(planInput({ lock, allow: ['deletes=9'], ...given }))
  expect(diagnostics).toEqual([])
  return plan
}
const linesOf = (given: Given) => undoLines(planOf(given)).map(({ sign, text: said }) => `${sign} ${said}`)
const guardsOf = (plan: Plan) => plan.guards.filter(({ name }) => name === 'no-undo')

describe('undo', () => {
  const may = (name: string, condition: string) => live(`policy.${name}-may`, policy(is(name), condition))
  const cases: readonly { name: string; given: Given; expected: readonly string[] }[] = [
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
        '! a key that is exported before it is taken back stays with whoever exported it',
      ],
    },
    {
      name: 'what an earlier activity opens counts in any order',
      given: {
        // Once bob is back, he and alice are the quorum again.
        actual: [organization, quorum(2, 'alice', 'bob'), alice, aliceKey, ...person('bob'), may('alice', 'true')],
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
  ]
  test.each(cases)('$name', ({ given, expected }) => {
    expect(linesOf(given)).toEqual(expected)
  })

  const lockedOut: Given = {
    actual: [organization, quorum(2, 'alice', 'bob'), alice, aliceKey, ...person('bob'), ...person('carol')],
    desired: [declare('user.bob'), gone('apiKey.bob.k')],
    allow: ['deletes=1', 'lock-out'],
  }
  test('a plan that nobody could take back is refused, and its own bypass lets it pass', () => {
    const [guard] = guardsOf(planOf(lockedOut))
    expect(guard).toEqual({
      name: 'no-undo',
      message: 'afterwards nobody could take it back: no set of people could create API key k',
      addresses: ['apiKey.bob.k'],
      bypass: '--allow no-undo',
      allowed: false,
    })
    const passed = planOf({ ...lockedOut, allow: ['deletes=1', 'lock-out', 'no-undo'] })
    expect(guardsOf(passed)).toMatchObject([{ allowed: true }])
  })

  test('who could by changing who decides first is told, and no reason to refuse', () => {
    const actual = [
      ...(lockedOut.actual as readonly Resource[]),
      live('policy.p', policy(is('carol'), "activity.type == 'ACTIVITY_TYPE_CREATE_POLICIES'")),
    ]
    const plan = planOf({ ...lockedOut, actual })
    expect(plan.undo).toMatchObject({ ways: [], byMoves: { people: ['carol'], isConditional: false } })
    expect(guardsOf(plan)).toEqual([])
  })

  test('where credentials were not read, nobody is not said', () => {
    const input = planInput({ ...lockedOut, lock: lockOfDeclared(lockedOut.actual as [], lockedOut.desired) })
    const { plan } = planWithForecast({ ...input, actual: { ...input.actual, unread: ['authenticator'] } })
    expect(plan.undo).toMatchObject({ ways: [], unknown: 'not read: authenticators' })
    expect(guardsOf(plan)).toEqual([])
  })

  test('who gains export is told that a key stays exported', () => {
    const given = { desired: [declare('policy.p', policy(null, "activity.action == 'EXPORT'"))] }
    const actual = [...TRIO, live('wallet.cold')]
    expect(linesOf({ ...given, actual })).toContain(
      '! a key that is exported before it is taken back stays with whoever exported it',
    )
  })

  test('text and Markdown tell it', () => {
    const plan = planOf(lockedOut)
    expect(renderPlanText(plan)).toMatch(/^Undo\n {2}! nobody can take it back, in 1 activity: /m)
    expect(renderPlanText(plan)).toContain('to let it pass, add --allow no-undo')
    expect(renderPlanMarkdown(plan)).toMatch(/^\*\*Undo\*\*\n\n- `!` \*\*nobody can take it back/m)
  })

  test('many activities are undone in their order, and one that must wait is found', () => {
    const wallets = Array.from({ length: 30 }, (_, at) => declare(`wallet.w${at}`, { mnemonicLength: 12 }))
    expect(linesOf({ actual: TRIO, desired: wallets })).toEqual([
      '  any 2 of alice, bob, carol can take it back, in 30 activities',
    ])
  })
})
