import { listFeatures } from '../resources/organizations/features-store.ts'
import { findOrganization } from '../resources/organizations/store.ts'
import type { Transaction } from '../store/index.ts'

const FEATURE = 'FEATURE_NAME_WEBAUTHN_ORIGINS'

/**
 * The origins that an organization takes passkeys from; `undefined` for any. A parent's setting holds in its
 * sub-organizations as well (docs/protocol/organizations.md#features). Unstated: which of two holds; the organization's own.
 */
export async function readAllowedOrigins(
  tx: Transaction,
  organizationId: string,
): Promise<readonly string[] | undefined> {
  const own = await readOrigin(tx, organizationId)
  if (own !== undefined) return [own]
  const parentId = (await findOrganization(tx, organizationId))?.parent_id
  const inherited = parentId == null ? undefined : await readOrigin(tx, parentId)
  return inherited === undefined ? undefined : [inherited]
}

async function readOrigin(tx: Transaction, organizationId: string): Promise<string | undefined> {
  return (await listFeatures(tx, organizationId)).find(({ name }) => name === FEATURE)?.value
}
