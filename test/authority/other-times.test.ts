/** Votes that are cast at another time than the submission are told as the service takes them; and mistakes in telling of them are found. */
import { beforeAll, expect, test } from 'vitest'
import * as analysis from '../../src/analysis/index.ts'
import { type Mutant, mutated } from '../analysis/mutated.ts'
import { type CastVote, faultsOfTelling, playAtOtherTimes, type Telling } from './other-times.ts'

const SEED = Number(process.env['CI'] ? 20_261_128 : Math.floor(Math.random() * 2 ** 31))
let votes: readonly CastVote[]
beforeAll(async () => {
  votes = await playAtOtherTimes({ count: 10, seed: SEED })
})

test('authority: of what is submitted by day and voted on at night, reviews, who-can and backtests tell what the service does', () => {
  expect({ seed: SEED, faults: [...faultsOfTelling(votes, analysis)] }).toEqual({ seed: SEED, faults: [] })
  const isExecuted = ({ after }: CastVote) => after?.status === 'ACTIVITY_STATUS_COMPLETED'
  expect(votes.filter(isExecuted).length).toBeGreaterThan(5)
  expect(votes.filter(({ after }) => !after).length).toBeGreaterThan(2)
})

test.each<Mutant>([
  {
    mistake: 'all votes are judged at the time of the submission',
    file: 'analysis/recorded.ts',
    from: 'now: BigInt(castMs) * 1_000_000n',
    to: 'now: BigInt(submittedMs) * 1_000_000n',
  },
  {
    mistake: 'all votes are judged at the time of the last',
    file: 'analysis/recorded.ts',
    from: 'now: BigInt(castMs) * 1_000_000n',
    to: 'now: BigInt(fromTimestamp(approvals.at(-1)!.createdAt)) * 1_000_000n',
  },
  {
    mistake: 'what would not wait by those who voted is voted on by nobody',
    file: 'policy/who-else.ts',
    from: '  const given = new Set(context.approvers.map(({ id }) => id))',
    to: "  const given = new Set(authorize(policies, context).outcome === 'OUTCOME_REQUIRES_CONSENSUS' ? context.approvers.map(({ id }) => id) : people.map(({ approver }) => approver.id))",
  },
  {
    mistake: 'a review is of the time of the submission',
    file: 'analysis/review.ts',
    from: '{ type: activity.type, parameters, nowMs, facts: one }',
    to: '{ type: activity.type, parameters, nowMs: 1000 * Number(activity.createdAt.seconds), facts: one }',
  },
  {
    mistake: 'that a policy opens or closes is not hinted at',
    file: 'authority/timed-by.ts',
    from: "=== 'sometimes'",
    to: "=== 'always'",
  },
])('$mistake: found', async (mutant) => {
  const telling = await mutated<Telling>(mutant, 'analysis/index.ts')
  const [fault] = faultsOfTelling(votes, telling)
  expect(fault).toBeDefined()
})
