/** What is told of an apply that waits: by whom, of many people in one phrase. */
import { expect, onTestFinished, test } from 'vitest'
import type { ApplyProgress } from '../../activities/index.ts'
import { createStyle, type Io } from '../../src/cli/io.ts'
import {
  createProgressView,
  openInWords,
  renderAdvice,
  renderBatch,
  renderNews,
  renderRest,
  renderStanding,
  withNeeds,
} from '../../src/cli/views/progress.ts'
import { type RowVote, renderRowVotes } from '../../src/cli/views/send-approval.ts'
import { keepReason, withReasons } from '../../src/cli/vote-reasons.ts'
import type { Forecast, Plan } from '../../src/plan/index.ts'
import { testFolder } from './harness.ts'

const style = createStyle(false)
const rested = { style, now: 0, carrier: 'background' } as const
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
  const standing = (progress: ApplyProgress, by: Plan) => renderStanding(progress, by, style, 0)
  for (const render of [(progress: ApplyProgress, by: Plan) => renderRest(progress, by, rested), standing]) {
    expect(render(waiting('root'), plan)).toContain('waits for any 2 of user-1, user-2')
    expect(render(waiting('root', 'user-22'), plan)).toMatch(/waits for any 1 of user-1, .*, user-21\b/)
  }
  expect(withNeeds(waiting('root', 'user-3'), plan)).toMatchObject({
    batches: [{ needs: { any: { count: 1, of: people.filter((name) => name !== 'user-3') } } }],
  })
})

test('on a terminal, what waits is followed with whom it waits for and how they vote, and all of it is drawn over', () => {
  const said: string[] = []
  const io = { live: true, style, say: (text: string) => said.push(text) } as unknown as Io
  const draw = createProgressView(io, { now: () => 0 })
  draw(waiting('root', 'user-22'), undefined, plan)
  expect(said[0]).toMatch(/abab-abab waits for any 1 of user-1, .*, who votes with `quorate approve abab-abab`\n/)
  draw({ ...waiting(), state: 'done', batches: [] }, undefined, plan)
  expect(said[1]).toContain('2F')
})

test('one that waits although those who were foreseen have approved waits for an approver that the plan does not know', () => {
  const needsBob = { digest: '', batches: [{ forecast: { outcome: 'waits', needed: [['bob']] } }] } as unknown as Plan
  expect(renderRest(waiting('root', 'bob'), needsBob, rested)).toContain('waits for an approver')
  expect(withNeeds(waiting('root', 'bob'), needsBob)).not.toMatchObject({ batches: [{ needs: {} }] })
})

test('of an apply of an earlier plan, an activity that waits is told with its own approvers, whatever its number in the new plan', () => {
  const progress = { ...waiting('root'), planDigest: 'earlier' }
  const needs = (name: string) => ({ forecast: { outcome: 'waits', needed: [[name]] } })
  const now = (waits: Plan['waiting']) =>
    ({ digest: 'new', batches: [needs('bob'), needs('carol')], waiting: waits }) as unknown as Plan
  const { fingerprint } = progress.batches[0]!
  const second = [{ batch: 1, activityId: '', fingerprint: fingerprint! }] as unknown as Plan['waiting']
  expect(renderRest(progress, now(second), rested)).toContain('waits for carol')
  expect(renderRest(progress, now(undefined), rested)).toContain('waits for an approver')
})

test('what waits says what goes on once people have voted: the background process of the machine, or a worker elsewhere', () => {
  const told = (carrier: 'background' | 'worker') => renderRest(waiting('root'), plan, { ...rested, carrier })
  expect(told('background')).toContain(
    'the background process of this machine goes on with the apply; where that is gone, as after a CI job, the next `quorate apply` does.',
  )
  expect(told('worker')).toContain(
    'a worker of this Temporal server (`quorate worker`) goes on with the apply; where none runs, nothing goes on until one is started.',
  )
  for (const carrier of ['background', 'worker'] as const) expect(told(carrier)).not.toContain('by itself')
})

