/** The plan by which a waiting activity is explained to a voter. */
import { expect, test } from 'vitest'
import type { KeptPlan } from '../../activities/index.ts'
import { reviewActivity } from '../../src/operations/index.ts'
import type { Plan } from '../../src/plan/index.ts'
import { toTimestamp, type Wire } from '../../src/protocol/index.ts'
import { actualOf, bootstrap, live } from '../plan/organization.ts'
import { planOf } from '../plan/planning.ts'

const notes = (text: string) => live('policy.desk', { effect: 'deny', condition: 'true', notes: text })
const resources = [...bootstrap(), notes('old')]

const plan: Plan = planOf({ desired: [notes('new')], actual: resources })
const batch = plan.batches.find(({ type }) => type === 'ACTIVITY_TYPE_UPDATE_POLICY_V2')!
const madeAt = Date.parse(plan.createdAt)
/** The plan that an activity of this batch is explained by, of these. */
function explainedBy(...plans: readonly KeptPlan[]) {
  const activity = {
    id: 'a',
    organizationId: plan.organization.id,
    type: batch.type,
    status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
    intent: { updatePolicyIntentV2: batch.parameters },
    createdAt: toTimestamp(madeAt + 1_000),
    votes: [],
  } as unknown as Wire.Activity
  return reviewActivity(activity, { actual: actualOf(resources), nowMs: 0, baseUrl: '', plans }).explained
}

test('the voter is told the commit that the plan was made from, and that definitions have changes since it', () => {
  const name = { digest: plan.digest, createdAt: plan.createdAt }
  const commit = 'ab'.repeat(20)
  const of = (more: Partial<Plan>) => explainedBy({ plan: { ...plan, ...more }, isOpen: true })
  expect(of({})).toEqual({ kind: 'planned', plan: name, batch: batch.index })
  expect(of({ commit })).toMatchObject({ plan: { ...name, commit } })
  expect(of({ commit, uncommitted: true })).toMatchObject({ plan: { ...name, commit, uncommitted: true } })
})

test('of plans that ask for the same, none explains an activity that is older than it, and one that is carried out goes before the others', () => {
  const at = (seconds: number, isOpen = false): KeptPlan => {
    const createdAt = new Date(madeAt + 1_000 * seconds).toISOString()
    return { plan: { ...plan, digest: `${seconds}`, createdAt }, isOpen }
  }
  expect(explainedBy(at(5, true), at(0), at(-5))).toMatchObject({ plan: { digest: '0' } })
  expect(explainedBy(at(5), at(0), at(-5, true))).toMatchObject({ plan: { digest: '-5' } })
  // A clock that is ahead makes every plan younger than what it asked for.
  expect(explainedBy(at(9), at(5, true))).toMatchObject({ plan: { digest: '5' } })
  expect(explainedBy(at(9))).toMatchObject({ plan: { digest: '9' } })
})
