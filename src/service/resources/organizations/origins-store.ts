import type { Transaction } from '../../store/index.ts'

/** The origins that an organization takes passkeys from. */
export interface AllowedOriginsRow {
  organization_id: string
  /** JSON list. */
  origins: string
}

declare module '../../store/schema.ts' {
  interface Schema {
    allowed_origins: AllowedOriginsRow
  }
}

/** Reads the list; undefined where nobody has set one. */
export async function findAllowedOrigins(
  tx: Transaction,
  organizationId: string,
): Promise<readonly string[] | undefined> {
  const row = await tx
    .selectFrom('allowed_origins')
    .select('origins')
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  return row && (JSON.parse(row.origins) as string[])
}

/** Sets the list in the place of what was there; an empty one takes it away. */
export async function replaceAllowedOrigins(
  tx: Transaction,
  organizationId: string,
  origins: readonly string[],
): Promise<void> {
  await tx.deleteFrom('allowed_origins').where('organization_id', '=', organizationId).execute()
  if (origins.length === 0) return
  await tx
    .insertInto('allowed_origins')
    .values({ organization_id: organizationId, origins: JSON.stringify(origins) })
    .execute()
}
