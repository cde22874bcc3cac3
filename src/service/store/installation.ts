import type { ServiceKeyRow } from './schema.ts'
import type { Transaction } from './transaction.ts'

/** Reads one fact about this installation. */
export async function readSetting(tx: Transaction, name: string): Promise<string | undefined> {
  const row = await tx.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst()
  return row?.value
}

/** Writes one fact about this installation for good. */
export async function insertSetting(tx: Transaction, name: string, value: string): Promise<void> {
  await tx.insertInto('settings').values({ name, value }).execute()
}

/** Reads the service's own key pairs, the private halves sealed. */
export async function listServiceKeys(tx: Transaction): Promise<ServiceKeyRow[]> {
  return tx.selectFrom('service_keys').selectAll().orderBy('name').execute()
}

/** Keeps a key pair of the service. */
export async function insertServiceKey(tx: Transaction, key: ServiceKeyRow): Promise<void> {
  await tx.insertInto('service_keys').values(key).execute()
}
