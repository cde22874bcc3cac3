/** What stops a plan, as it is told to the person who would apply it. */
import { expect, test } from 'vitest'
import { QuorateError } from '../../src/diagnostics/index.ts'
import { assertAllowed } from '../../src/operations/index.ts'
import { makePlan, type Plan } from '../../src/plan/index.ts'
import { bootstrap, live } from '../plan/organization.ts'
import { planInput } from '../plan/planning.ts'

const policy = { effect: 'deny', condition: "activity.kind == 'EXPORT_WALLET'" } as const
const without = (allow: readonly string[]): Plan => {
  const actual = [...bootstrap(), ...['one', 'two', 'three', 'four'].map((name) => live(`policy.${name}`, policy))]
  return makePlan(planInput({ desired: [], manageAll: ['policy'], actual, allow })).plan
}

function refusalOf(plan: Plan, isShown = false): QuorateError {
  try {
    assertAllowed(plan, { isShown })
  } catch (error) {
    if (error instanceof QuorateError) return error
  }
  throw new Error('nothing refused it')
}

test('one guard is told in its own words; of several, each has a line', () => {
  const one = refusalOf(without(['delete']))
  expect(one.message).toContain('deleting 4 of 4 policies')
  expect(one.facts).toEqual({ guards: 'deletes', submitted: 'nothing' })

  const both = refusalOf(without([]))
  expect(both.message).toBe('2 guards refuse this plan')
  expect(both.facts).toEqual({
    guards: 'delete, deletes',
    'guard 1': expect.stringContaining('the plan deletes `policy.four`'),
    'guard 2': expect.stringContaining('deleting 4 of 4 policies'),
    submitted: 'nothing',
  })
})

test('where the plan was just shown, what each guard says is not said a second time', () => {
  const shown = [without(['delete']), without([])].map((plan) => refusalOf(plan, true))
  expect(shown.map(({ message }) => message)).toEqual([
    'a guard refuses this plan, as it says above',
    '2 guards refuse this plan, as it says above',
  ])
  expect(shown.map(({ facts }) => facts)).toEqual([
    { guards: 'deletes', submitted: 'nothing' },
    { guards: 'delete, deletes', submitted: 'nothing' },
  ])
  expect(shown[1]!.next).toContain('--allow-delete --allow deletes=4')
})
