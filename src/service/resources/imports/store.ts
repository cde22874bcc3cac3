import type { Transaction } from '../../store/index.ts'

/** A key pair that one user may encrypt one import to (docs/protocol/bundles.md#import-targets). */
export interface ImportTargetRow {
  /** Hex, uncompressed. */
  public_key: string
  organization_id: string
  user_id: string
  /** wallet or private-key. */
  kind: string
  sealed_private_key: Uint8Array
  created_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    import_targets: ImportTargetRow
  }
}

/** Adds an import target. */
export async function insertImportTarget(tx: Transaction, target: ImportTargetRow): Promise<void> {
  await tx.insertInto('import_targets').values(target).execute()
}

/** Reads a user's import targets of a kind that were made at a time or since, oldest first. */
export async function listImportTargets(
  tx: Transaction,
  of: { readonly organizationId: string; readonly userId: string; readonly kind: string; readonly since: number },
): Promise<ImportTargetRow[]> {
  return tx
    .selectFrom('import_targets')
    .selectAll()
    .where('organization_id', '=', of.organizationId)
    .where('user_id', '=', of.userId)
    .where('kind', '=', of.kind)
    .where('created_at', '>=', of.since)
    .orderBy('created_at')
    .orderBy('public_key')
    .execute()
}

/** Deletes one import target. */
export async function deleteImportTarget(tx: Transaction, organizationId: string, publicKey: string): Promise<void> {
  await tx
    .deleteFrom('import_targets')
    .where('organization_id', '=', organizationId)
    .where('public_key', '=', publicKey)
    .execute()
}

/** Deletes the organization's import targets that were made at a time or before. */
export async function deleteLapsedImportTargets(tx: Transaction, organizationId: string, until: number): Promise<void> {
  await tx
    .deleteFrom('import_targets')
    .where('organization_id', '=', organizationId)
    .where('created_at', '<=', until)
    .execute()
}
