/**
 * Sessions: the keys that a login registers and what the client gets to know of them (docs/protocol/sessions.md). A session is
 * its key: it ends when the key does, and nothing else is ever taken as proof of it.
 */

import { compressP256, createP256KeyBytes, encodeBase58Check, hpkeSeal, uncompressP256 } from '../../crypto/index.ts'
import { concatBytes, decodeHex, encodeHex } from '../../encoding/index.ts'
import { apiError } from '../../protocol/index.ts'
import type { HandlerContext } from '../engine/index.ts'
import { openServiceKey } from '../keys/index.ts'
import { publicKeyTaken } from '../readings.ts'
import { apiKeyTable, insertApiKey, listApiKeys } from '../resources/api-keys/store.ts'
import { type SessionProfileRow, sessionProfileTable } from '../resources/session-profiles/store.ts'
import { type ApiKeyRow, findApiKeyByPublicKey } from '../store/index.ts'
import { evictExpiringKeys, isPast } from './expiring-keys.ts'
import {
  DEFAULT_SECONDS,
  LOGIN_KINDS,
  type NewLoginKey,
  readExpirationSeconds,
  readLoginPublicKey,
} from './login-key.ts'
import { writeSessionToken } from './session-token.ts'

/** The user who is logged in. The organization is theirs, which need not be the one that the request runs in. */
export interface LoginUser {
  readonly id: string
  readonly organization_id: string
}

interface Checked {
  readonly publicKey: string
  readonly seconds: number
  readonly profile: SessionProfileRow | undefined
  /** The user's keys that give way: a dead one with the same public key, and all of the kind where these are to end. */
  readonly ended: readonly ApiKeyRow[]
  readonly kept: readonly ApiKeyRow[]
}

/**
 * Checks the key of a login, and writes nothing: for the `validate` of a handler. Throws the refusal of a key that is none, of
 * one that the organization has, of a time that is none, and of a profile that is not there.
 */
export async function checkLoginKey(context: HandlerContext, user: LoginUser, key: NewLoginKey): Promise<void> {
  await prepareLoginKey(context, user, key)
}

async function prepareLoginKey(context: HandlerContext, user: LoginUser, key: NewLoginKey): Promise<Checked> {
  const { tx, now } = context
  const { organization_id: organizationId } = user
  const publicKey = readLoginPublicKey(context, key.publicKey)
  const profile = await requireProfile(context, organizationId, key.sessionProfileId)
  const present = await listApiKeys(tx, organizationId, [user.id])
  const isEnded = (row: ApiKeyRow) =>
    (row.public_key === publicKey && isPast(row, now)) ||
    (key.invalidateExisting === true && row.credential_type === key.kind)
  const ended = present.filter(isEnded)
  const holder = await findApiKeyByPublicKey(tx, organizationId, publicKey)
  if (holder && !ended.some(({ id }) => id === holder.id)) throw publicKeyTaken(publicKey)
  return {
    publicKey,
    seconds: shorter(readExpirationSeconds(key.expirationSeconds), profile?.expiration_seconds ?? undefined),
    profile,
    ended,
    kept: present.filter((row) => !isEnded(row)),
  }
}

/** By its id as it was given: policies read that text (`activity.params.session_profile_id`), so no other may mean the same profile. */
async function requireProfile({ tx }: HandlerContext, organizationId: string, id: string | undefined) {
  if (id === undefined || id === '') return undefined
  const profile = await sessionProfileTable.find(tx, organizationId, id)
  if (!profile) throw apiError('notFound', 'session profile', id)
  return profile
}

/** A profile only shortens what was asked for. */
function shorter(asked: number | undefined, most: number | undefined): number {
  if (asked === undefined) return most ?? DEFAULT_SECONDS
  return most === undefined ? asked : Math.min(asked, most)
}

