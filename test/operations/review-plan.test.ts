/** The plan by which a waiting activity is explained to a voter. */
import { expect, test } from 'vitest'
import { reviewActivity } from '../../src/operations/index.ts'
import type { Plan } from '../../src/plan/index.ts'
import type { Wire } from '../../src/protocol/index.ts'
import { actualOf, bootstrap, live } from '../plan/organization.ts'
import { planOf } from '../plan/planning.ts'

const notes = (text: string) => live('policy.desk', { effect: 'deny', condition: 'true', notes: text })
const resources = [...bootstrap(), notes('old')]

test('the voter is told the commit that the plan was made from, and that definitions have changes since it', () => {
  const plan: Plan = planOf({ desired: [notes('new')], actual: resources })
  const batch = plan.batches.find(({ type }) => type === 'ACTIVITY_TYPE_UPDATE_POLICY_V2')!
  const activity = {
    id: 'a',
    organizationId: plan.organization.id,
    type: batch.type,
    status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
    intent: { updatePolicyIntentV2: batch.parameters },
    votes: [],
  } as unknown as Wire.Activity
  const explainedBy = (more: Partial<Plan>) =>
    reviewActivity(activity, {
      actual: actualOf(resources),
      nowMs: 0,
      baseUrl: '',
      plans: [{ plan: { ...plan, ...more }, isOpen: true }],
    }).explained
  const name = { digest: plan.digest, createdAt: plan.createdAt }
  const commit = 'ab'.repeat(20)
  expect(explainedBy({})).toEqual({ kind: 'planned', plan: name, batch: batch.index })
  expect(explainedBy({ commit })).toMatchObject({ plan: { ...name, commit } })
  expect(explainedBy({ commit, uncommitted: true })).toMatchObject({ plan: { ...name, commit, uncommitted: true } })
})
