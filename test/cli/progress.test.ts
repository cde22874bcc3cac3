/** What is told of an apply that waits: by whom, of many people in one phrase. */
import { expect, test } from 'vitest'
import type { ApplyProgress } from '../../activities/index.ts'
import { createStyle } from '../../src/cli/io.ts'
import { renderRest, renderStanding, withNeeds } from '../../src/cli/views/progress.ts'
import type { Forecast, Plan } from '../../src/plan/index.ts'

const people = Array.from({ length: 22 }, (_, index) => `user-${index + 1}`)
/** What a plan holds of any 2 of 22: the first 20 sets, and all of them in one. */
const foreseen: Forecast = {
  outcome: 'waits',
  needed: people.slice(1, 21).map((name) => [people[0]!, name]),
  any: { count: 2, of: people },
}
const plan = { digest: '', batches: [{ forecast: foreseen }] } as unknown as Plan

function waiting(...approved: string[]): ApplyProgress {
  const votes = { approved, lapsed: [], rejected: [] }
  const batch = { index: 0, state: 'waiting', summary: 'create tag a', fingerprint: `sha256:${'ab'.repeat(32)}`, votes }
  return { planDigest: '', state: 'waiting', startedAt: '', batches: [batch] } as unknown as ApplyProgress
}

test('of more sets than a plan writes out, all are told, without those who have approved', () => {
  const style = createStyle(false)
  for (const render of [renderRest, renderStanding]) {
    expect(render(waiting('root'), plan, style, 0)).toContain('waits for any 2 of user-1, user-2')
    expect(render(waiting('root', 'user-22'), plan, style, 0)).toMatch(/waits for any 1 of user-1, .*, user-21\b/)
  }
  expect(withNeeds(waiting('root', 'user-3'), plan)).toMatchObject({
    batches: [{ needs: { any: { count: 1, of: people.filter((name) => name !== 'user-3') } } }],
  })
})

test('one that waits although those who were foreseen have approved waits for an approver that the plan does not know', () => {
  const style = createStyle(false)
  const needsBob = { digest: '', batches: [{ forecast: { outcome: 'waits', needed: [['bob']] } }] } as unknown as Plan
  expect(renderRest(waiting('root', 'bob'), needsBob, style, 0)).toContain('waits for an approver')
  expect(withNeeds(waiting('root', 'bob'), needsBob)).not.toMatchObject({ batches: [{ needs: {} }] })
})

test('of an apply of an earlier plan, an activity that waits is told with its own approvers, whatever its number in the new plan', () => {
  const style = createStyle(false)
  const progress = { ...waiting('root'), planDigest: 'earlier' }
  const needs = (name: string) => ({ forecast: { outcome: 'waits', needed: [[name]] } })
  const now = (waits: Plan['waiting']) =>
    ({ digest: 'new', batches: [needs('bob'), needs('carol')], waiting: waits }) as unknown as Plan
  const { fingerprint } = progress.batches[0]!
  const second = [{ batch: 1, activityId: '', fingerprint: fingerprint! }] as unknown as Plan['waiting']
  expect(renderRest(progress, now(second), style, 0)).toContain('waits for carol')
  expect(renderRest(progress, now(undefined), style, 0)).toContain('waits for an approver')
})
