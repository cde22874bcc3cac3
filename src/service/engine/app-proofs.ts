/** The app proofs of an activity that asked for some (docs/protocol/proofs.md#app-proofs), made when it has been carried out. */
import type { JsonObject } from '../../protocol/index.ts'
import { insertAppProofs, type MadeAddress, signAppProofs } from '../proofs/index.ts'
import { policyTable } from '../resources/policies/store.ts'
import {
  type ActivityRecordRow,
  lockOrganization,
  readRootQuorum,
  shownFingerprint,
  type Transaction,
  type VoteRow,
} from '../store/index.ts'
import type { Judgement } from './judgement.ts'
import type { EngineTools } from './tools.ts'

/** Signs and keeps them. INVARIANT: in the transaction of what they are about. */
export function makeAppProofs(
  tools: EngineTools,
  tx: Transaction,
  activity: ActivityRecordRow,
  of: Proved,
): void | Promise<void> {
  const isAsked = activity.generate_app_proofs === 1 && activity.status === 'ACTIVITY_STATUS_COMPLETED'
  if (isAsked) return makeAsked(tools, tx, activity, of)
}

interface Proved {
  readonly made: readonly MadeAddress[]
  readonly decision: Judgement
  readonly votes: readonly VoteRow[]
  readonly now: number
}

async function makeAsked(
  { unseal }: EngineTools,
  tx: Transaction,
  activity: ActivityRecordRow,
  of: Proved,
): Promise<void> {
  const { made, decision, votes, now } = of
  const { organization_id: organizationId } = activity
  const parentId = (await lockOrganization(tx, organizationId))?.parentId
  const approvals = votes.filter(({ selection }) => selection === 'VOTE_SELECTION_APPROVED')
  const proofs = await signAppProofs(
    { tx, unseal, now },
    {
      made,
      decided: {
        organizationId,
        outcome: decision.outcome,
        decision: {
          type: activity.type,
          fingerprint: shownFingerprint(activity.fingerprint),
          policies: decision.policies.map(({ policyId, outcome }) => ({ policyId, outcome })),
        },
        organization: await describe(tx, organizationId),
        parentOrganization: parentId === undefined ? undefined : await describe(tx, parentId),
        approvals: approvals.map(({ user_id: userId, public_key: publicKey, scheme, signature }) => ({
          ...{ userId, publicKey, scheme, signature },
        })),
      },
    },
  )
  await insertAppProofs(tx, {
    activity_id: activity.id,
    organization_id: organizationId,
    proofs: JSON.stringify(proofs),
  })
}

/** What an organization is judged by: its quorum and its policies, as queries answer them. */
async function describe(tx: Transaction, organizationId: string): Promise<JsonObject> {
  const policies = await policyTable.list(tx, organizationId)
  return {
    organizationId,
    rootQuorum: { ...(await readRootQuorum(tx, organizationId)) },
    policies: policies.map(({ id: policyId, effect, consensus, condition, time }) => ({
      ...{ policyId, effect, consensus: consensus ?? '', condition: condition ?? '', time: time ?? '' },
    })),
  }
}
