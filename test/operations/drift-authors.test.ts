/** Whose a change of what lives is: of an apply of one's own that the lock does not tell of yet, or of somebody else. */
import { expect, test } from 'vitest'
import type { QueryClient } from '../../src/client/index.ts'
import { withAuthors } from '../../src/operations/drift-authors.ts'
import type { Plan } from '../../src/plan/index.ts'
import { bootstrap, live } from '../plan/organization.ts'
import { planOf } from '../plan/planning.ts'

const policy = live('policy.desk', { effect: 'allow', condition: 'true' })
const whole = planOf({
  desired: [{ ...policy, fields: { effect: 'deny', condition: 'true' } }],
  actual: [...bootstrap(), policy],
})
const drifted: Plan = { ...whole, changes: whole.changes.map((change) => ({ ...change, cause: 'both changed' })) }
const PLANNED = '2026-01-02T00:00:00.000Z'
const own = async () => new Map([['own', PLANNED]])

/** An activity on the policy that these people approved, one at each of these times. */
function activityOf(id: string, ...votes: readonly (readonly [user: string, at: string])[]) {
  return {
    id,
    type: 'ACTIVITY_TYPE_UPDATE_POLICY_V2',
    intent: { updatePolicyIntentV2: { policyId: policy.id } },
    result: {},
    votes: votes.map(([userName, at]) => ({
      selection: 'VOTE_SELECTION_APPROVED',
      user: { userName },
      publicKey: '02aa',
      createdAt: { seconds: String(Date.parse(at) / 1000), nanos: '0' },
    })),
  }
}

/** What becomes of the drifted row where the organization's completed activities are these, newest first. */
async function told(...activities: readonly ReturnType<typeof activityOf>[]) {
  const { organization } = drifted
  const query = async (
    _: string,
    { paginationOptions }: { readonly paginationOptions: { readonly before?: string } },
  ) => ({
    activities: paginationOptions.before === undefined ? activities : [],
  })
  const client = { organizationId: organization.id, query } as unknown as QueryClient
  const { changes } = await withAuthors(client, drifted, { lock: {}, own })
  return changes.filter(({ action }) => action === 'update').map(({ cause, author }) => [cause, author?.activityId])
}

const mine = activityOf('own', ['root', '2026-01-02T00:00:05Z'], ['bob', '2026-01-02T09:00:00Z'])

test('what an apply of one’s own left so is no drift, and nobody is named for it', async () => {
  expect(await told(mine)).toEqual([['definition changed', undefined]])
  expect(await told(mine, activityOf('earlier', ['eve', '2026-01-01T23:59:59Z']))).toEqual([
    ['definition changed', undefined],
  ])
})

test('what somebody else changed is drift: after it, and while it waited, also by a vote for what was asked before', async () => {
  expect(await told(activityOf('later', ['eve', '2026-01-02T10:00:00Z']), mine)).toEqual([['both changed', 'later']])
  expect(await told(mine, activityOf('meanwhile', ['eve', '2026-01-02T04:00:00Z']))).toEqual([
    ['both changed', 'meanwhile'],
  ])
  const voted = activityOf('voted', ['eve', '2026-01-01T20:00:00Z'], ['bob', '2026-01-02T04:00:00Z'])
  expect(await told(mine, voted)).toEqual([['both changed', 'voted']])
})
