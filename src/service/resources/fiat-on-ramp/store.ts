import { createTable, type InOrder, storedList, type Transaction } from '../../store/index.ts'

/** An account at an on-ramp provider. */
export interface FiatOnRampCredentialRow {
  id: string
  organization_id: string
  provider: string
  project_id: string | null
  publishable_api_key: string
  /** As they were sent: sealed to the service's key by the client. */
  encrypted_secret_api_key: string
  encrypted_private_api_key: string | null
  sandbox_mode: number
  created_at: number
  updated_at: number
}

/** A purchase that was begun: how it stands its provider knows. */
export interface OnRampTransactionRow {
  id: string
  organization_id: string
  /** Of the organization itself or of its parent. */
  credential_id: string
  provider: string
  sandbox_mode: number
  created_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    fiat_on_ramp_credentials: InOrder<FiatOnRampCredentialRow>
    on_ramp_transactions: OnRampTransactionRow
  }
}

export const fiatOnRampCredentialTable = createTable('fiat_on_ramp_credentials')
export const fiatOnRampCredentialList = storedList('fiat_on_ramp_credentials', [
  'project_id',
  'publishable_api_key',
  'encrypted_secret_api_key',
  'encrypted_private_api_key',
])

/** Reads the credential of a purchase, the organization's own or its parent's. */
export async function findCredentialOf(
  tx: Transaction,
  { credential_id }: OnRampTransactionRow,
): Promise<FiatOnRampCredentialRow | undefined> {
  return tx.selectFrom('fiat_on_ramp_credentials').selectAll().where('id', '=', credential_id).executeTakeFirst()
}

/** Finds the newest credential for a provider: the organization's own, otherwise its parent's. */
export async function findCredentialFor(
  tx: Transaction,
  organizationId: string,
  { provider, isSandbox }: { readonly provider: string; readonly isSandbox: boolean },
): Promise<FiatOnRampCredentialRow | undefined> {
  const newestOf = async (id: string) =>
    (await fiatOnRampCredentialTable.list(tx, id)).findLast(
      (row) => row.provider === provider && (row.sandbox_mode === 1) === isSandbox,
    )
  const own = await newestOf(organizationId)
  if (own) return own
  const organization = await tx
    .selectFrom('organizations')
    .select('parent_id')
    .where('id', '=', organizationId)
    .executeTakeFirst()
  return organization?.parent_id == null ? undefined : newestOf(organization.parent_id)
}

/** Adds a purchase. */
export async function insertOnRampTransaction(tx: Transaction, row: OnRampTransactionRow): Promise<void> {
  await tx.insertInto('on_ramp_transactions').values(row).execute()
}

/** Reads a purchase. */
export async function findOnRampTransaction(
  tx: Transaction,
  organizationId: string,
  id: string,
): Promise<OnRampTransactionRow | undefined> {
  return tx
    .selectFrom('on_ramp_transactions')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
}
