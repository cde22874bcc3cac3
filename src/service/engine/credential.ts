/**
 * Finds the credential that a stamp was made with (docs/protocol/stamps.md#from-stamp-to-caller): in the organization
 * itself, then in its sub-organizations, or in its parent. What the stamp could not prove by itself is proved here.
 */
import { apiKeyFacts, expiresAt, isExpired, passkeyFacts } from '../../authority/index.ts'
import { decodeBase64 } from '../../encoding/index.ts'
import type { CredentialFacts } from '../../policy/index.ts'
import { type ApiError, apiError } from '../../protocol/index.ts'
import { type Stamp, verifyWebAuthnStamp } from '../../stamp/index.ts'
import { findAuthenticatorByCredentialId, findAuthenticatorsBelow } from '../resources/authenticators/store.ts'
import {
  type ApiKeyRow,
  type AuthenticatorRow,
  findApiKeyByPublicKey,
  findApiKeysBelow,
  type OrganizationPlace,
  type Transaction,
  type VoteRow,
} from '../store/index.ts'
import { readAllowedOrigins } from '../webauthn/index.ts'
import type { PasskeyProof, Proof } from './authentication.ts'

/** A credential that has proved itself in this request. */
export interface ProvedCredential {
  readonly userId: string
  /** The organization that its user belongs to. */
  readonly homeId: string
  readonly facts: CredentialFacts
  /** The parts of the stamp that a vote keeps (docs/protocol/stamps.md#what-a-vote-keeps). */
  readonly signed: Pick<VoteRow, 'public_key' | 'signature' | 'scheme'>
  /** The counter that a passkey told. */
  readonly counted?: { readonly authenticator: AuthenticatorRow; readonly signCount: number }
}

/** Finds the credential and proves it. Throws `ApiError`. */
export async function proveCredential(
  tx: Transaction,
  proof: Proof,
  target: OrganizationPlace,
  now: number,
): Promise<ProvedCredential> {
  return proof.kind === 'passkey' ? provePasskey(tx, proof, target) : proveApiKey(tx, proof, target, now)
}

async function proveApiKey(
  tx: Transaction,
  stamp: Stamp,
  target: OrganizationPlace,
  now: number,
): Promise<ProvedCredential> {
  const key = await findInTree(target, {
    inside: (id) => findApiKeyByPublicKey(tx, id, stamp.publicKey),
    below: (id) => findApiKeysBelow(tx, id, stamp.publicKey),
    conflict: () => apiError('publicKeyConflict'),
  })
  if (!key) throw apiError('publicKeyNotFound', target.id, stamp.publicKey)
  if (isExpired({ expiresAt: expiresAt(key.created_at, key.expiration_seconds) }, now))
    throw apiError('expiredApiKey', key.public_key, key.organization_id)
  if (!fitsScheme(key, stamp)) throw apiError('apiKeyNotVerified')
  return {
    userId: key.user_id,
    homeId: key.organization_id,
    facts: apiKeyFacts({
      id: key.id,
      userId: key.user_id,
      type: key.credential_type,
      publicKey: key.public_key,
    }),
    signed: { public_key: stamp.publicKey, signature: stamp.signature, scheme: stamp.scheme },
  }
}

async function provePasskey(
  tx: Transaction,
  { stamp, body }: PasskeyProof,
  target: OrganizationPlace,
): Promise<ProvedCredential> {
  const { credentialId } = stamp
  const authenticator = await findInTree(target, {
    inside: (id) => findAuthenticatorByCredentialId(tx, id, credentialId),
    below: (id) => findAuthenticatorsBelow(tx, id, credentialId),
    conflict: () => apiError('credentialConflict'),
  })
  if (!authenticator) throw apiError('credentialNotFound', target.id, credentialId)
  const { id, user_id: userId, organization_id: homeId, public_key: publicKey } = authenticator
  const verdict = verifyWebAuthnStamp(stamp, {
    body,
    publicKeyCose: decodeBase64(publicKey),
    rpIdHash: decodeBase64(authenticator.rp_id_hash),
    backupEligible: authenticator.backup_eligible === 1,
    allowedOrigins: await readAllowedOrigins(tx, homeId),
  })
  if (!verdict.verified) throw apiError('webauthnNotVerified')
  return {
    userId,
    homeId,
    facts: passkeyFacts({ id, userId, credentialId, publicKey }),
    signed: { public_key: publicKey, signature: stamp.text, scheme: 'SIGNATURE_SCHEME_TK_WEBAUTHN' },
    counted: { authenticator, signCount: verdict.signCount },
  }
}

/**
 * The organization's own comes first; of those below it only a single one can be meant
 * (docs/protocol/stamps.md#from-stamp-to-caller).
 */
async function findInTree<Row>(
  target: OrganizationPlace,
  find: {
    readonly inside: (organizationId: string) => Promise<Row | undefined>
    readonly below: (parentId: string) => Promise<readonly Row[]>
    readonly conflict: () => ApiError
  },
): Promise<Row | undefined> {
  const own = await find.inside(target.id)
  if (own) return own
  if (target.parentId !== undefined) return find.inside(target.parentId)
  const below = await find.below(target.id)
  if (below.length > 1) throw find.conflict()
  return below[0]
}

/**
 * The curve of a stored key must fit the scheme (docs/protocol/stamps.md#api-key-stamps); a login session's key may be
 * on any curve.
 */
function fitsScheme(key: ApiKeyRow, stamp: Stamp): boolean {
  const curve = /_(P256|SECP256K1|ED25519)$/.exec(key.credential_type)?.[1]
  return curve === undefined || stamp.scheme.startsWith(`SIGNATURE_SCHEME_TK_API_${curve}`)
}
