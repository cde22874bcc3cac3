import { apiKeyFacts, expiresAt, isExpired } from '../../../authority/index.ts'
import { apiError } from '../../../protocol/index.ts'
import { type Stamp, verifyStampInPool } from '../../../stamp/index.ts'
import { findInvitationByKey, type OpenInvitation } from '../../resources/invitations/store.ts'
import {
  type ApiKeyRow,
  findApiKeyByPublicKey,
  findApiKeysBelow,
  StoreUnavailable,
  whenRead,
} from '../../store/index.ts'
import { type JobInput, JobNotDone, type WorkPool } from '../../work/index.ts'
import type { CredentialSort, ProvedCredential } from './credential-sort.ts'
import { findInTree } from './find-in-tree.ts'

/** API keys, and the keys of sessions: the stamp names its own key. */
export const apiKeySort: CredentialSort<'api-key'> = {
  async verify(stamp, { body, source = '' }, { pool }) {
    const isDear = stamp.scheme === 'SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191' && body.length > HASHED_AT_ONCE
    const isVerified = isDear
      ? await verifyInThread(pool, { stamp, body }, source)
      : await verifyStampInPool(stamp, body)
    if (!isVerified) throw apiError('apiKeyNotVerified')
  },
  find(tx, { stamp }, target, now) {
    const found = findInTree(target, {
      inside: (id) => findApiKeyByPublicKey(tx, id, stamp.publicKey),
      below: (id) => findApiKeysBelow(tx, id, stamp.publicKey),
      conflict: () => apiError('publicKeyConflict'),
    })
    return whenRead(found, (key) => {
      if (key) return prove(key, stamp, now)
      return whenRead(findInvitationByKey(tx, target.id, stamp.publicKey), (invitation) => {
        if (!invitation) throw apiError('publicKeyNotFound', target.id, stamp.publicKey)
        return proveInvited(invitation, stamp, now)
      })
    })
  },
}

function prove(key: ApiKeyRow, stamp: Stamp, now: number): ProvedCredential {
  if (isExpired({ expiresAt: expiresAt(key.created_at, key.expiration_seconds) }, now))
    throw apiError('expiredApiKey', key.public_key, key.organization_id)
  if (!fitsScheme(key, stamp)) throw apiError('apiKeyNotVerified')
  const { id, user_id: userId, credential_type: type, public_key: publicKey } = key
  return {
    userId,
    homeId: key.organization_id,
    facts: apiKeyFacts({ id, userId, type, publicKey, sessionProfileId: key.session_profile_id }),
    signed: { public_key: stamp.publicKey, signature: stamp.signature, scheme: stamp.scheme },
  }
}

/** The mailed key of an invitation speaks for the user that its receiver is about to become. */
function proveInvited(
  invitation: OpenInvitation,
  { publicKey, signature, scheme }: Stamp,
  now: number,
): ProvedCredential {
  const { id, organization_id: homeId, user_id: userId, expires_at } = invitation
  if (now >= expires_at) throw apiError('expiredApiKey', publicKey, homeId)
  if (scheme !== 'SIGNATURE_SCHEME_TK_API_P256') throw apiError('apiKeyNotVerified')
  return {
    userId,
    homeId,
    facts: apiKeyFacts({ id, userId, type: 'CREDENTIAL_TYPE_API_KEY_P256', publicKey }),
    signed: { public_key: publicKey, signature, scheme },
    acceptsAlone: true,
  }
}

/** Bytes that are hashed by Keccak-256 at once, which the platform does not have: 1 MiB takes some twenty milliseconds. */
const HASHED_AT_ONCE = 32_768

/** Nobody is known yet: addresses take turns, and all of them together have those of one organization. */
async function verifyInThread(pool: WorkPool, input: JobInput<'verifyStamp'>, source: string): Promise<boolean> {
  try {
    return (await pool.run('verifyStamp', { input }, { treeId: '', organizationId: source })).isVerified
  } catch (error) {
    if (error instanceof JobNotDone) throw new StoreUnavailable(error.message)
    throw error
  }
}

/**
 * The curve of a stored key must fit the scheme (docs/protocol/stamps.md#api-key-stamps); a login session's key may be
 * on any curve.
 */
function fitsScheme(key: ApiKeyRow, stamp: Stamp): boolean {
  const curve = /_(P256|SECP256K1|ED25519)$/.exec(key.credential_type)?.[1]
  return curve === undefined || stamp.scheme.startsWith(`SIGNATURE_SCHEME_TK_API_${curve}`)
}
