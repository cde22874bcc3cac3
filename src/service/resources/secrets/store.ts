import { createTable, type InOrder, type Transaction } from '../../store/index.ts'

/** A secret of a client, which the service keeps and gives back. What it holds never changes. */
export interface SecretRow {
  id: string
  organization_id: string
  /** Unique in an organization. */
  name: string | null
  /** JSON list of `[key, value]`: what policies may know of it. */
  static_properties: string
  /** Text in UTF-8, sealed under the master key for this very row. */
  sealed_secret: Uint8Array
  /** 1 once it has left in a bundle. */
  exported: number
  created_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    secrets: InOrder<SecretRow>
  }
}

export const secretTable = createTable('secrets')

/** A secret without its text. */
export type SecretFacts = Omit<SecretRow, 'sealed_secret' | 'exported'>

const FACTS = ['id', 'organization_id', 'name', 'static_properties', 'created_at'] as const

/** Reads these secrets, in any order, without what they hold. */
export async function findSecrets(
  tx: Transaction,
  organizationId: string,
  ids: readonly string[],
): Promise<SecretFacts[]> {
  return tx
    .selectFrom('secrets')
    .select(FACTS)
    .where('organization_id', '=', organizationId)
    .where('id', 'in', ids)
    .execute()
}

/** Finds the first of these names that the organization has already. */
export async function findTakenSecretName(
  tx: Transaction,
  organizationId: string,
  names: readonly string[],
): Promise<string | undefined> {
  if (names.length === 0) return undefined
  const rows = await tx
    .selectFrom('secrets')
    .select('name')
    .where('organization_id', '=', organizationId)
    .where('name', 'in', names)
    .execute()
  const taken = new Set(rows.map(({ name }) => name))
  return names.find((name) => taken.has(name))
}

/** Reads what a secret holds, sealed. */
export async function readSealedSecret(tx: Transaction, organizationId: string, id: string): Promise<Uint8Array> {
  const { sealed_secret } = await tx
    .selectFrom('secrets')
    .select('sealed_secret')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return sealed_secret
}

/** Marks secrets as exported. */
export async function markSecretsExported(
  tx: Transaction,
  organizationId: string,
  ids: readonly string[],
): Promise<void> {
  await tx
    .updateTable('secrets')
    .set({ exported: 1 })
    .where('organization_id', '=', organizationId)
    .where('id', 'in', ids)
    .execute()
}

/** Whether the organization has a secret that never left. */
export async function hasUnexportedSecret(tx: Transaction, organizationId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('secrets')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('exported', '=', 0)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Reads a page of secrets, newest first: those that were made before or after a place. */
export async function listSecrets(
  tx: Transaction,
  organizationId: string,
  { limit, before, after }: { readonly limit: number; readonly before?: number; readonly after?: number },
): Promise<SecretFacts[]> {
  let query = tx.selectFrom('secrets').select(FACTS).where('organization_id', '=', organizationId)
  if (before !== undefined) query = query.where('secrets.position', '<', before)
  if (after !== undefined) query = query.where('secrets.position', '>', after)
  const rows = await query
    .orderBy('secrets.position', after === undefined ? 'desc' : 'asc')
    .limit(limit)
    .execute()
  return after === undefined ? rows : rows.reverse()
}

/** Reads the place of a secret in the list; undefined where the organization has no such secret. */
export async function findSecretPlace(
  tx: Transaction,
  organizationId: string,
  id: string,
): Promise<number | undefined> {
  const row = await tx
    .selectFrom('secrets')
    .select('secrets.position')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.position
}
