/** Who could take a plan back once it is carried out: by example. `undo-played.test.ts` plays what is said in the service. */
import { describe, expect, test } from 'vitest'
import { planWithForecast } from '../../src/analysis/index.ts'
import { inverseOf } from '../../src/analysis/inverse.ts'
import { type Plan, renderPlanMarkdown, renderPlanText, undoLines } from '../../src/plan/index.ts'
import type { Resource } from '../../src/resources/index.ts'
import { bootstrap, declare, key, live, lockOfDeclared, policy } from '../plan/organization.ts'
import { type Given, planInput } from '../plan/planning.ts'
import { alice, aliceKey, CASES, gone, is, organization, person, quorum, TRIO } from './undo-cases.ts'

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
  test.each(CASES)('$name', ({ given, expected }) => {
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

  test('a key goes before the quorum does, where its members have enough others', () => {
    const both = [organization, alice, aliceKey, ...person('bob')]
    const before = [...both, quorum(1, 'alice')]
    const after = [...both, quorum(2, 'alice', 'bob'), live('apiKey.bob.k2', key('bob2'))]
    const { actual, baseUrl, now } = planInput({ actual: before })
    const { plan } = inverseOf({ before, after }, { actual, organization: 'acme', baseUrl, now })
    expect(plan.batches.map(({ type, after: earlier }) => [type, earlier])).toEqual([
      ['ACTIVITY_TYPE_DELETE_API_KEYS', []],
      ['ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', [0]],
    ])
  })

  test('where nobody can but at other times, that is said', () => {
    expect(undoLines({ undo: { activities: 1, ways: [], isTimed: true }, changes: [] })).toEqual([
      { sign: '!', text: 'nobody can take it back, in 1 activity; at other times somebody may' },
    ])
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
      '! a key that is exported before it is taken back stays with the user who exported it',
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
