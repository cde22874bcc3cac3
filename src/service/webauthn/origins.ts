import { listFeatures } from '../resources/organizations/features-store.ts'
import { findAllowedOrigins } from '../resources/organizations/origins-store.ts'
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
  const own = await readOwn(tx, organizationId)
  if (own !== undefined) return own
  const parentId = (await findOrganization(tx, organizationId))?.parent_id
  return parentId == null ? undefined : readOwn(tx, parentId)
}

/** Unstated: the list of `update_allowed_origins` and the feature beside each other. An origin of either is taken. */
async function readOwn(tx: Transaction, organizationId: string): Promise<readonly string[] | undefined> {
  const feature = (await listFeatures(tx, organizationId)).find(({ name }) => name === FEATURE)?.value
  const listed = await findAllowedOrigins(tx, organizationId)
  if (listed === undefined) return feature === undefined ? undefined : [feature]
  return feature === undefined ? listed : [...listed, feature]
}
