import type { CredentialFacts } from '../../policy/index.ts'
import { apiError } from '../../protocol/index.ts'
import type { Stamp } from '../../stamp/index.ts'
import {
  type ApiKeyRow,
  findApiKeyByPublicKey,
  findApiKeysBelow,
  lockOrganization,
  type OrganizationPlace,
  type Transaction,
} from '../store/index.ts'

/** Who makes a request, with which credential, and in which organization it runs. */
export interface Caller {
  readonly userId: string
  /** Where the user lives. */
  readonly homeId: string
  /** Where the request runs: `homeId`, or for a parent's read a sub-organization of it. */
  readonly organizationId: string
  readonly credential: CredentialFacts
}

/** What a request may do across the organization tree: queries read downwards, some submits find their home below. */
export type Reach = 'query' | 'submit' | 'submit-below'

/**
 * Finds the caller of a request whose stamp has been verified (facts: protocol §4). Throws `ApiError`.
 * Taking the organization's row comes first.
 */
export async function resolveCaller(
  tx: Transaction,
  stamp: Stamp,
  targetId: string,
  options: { readonly reach: Reach; readonly now: number },
): Promise<Caller> {
  const target = await lockOrganization(tx, targetId)
  if (!target) throw apiError('organizationNotFound')
  const key = await findKey(tx, target, stamp.publicKey)
  if (!key) throw apiError('publicKeyNotFound', targetId, stamp.publicKey)
  if (isExpired(key, options.now)) throw apiError('expiredApiKey', key.public_key, key.organization_id)
  if (!fitsScheme(key, stamp)) throw apiError('apiKeyNotVerified')
  const organizationId = placeOf(key, target, options.reach)
  return {
    userId: key.user_id,
    homeId: key.organization_id,
    organizationId,
    credential: { id: key.id, user_id: key.user_id, type: key.credential_type, public_key: key.public_key },
  }
}

/** Looks in the organization itself, then in its sub-organizations, or in its parent (facts: protocol §4.1-3). */
async function findKey(tx: Transaction, target: OrganizationPlace, publicKey: string): Promise<ApiKeyRow | undefined> {
  const own = await findApiKeyByPublicKey(tx, target.id, publicKey)
  if (own) return own
  if (target.parentId !== undefined) return findApiKeyByPublicKey(tx, target.parentId, publicKey)
  const below = await findApiKeysBelow(tx, target.id, publicKey)
  if (below.length > 1) throw apiError('publicKeyConflict')
  return below[0]
}

function placeOf(key: ApiKeyRow, target: OrganizationPlace, reach: Reach): string {
  const home = key.organization_id
  if (home === target.id) return home
  const isParentsUser = home === target.parentId
  if (reach === 'query') return isParentsUser ? target.id : home
  if (reach === 'submit-below' && !isParentsUser) return home
  throw apiError('organizationMismatch', target.id, home)
}

/** `expiration_seconds` counts from the key's creation (facts: protocol §4.5). */
function isExpired(key: ApiKeyRow, now: number): boolean {
  return key.expiration_seconds !== null && now >= key.created_at + key.expiration_seconds * 1000
}

/** The curve of a stored key must fit the scheme (facts: protocol §3.1); a login session's key may be on any curve. */
function fitsScheme(key: ApiKeyRow, stamp: Stamp): boolean {
  const curve = /_(P256|SECP256K1|ED25519)$/.exec(key.credential_type)?.[1]
  return curve === undefined || stamp.scheme.startsWith(`SIGNATURE_SCHEME_TK_API_${curve}`)
}