test('since when a step waits is said by when it was requested, and not as 0 seconds', () => {
  const [batch] = waiting('root').batches
  const since = new Date(0).toISOString()
  const told = (now: number) => renderBatch({ ...batch!, since }, style, now)
  expect(told(400)).toMatch(/approved by root; requested just now\n$/)
  expect(told(3_000)).toMatch(/approved by root; requested 3 seconds ago\n$/)
  expect(told(90_000)).toMatch(/approved by root; requested 1 minute ago\n$/)
})

test('of a batch, a row that waits after the vote is said to wait for others, and where to read for whom', () => {
  const fingerprint = `sha256:${'ab'.repeat(32)}`
  const row = { kind: 'waits', row: { line: 2 }, order: { reference: 'MAR-4' }, activity: { fingerprint } }
  const told = (status: string) => renderRowVotes([{ row, outcome: 'approved', status } as unknown as RowVote], style)
  expect(told('ACTIVITY_STATUS_CONSENSUS_NEEDED')).toBe(
    '  line 2    MAR-4  approved: still waits for others; `quorate review abab-abab` says for whom\n1 row: 1 approved\n',
  )
  expect(told('ACTIVITY_STATUS_COMPLETED')).toContain('approved: now COMPLETED\n')
})

test('an apply that has begun and submitted nothing is not told as one that has ended', () => {
  const begun = { ...waiting('root'), state: 'running', batches: [] } as unknown as ApplyProgress
  expect(renderStanding(begun, plan, style, 0)).toContain('nothing is applied yet\n')
})

test('what was rejected is named with its code, each by itself, and a reason that is kept stands for asking, with its voter once', () => {
  const next = 'ask them why; `quorate apply --ask-again` submits it as a new activity'
  const rejected = (index: number, summary: string, by = 'carol') => ({
    index,
    state: 'rejected',
    summary,
    activityId: `activity-${index}`,
    fingerprint: `sha256:${`${index}a`.repeat(32)}`,
    error: { code: 'apply/rejected', message: `rejected by ${by}`, next },
  })
  const batches = [
    rejected(1, 'create tag a'),
    rejected(2, 'create tag b', 'carol and dave'),
    rejected(3, 'create tag c'),
  ]
  const progress = { planDigest: '', state: 'rejected', startedAt: '', batches } as unknown as ApplyProgress
  const folder = testFolder(onTestFinished)
  const row = { at: '', organizationId: '', fingerprint: '', vote: 'reject', by: 'carol' } as const
  for (const index of [1, 2]) keepReason(folder, { ...row, activityId: `activity-${index}`, reason: 'not now' })
  const told = withReasons(progress, folder)
  expect(told.batches.map(({ error }) => error?.message)).toEqual([
    'rejected by carol: not now (kept on this machine)',
    'rejected by carol and dave: not now (carol, kept on this machine)',
    'rejected by carol',
  ])
  const known = 'change the definitions; or `quorate apply --ask-again` submits it as a new activity'
  expect(renderAdvice(told)).toBe(
    `next: create tag a (1a1a-1a1a): ${known}\nnext: create tag b (2a2a-2a2a): ${known}\nnext: create tag c (3a3a-3a3a): ${next}\n`,
  )
})

test('an answer that several activities get at once is told once, with how many get it', () => {
  const [batch] = waiting('root').batches
  const refused = { message: 'too many requests', code: 'client/rate-limited' }
  const tried = (index: number, error: object) => ({
    index,
    state: 'submitting',
    summary: `create tag ${index}`,
    error,
  })
  const batches = [
    tried(1, refused),
    tried(2, refused),
    tried(3, { ...refused, message: 'boom' }),
    tried(4, refused),
    batch,
  ]
  const progress = { ...waiting('root'), state: 'running', batches } as unknown as ApplyProgress
  const lines = renderNews(progress, undefined, style, 0).split('\n')
  expect(lines.slice(0, 2)).toEqual([
    'submitting   create tag 1 and 2 other activities  too many requests',
    'submitting   create tag 3  boom',
  ])
  expect(lines[2]).toMatch(/^waiting /)
  expect(openInWords(progress)).toBe(
    'submitting create tag 1; submitting create tag 2; submitting create tag 4, last answer: too many requests; submitting create tag 3, last answer: boom; waiting abab-abab create tag a',
  )
})
