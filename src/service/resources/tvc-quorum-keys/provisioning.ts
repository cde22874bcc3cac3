/** Checks and storage of a posted share that both ways to post one use: its holder, its deployment, its enclave. */
import { isHex } from '../../../encoding/index.ts'
import { apiError } from '../../../protocol/index.ts'
import type { ExecutionContext, HandlerContext } from '../../engine/index.ts'
import { TVC_LIMITS, tvcSharePosted } from '../../readings.ts'
import { type ApprovedDeployment, requireApprovedDeployment } from '../tvc-deployments/require-deployment.ts'
import { findTvcOperatorSets, type TvcOperatorRow } from '../tvc-operators/store.ts'
import { listProvisioningShares, tvcProvisioningShareTable } from './store.ts'

/** An approved deployment, and the operators who may post shares of its app's key. */
export interface Provisioned extends ApprovedDeployment {
  readonly holders: readonly TvcOperatorRow[]
}

/** Reads a deployment that may be provisioned, or throws. */
export async function requireProvisioned(context: HandlerContext, deploymentId: string): Promise<Provisioned> {
  const { tx, organizationId } = context
  const approved = await requireApprovedDeployment(context, deploymentId)
  const { share_set_id } = approved.app
  const sets = await findTvcOperatorSets(tx, organizationId, [share_set_id])
  return { ...approved, holders: sets.get(share_set_id)!.members }
}

/** One operator posts one share for one enclave. */
export async function checkNotPosted(
  { tx, organizationId }: HandlerContext,
  share: { readonly deploymentId: string; readonly operatorId: string; readonly ephemeralKey: string },
): Promise<void> {
  const present = await listProvisioningShares(tx, organizationId, share.deploymentId)
  const isPosted = present.some(
    (row) => row.operator_id === share.operatorId && row.ephemeral_public_key === share.ephemeralKey,
  )
  if (isPosted) throw tvcSharePosted(share.operatorId)
  if (present.length >= TVC_LIMITS.shares)
    throw apiError('maxReached', 'organization', 'provisioning shares of a TVC deployment', TVC_LIMITS.shares)
}

/** Keeps a share for an enclave. */
export async function addProvisioningShare(
  context: ExecutionContext,
  share: {
    readonly deploymentId: string
    readonly operatorId: string
    readonly ephemeralKey: string
    readonly sealedShare: string
    readonly signature: string
  },
): Promise<{ provisioningShareId: string }> {
  const { tx, organizationId, now } = context
  const id = context.newId()
  await tvcProvisioningShareTable.insert(tx, [
    {
      id,
      organization_id: organizationId,
      deployment_id: share.deploymentId,
      operator_id: share.operatorId,
      ephemeral_public_key: share.ephemeralKey,
      share: share.sealedShare,
      signature: share.signature,
      created_at: now,
      updated_at: now,
    },
  ])
  return { provisioningShareId: id }
}

/** Hex digits of an envelope around the least and the most that a share can be. */
const ENVELOPE = { least: 2 * (12 + 65 + 4 + 16 + 2), most: 8_192 } as const

/** Reads a sealed share: hex of an envelope, which only the enclave opens. Throws the refusal of what can be none. */
export function readSealedShare(field: string, text: string): string {
  if (text.length >= ENVELOPE.least && text.length <= ENVELOPE.most && text.length % 2 === 0 && isHex(text))
    return text.toLowerCase()
  throw apiError('invalidField', field, 'must be a share in hex, sealed to the enclave')
}
