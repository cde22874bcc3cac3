/**
 * Verification tokens (docs/protocol/one-time-passcodes.md#verification-tokens): the service's word that somebody has
 * proved a contact. A token is kept nowhere; what is kept is that it was used.
 */
import { compressP256 } from '../../crypto/index.ts'
import type { ApiError, JsonObject } from '../../protocol/index.ts'
import { openServiceKey, type Sealing } from '../keys/index.ts'
import { invalidVerificationToken } from '../readings.ts'
import { listServiceKeys, lockOrganization, type Transaction } from '../store/index.ts'
import { isOtpType, type OtpType } from './contacts.ts'
import { readJwt, writeJwt } from './jwt.ts'
import { endUseOfToken, findUseOfToken, insertUsedToken } from './store.ts'

/** The words of a token. */
export interface VerificationClaims {
  readonly id: string
  /** The organization that ran the verification. */
  readonly organizationId: string
  readonly verificationType: OtpType
  /** In its one form. */
  readonly contact: string
  /** The client's key that the token is bound to, compressed; a token without one is anybody's who has it. */
  readonly publicKey?: string
  /** Whether the code came in clear: by the older protocol, whose tokens the newer does not take. */
  readonly isPlain: boolean
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

/** Where a token is looked at: in which organization, and when. */
export interface TokenPlace {
  readonly tx: Transaction
  readonly organizationId: string
  readonly now: number
}

/** Seconds that a token holds, unless asked for less or more, and at most. */
export const TOKEN_SECONDS = { default: 3_600, most: 86_400 } as const

/** Makes the token of a contact that was proved in this organization. */
export async function issueVerificationToken(
  context: TokenPlace & { readonly newId: () => string; readonly unseal: Sealing['unseal'] },
  proved: {
    readonly verificationType: OtpType
    readonly contact: string
    readonly publicKey?: string | undefined
    readonly expirationSeconds?: number | undefined
    readonly isPlain?: boolean
  },
): Promise<string> {
  const { tx, organizationId, now } = context
  const { verificationType, contact, publicKey, expirationSeconds = TOKEN_SECONDS.default } = proved
  const { privateKey } = await openServiceKey(tx, context.unseal, 'tls-fetcher')
  const payload: JsonObject = {
    exp: String(now + expirationSeconds * 1_000),
    id: context.newId(),
    organization_id: organizationId,
    verification_type: verificationType,
    contact,
    ...(publicKey === undefined ? {} : { public_key: compressP256(publicKey)! }),
    ...(proved.isPlain ? { plain: true } : {}),
  }
  return writeJwt(payload, privateKey)
}

/** Reads a token that may be used in this organization now, by `readVerificationToken`, and was not. Throws `ApiError`. */
export async function verifyVerificationToken(place: TokenPlace, jwt: string): Promise<VerificationClaims> {
  const claims = await readVerificationToken(place, jwt)
  await requireUnused(place.tx, claims)
  return claims
}

/**
 * Throws `ApiError` for a token that was used. One that signed somebody up still logs them in, once: published clients
 * prove a contact, sign up and log in by the one token. It does so in the organization that it signed up, and nowhere else.
 */
export async function requireUnused(tx: Transaction, { id }: VerificationClaims, homeId?: string): Promise<void> {
  const use = await findUseOfToken(tx, id)
  if (use && (homeId === undefined || use.signed_up_id !== homeId)) throw refused('it was used')
}

/**
 * Reads a token for this organization: signed by this service for the organization or its parent, and in time. Who takes
 * it asks `requireUnused` as well. Throws `ApiError`.
 */
export async function readVerificationToken(place: TokenPlace, jwt: string): Promise<VerificationClaims> {
  const { tx, organizationId, now } = place
  const key = (await listServiceKeys(tx)).find(({ name }) => name === 'tls-fetcher')!
  const claims = readClaims(readJwt(jwt, key.public_key))
  if (!claims) throw refused('it was not issued by this service')
  if (claims.organizationId !== organizationId) {
    const parentId = (await lockOrganization(tx, organizationId))?.parentId
    if (claims.organizationId !== parentId) throw refused('it was issued for another organization')
  }
  if (now >= claims.expiresAt) throw refused('it has expired')
  return claims
}

/**
 * Uses a token up in the home of its user; for a sign-up, that home is what it made, and one login is left. INVARIANT: in the
 * transaction of what it is used for, after it was verified there.
 */
export async function consumeVerificationToken(
  { tx, now, organizationId: homeId }: TokenPlace,
  claims: VerificationClaims,
  signedUpId?: string,
): Promise<void> {
  const { id: tokenId, organizationId, expiresAt } = claims
  await requireUnused(tx, claims, signedUpId === undefined ? homeId : undefined)
  if (await findUseOfToken(tx, tokenId)) await endUseOfToken(tx, tokenId)
  else await insertUsedToken(tx, { tokenId, organizationId, signedUpId, expiresAt, now })
}

/** The payload is this service's own, so a member that is missing is one that a token of another purpose has not. */
function readClaims(payload: JsonObject | undefined): VerificationClaims | undefined {
  const { exp, id, organization_id: organizationId, verification_type: verificationType, contact } = payload ?? {}
  const publicKey = payload?.['public_key']
  if (typeof exp !== 'string' || typeof id !== 'string' || typeof organizationId !== 'string') return undefined
  if (typeof contact !== 'string' || !isOtpType(verificationType)) return undefined
  const claims = {
    id,
    organizationId,
    verificationType,
    contact,
    isPlain: payload?.['plain'] === true,
    expiresAt: Number(exp),
  }
  return typeof publicKey === 'string' ? { ...claims, publicKey } : claims
}

function refused(why: string): ApiError {
  return invalidVerificationToken(why)
}
