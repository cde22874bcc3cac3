import type { ServiceKeyRow } from './schema.ts'
import type { Transaction } from './transaction.ts'

/** Name of the setting that holds the id of the organization which an installation began with. */
export const SETTING_OF_FIRST_ORGANIZATION = 'first-organization-id'

/** Name of the setting that holds when a store was put back from a snapshot, ISO 8601. */
export const SETTING_OF_RESTORE = 'restored-at'

/** Reads one fact about this installation. */
export async function readSetting(tx: Transaction, name: string): Promise<string | undefined> {
  const row = await tx.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst()
  return row?.value
}

/** Writes one fact about this installation for good. */
export async function insertSetting(tx: Transaction, name: string, value: string): Promise<void> {
  await tx.insertInto('settings').values({ name, value }).execute()
}

/** Writes a fact about this installation over what it was. */
export async function writeSetting(tx: Transaction, name: string, value: string): Promise<void> {
  await tx
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}

/** Reads the service's own key pairs, the private halves sealed. */
export async function listServiceKeys(tx: Transaction): Promise<ServiceKeyRow[]> {
  return tx.selectFrom('service_keys').selectAll().orderBy('name').execute()
}

/** Keeps a key pair of the service. */
export async function insertServiceKey(tx: Transaction, key: ServiceKeyRow): Promise<void> {
  await tx.insertInto('service_keys').values(key).execute()
}

/** Forgets a key pair of the service. */
export async function deleteServiceKey(tx: Transaction, name: string): Promise<void> {
  await tx.deleteFrom('service_keys').where('name', '=', name).execute()
}

/** The first organization of an installation: a parent with one root user, who has one API key. */
export interface FirstOrganization {
  readonly id: string
  readonly name: string
  readonly user: { readonly id: string; readonly name: string }
  readonly apiKey: { readonly id: string; readonly name: string; readonly publicKey: string }
}

/** Keeps the first organization, with a root quorum of its one user. */
export async function insertFirstOrganization(tx: Transaction, first: FirstOrganization, now: number): Promise<void> {
  const made = { created_at: now, updated_at: now }
  await tx
    .insertInto('organizations')
    .values({
      id: first.id,
      parent_id: null,
      name: first.name,
      quorum_threshold: 1,
      deleted_at: null,
      ...made,
      position: 1,
    })
    .execute()
  await tx
    .insertInto('users')
    .values({ ...first.user, organization_id: first.id, email: null, phone_number: null, ...made, position: 1 })
    .execute()
  await tx
    .insertInto('api_keys')
    .values({
      id: first.apiKey.id,
      organization_id: first.id,
      user_id: first.user.id,
      name: first.apiKey.name,
      public_key: first.apiKey.publicKey,
      credential_type: 'CREDENTIAL_TYPE_API_KEY_P256',
      expiration_seconds: null,
      ...made,
      position: 1,
    })
    .execute()
  await tx
    .insertInto('quorum_members')
    .values({ organization_id: first.id, user_id: first.user.id, position: 0 })
    .execute()
}