/** Registers the key of a login. It counts as an expiring key: beyond the limit it evicts others. */
async function register(context: HandlerContext, user: LoginUser, key: NewLoginKey) {
  const { tx, now } = context
  const { id: userId, organization_id: organizationId } = user
  const checked = await prepareLoginKey(context, user, key)
  const ended = checked.ended.map(({ id }) => id)
  await apiKeyTable.delete(tx, organizationId, ended)
  await evictExpiringKeys(context, organizationId, { present: checked.kept, incoming: 1 })
  const apiKeyId = context.newId()
  await insertApiKey(tx, {
    id: apiKeyId,
    organization_id: organizationId,
    user_id: userId,
    // Unstated: how the time is written.
    name: key.name || `${LOGIN_KINDS[key.kind]} - ${new Date(now).toISOString()}`,
    public_key: checked.publicKey,
    credential_type: key.kind,
    expiration_seconds: checked.seconds,
    session_profile_id: checked.profile?.id ?? null,
    created_at: now,
    updated_at: now,
  })
  return { ...checked, apiKeyId, expiresAt: now + checked.seconds * 1000 }
}

/**
 * Registers the key that a client has made, and gives the session token about it (docs/protocol/sessions.md#the-session-token).
 * @default kind CREDENTIAL_TYPE_LOGIN
 */
export async function issueSession(
  context: HandlerContext,
  user: LoginUser,
  key: Omit<NewLoginKey, 'kind'> & Partial<Pick<NewLoginKey, 'kind'>>,
): Promise<string> {
  const { publicKey, profile, expiresAt } = await register(context, user, { kind: 'CREDENTIAL_TYPE_LOGIN', ...key })
  const payload = {
    exp: Math.floor(expiresAt / 1000),
    public_key: publicKey,
    session_type: profile?.name ?? 'SESSION_TYPE_READ_WRITE',
    user_id: user.id,
    organization_id: user.organization_id,
    ...(profile && { session_profile_id: profile.id, scope: profile.scope }),
  }
  return writeSessionToken(payload, (await openServiceKey(context.tx, context.unseal, 'notarizer')).privateKey)
}

/**
 * Makes a key pair, registers the public half, and gives the private one in a credential bundle to the target key
 * (docs/protocol/bundles.md#credential-bundles). Nothing of the private half stays.
 */
export async function issueCredentialBundle(
  context: HandlerContext,
  user: LoginUser,
  { targetPublicKey, ...key }: Omit<NewLoginKey, 'publicKey'> & { readonly targetPublicKey: string },
): Promise<{ readonly apiKeyId: string; readonly expiresAt: number; readonly credentialBundle: string }> {
  const target = readBundleTarget(targetPublicKey)
  const { privateKey, publicKey } = createP256KeyBytes(context.randomBytes)
  try {
    const credentialBundle = await sealCredential(target, privateKey, context.randomBytes)
    const { apiKeyId, expiresAt } = await register(context, user, { ...key, publicKey })
    return { apiKeyId, expiresAt, credentialBundle }
  } finally {
    privateKey.fill(0)
  }
}

/**
 * Checks what a credential bundle is asked for with, and writes nothing: for the `validate` of a handler. Throws the refusal of
 * a target that is no key and of a time that is none.
 */
export function checkCredentialBundle(
  bundle: Pick<NewLoginKey, 'expirationSeconds'> & { targetPublicKey: string },
): void {
  readBundleTarget(bundle.targetPublicKey)
  readExpirationSeconds(bundle.expirationSeconds)
}

/** Reads the key that a bundle is for: P-256 in hex, compressed or not. Throws the refusal of another. */
function readBundleTarget(text: string): Uint8Array {
  const key = uncompressP256(text.replace(/^0x/i, ''))
  // Unstated: the text.
  if (key === undefined) throw apiError('invalidField', 'targetPublicKey', 'must be a P-256 public key in hex')
  return decodeHex(key)
}

/** Encrypts secret bytes to a target key, in the form of a credential bundle: base58check of HPKE's two parts. */
export async function sealCredential(
  target: Uint8Array,
  secret: Uint8Array,
  randomBytes: HandlerContext['randomBytes'],
): Promise<string> {
  const { encappedPublic, ciphertext } = await hpkeSeal(target, secret, randomBytes)
  const encapped = compressP256(encodeHex(encappedPublic))!
  return encodeBase58Check(concatBytes(decodeHex(encapped), ciphertext))
}
