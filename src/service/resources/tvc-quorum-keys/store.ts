import { createTable, type InOrder, type Transaction } from '../../store/index.ts'

/** A key that an app's enclaves are given. Its seed is stored nowhere: only shares of it are, each sealed to its holder's key. */
export interface TvcQuorumKeyRow {
  id: string
  organization_id: string
  /** Hex of 130 bytes. */
  public_key: string
  threshold: number
  created_at: number
  updated_at: number
}

export interface TvcQuorumKeyShareRow {
  id: string
  organization_id: string
  quorum_key_id: string
  /** Hex of 65 bytes: the holder's key, which the share is sealed to. */
  encrypt_public_key: string
  encrypted_share: string
  created_at: number
  updated_at: number
}

/** A share for an enclave, sealed to the enclave's own ephemeral key. */
export interface TvcProvisioningShareRow {
  id: string
  organization_id: string
  deployment_id: string
  operator_id: string
  ephemeral_public_key: string
  share: string
  /** The operator's signature over the manifest: hex of `r ‖ s`. */
  signature: string
  created_at: number
  updated_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    tvc_quorum_keys: InOrder<TvcQuorumKeyRow>
    tvc_quorum_key_shares: InOrder<TvcQuorumKeyShareRow>
    tvc_provisioning_shares: InOrder<TvcProvisioningShareRow>
  }
}

export const tvcQuorumKeyTable = createTable('tvc_quorum_keys')
export const tvcQuorumKeyShareTable = createTable('tvc_quorum_key_shares')
export const tvcProvisioningShareTable = createTable('tvc_provisioning_shares')

/** Finds the share of a quorum key that is sealed to a holder's key. */
export async function findQuorumKeyShare(
  tx: Transaction,
  organizationId: string,
  { publicKey, encryptKey }: { readonly publicKey: string; readonly encryptKey: string },
): Promise<string | undefined> {
  const row = await tx
    .selectFrom('tvc_quorum_key_shares as shares')
    .innerJoin('tvc_quorum_keys as keys', 'keys.id', 'shares.quorum_key_id')
    .select('shares.encrypted_share')
    .where('shares.organization_id', '=', organizationId)
    .where('keys.organization_id', '=', organizationId)
    .where('keys.public_key', '=', publicKey)
    .where('shares.encrypt_public_key', '=', encryptKey)
    .executeTakeFirst()
  return row?.encrypted_share
}

/** Reads which operators have posted shares for a deployment, and for the ephemeral keys of which enclaves. */
export async function listProvisioningShares(
  tx: Transaction,
  organizationId: string,
  deploymentId: string,
): Promise<Pick<TvcProvisioningShareRow, 'operator_id' | 'ephemeral_public_key'>[]> {
  return tx
    .selectFrom('tvc_provisioning_shares')
    .select(['operator_id', 'ephemeral_public_key'])
    .where('organization_id', '=', organizationId)
    .where('deployment_id', '=', deploymentId)
    .execute()
}
