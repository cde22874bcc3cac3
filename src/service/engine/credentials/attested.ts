import { attestedFacts } from '../../../authority/index.ts'
import { type ApiError, apiError } from '../../../protocol/index.ts'
import { type AttestedStamp, nonceOfKey, verifyStampInPool } from '../../../stamp/index.ts'
import { readVerifiedIdentity } from '../../oidc/index.ts'
import { findAuthProxy } from '../../resources/auth-proxy/store.ts'
import { settingsOf, takesProvedContacts } from '../../resources/auth-proxy/wire.ts'
import {
  findOauthProvider,
  findOauthProvidersBelow,
  isOauthIdentityKnown,
} from '../../resources/oauth-providers/store.ts'
import { listFeatures } from '../../resources/organizations/features-store.ts'
import { findUsersByContact, findUsersLedTo, provedFirst, type UserOfContact } from '../../resources/users/store.ts'
import { upsertVerifiedContact } from '../../resources/users/verified-contacts-store.ts'
import type { OrganizationPlace, Transaction } from '../../store/index.ts'
import { consumeVerificationToken, OTP_TYPES, readVerificationToken, requireUnused } from '../../verification/index.ts'
import type { CredentialSort, Evidence, ProofTools, ProvedCredential } from './credential-sort.ts'
import { findInTree } from './find-in-tree.ts'

/** Attested stamps (docs/protocol/stamps.md#attested-stamps): a token says whose they are, a key in it that they are made here. */
export const attestedSort: CredentialSort<'attested'> = {
  async verify(stamp, { body }, tools) {
    const { publicKey, signature } = stamp
    const ofKey = { kind: 'api-key', scheme: 'SIGNATURE_SCHEME_TK_API_P256', publicKey, signature } as const
    if (!(await verifyStampInPool(ofKey, body))) throw notVerified('the signature is not by its key over this body')
    return stamp.proves === 'identity' ? verifyIdentity(stamp, tools) : undefined
  },
  async find(tx, { stamp, evidence }, target, now) {
    return stamp.proves === 'identity'
      ? proveIdentity(tx, stamp, evidence!, target)
      : proveContact(tx, stamp, target, now)
  },
}

/**
 * Has an OIDC token confirmed by its issuer. INVARIANT: nobody is asked for a stranger: the token must be bound to the stamp's
 * key, and name somebody who is registered.
 */
async function verifyIdentity(stamp: AttestedStamp, { database, oidc }: ProofTools): Promise<Evidence> {
  const claimed = await readVerifiedIdentity(stamp.token)
  if (claimed?.nonce !== nonceOfKey(stamp.publicKey)) throw notVerified('the token is not bound to its key')
  if (!(await database.read((tx) => isOauthIdentityKnown(tx, claimed)))) throw apiError('invalidOidcToken')
  const identity = await oidc.verify(stamp.token)
  if (!identity) throw apiError('invalidOidcToken')
  return identity
}

async function proveIdentity(
  tx: Transaction,
  { publicKey, signature }: AttestedStamp,
  identity: Evidence,
  target: OrganizationPlace,
): Promise<ProvedCredential> {
  const provider = await findInTree(target, {
    inside: (id) => findOauthProvider(tx, id, identity),
    below: (id) => findOauthProvidersBelow(tx, id, identity),
    conflict: () => apiError('credentialConflict'),
  })
  if (!provider) throw apiError('attestedUserNotFound', target.id)
  const { id, user_id: userId, organization_id: homeId } = provider
  return {
    userId,
    homeId,
    facts: attestedFacts({ id, userId, login: 'oauth', publicKey }),
    signed: signedBy({ publicKey, signature }),
  }
}

async function proveContact(
  tx: Transaction,
  { token, publicKey, signature }: AttestedStamp,
  target: OrganizationPlace,
  now: number,
): Promise<ProvedCredential> {
  const claims = await readVerificationToken({ tx, organizationId: target.id, now }, token)
  if (claims.publicKey !== publicKey) throw notVerified('the token is not bound to its key')
  const { column, proof, feature } = OTP_TYPES[claims.verificationType]
  const contact = { column, type: proof, contact: claims.contact }
  const user = await findInTree(target, {
    inside: async (organizationId) => onlyOne(await findUsersByContact(tx, contact, { organizationId })),
    async below(parentId) {
      const proxy = await findAuthProxy(tx, parentId)
      const isProved = takesProvedContacts(proxy && settingsOf(proxy))
      return findUsersLedTo(tx, contact, { parentId, isProved })
    },
    conflict: () => apiError('credentialConflict'),
  })
  if (!user) throw apiError('attestedUserNotFound', target.id)
  const { id: userId, organization_id: homeId } = user
  await requireUnused(tx, claims, homeId)
  const isOn = (await listFeatures(tx, homeId)).some(({ name }) => name === feature)
  if (!isOn) throw apiError('authenticationFailed')
  return {
    userId,
    homeId,
    facts: attestedFacts({ id: idOfContact(userId, claims.contact), userId, login: 'code', publicKey }),
    signed: signedBy({ publicKey, signature }),
    async onTaken(tx) {
      await consumeVerificationToken({ tx, organizationId: homeId, now }, claims)
      await upsertVerifiedContact(tx, {
        organization_id: homeId,
        user_id: userId,
        type: proof,
        contact: claims.contact,
      })
    },
  }
}

function onlyOne(users: readonly UserOfContact[]): UserOfContact | undefined {
  const [user, another] = provedFirst(users)
  if (another) throw apiError('credentialConflict')
  return user
}

/** A contact has no id: this one says whose it is and which, so that it stands no longer when the user has taken another. */
export function idOfContact(userId: string, contact: string): string {
  return `${userId} ${contact}`
}

/** The scheme under which a vote keeps an attested stamp; its reader can verify the signature, and not the token. */
function signedBy({
  publicKey,
  signature,
}: Pick<AttestedStamp, 'publicKey' | 'signature'>): ProvedCredential['signed'] {
  return { public_key: publicKey, signature, scheme: 'SIGNATURE_SCHEME_TK_ATTESTED_P256' }
}

function notVerified(why: string): ApiError {
  return apiError('attestedNotVerified', why)
}
