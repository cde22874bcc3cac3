/**
 * Verifies OIDC tokens against the keys that their issuer publishes (OpenID Connect Core §3.1.3.7, Discovery §4;
 * docs/protocol/organizations.md#oauth-providers). An issuer's keys are kept for a while, and longer where it gives no newer
 * ones; fetched again when a token names a key that is not among them, and not asked for more often than a token with such
 * a key could make the service ask.
 */
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose'
import type { JsonObject } from '../../encoding/index.ts'
import type { Logger } from '../../telemetry/index.ts'
import type { FetchDocument } from './fetch-document.ts'
import { type OidcIdentity, readIdentity } from './identity.ts'

/** The identity that a token names; undefined for one that does not verify. Never throws. */
export interface OidcVerifier {
  verify(token: string): Promise<OidcIdentity | undefined>
}

/** The issuer that this service is itself: its tokens are verified without asking anybody. */
export interface OwnIssuer {
  /** Undefined until it is known where the service can be found. */
  url(): string | undefined
  publishedKeys(): JsonObject
}

/** Signatures that anybody can check; none that only a holder of a shared secret can. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']

/** How far clocks may differ. */
const ALLOWANCE_S = 60
/** How long keys are kept, how long where the issuer gives no newer ones, how soon they may be fetched again, and for how many issuers. */
const KEPT_MS = 600_000
const KEPT_WITHOUT_NEWER_MS = 3_600_000
const PAUSE_MS = 10_000
const MAX_ISSUERS = 256
/** A token is a few kB. */
const MAX_TOKEN_LENGTH = 16_384

interface Had {
  readonly key: JWTVerifyGetKey
  /** When they were last had from the issuer, in milliseconds since the epoch. */
  readonly hadAt: number
}

interface Keys {
  readonly fetchedAt: number
  /** Nothing when they were never had; those from before when newer ones cannot be. */
  readonly get: Promise<Had | undefined>
}

/** Creates a verifier with a memory of its own. */
export function createOidcVerifier(tools: {
  readonly fetchDocument: FetchDocument
  readonly clock: () => number
  readonly logger: Logger
  readonly own?: OwnIssuer
}): OidcVerifier {
  const { fetchDocument, clock, logger, own } = tools
  const known = new Map<string, Keys>()

  function keysOf(issuer: string, notBefore: number): Keys {
    const now = clock()
    const had = (key: JWTVerifyGetKey) => ({ key, hadAt: now })
    if (own && issuer === own.url()) return { fetchedAt: now, get: ownKeys(own).then(had) }
    const kept = known.get(issuer)
    if (kept && kept.fetchedAt > notBefore) return kept
    const get = fetchKeys(fetchDocument, issuer).then(had, (error: unknown) => {
      const reason = error instanceof Error ? error.message : 'unknown'
      logger.warn('the keys of an OIDC issuer cannot be had', { issuer, reason })
      // What an issuer published a while ago is better than nobody of it logging in while it is away.
      return kept?.get
    })
    const fresh: Keys = { fetchedAt: now, get }
    known.delete(issuer)
    known.set(issuer, fresh)
    if (known.size > MAX_ISSUERS) known.delete(known.keys().next().value!)
    return fresh
  }

  async function verifyWith({ get }: Keys, issuer: string, token: string) {
    const { errors, jwtVerify } = await import('jose')
    const had = await get
    if (!had || had.hadAt <= clock() - KEPT_WITHOUT_NEWER_MS) return 'no-keys'
    const currentDate = new Date(clock())
    const options = { issuer, algorithms: ALGORITHMS, clockTolerance: ALLOWANCE_S, currentDate }
    try {
      return (await jwtVerify(token, had.key, { ...options, requiredClaims: ['exp', 'sub', 'aud'] })).payload
    } catch (error) {
      return error instanceof errors.JWKSNoMatchingKey ? 'no-keys' : 'invalid'
    }
  }

  return {
    async verify(token) {
      const issuer = await readIssuer(token)
      if (issuer === undefined) return undefined
      const now = clock()
      let payload = await verifyWith(keysOf(issuer, now - KEPT_MS), issuer, token)
      if (payload === 'no-keys') payload = await verifyWith(keysOf(issuer, now - PAUSE_MS), issuer, token)
      if (typeof payload === 'string') return undefined
      if (typeof payload.iat === 'number' && payload.iat * 1000 > now + ALLOWANCE_S * 1000) return undefined
      return readIdentity(payload)
    },
  }
}

/** Reads the claims of a token that was verified before. */
export async function readVerifiedIdentity(token: string): Promise<OidcIdentity | undefined> {
  const { decodeJwt } = await import('jose')
  try {
    return readIdentity(decodeJwt(token))
  } catch {
    return undefined
  }
}

async function readIssuer(token: string): Promise<string | undefined> {
  if (token.length > MAX_TOKEN_LENGTH) return undefined
  const { decodeJwt } = await import('jose')
  try {
    const { iss } = decodeJwt(token)
    return iss !== undefined && isIssuer(iss) ? iss : undefined
  } catch {
    return undefined
  }
}

/** Discovery §3: a URL without query and fragment; which schemes and addresses may be asked is the fetch's to say. */
function isIssuer(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && url.search === '' && url.hash === '' && url.username === '' && url.password === ''
}

async function ownKeys(own: OwnIssuer): Promise<JWTVerifyGetKey> {
  const { createLocalJWKSet } = await import('jose')
  return createLocalJWKSet(own.publishedKeys() as unknown as JSONWebKeySet)
}

async function fetchKeys(fetchDocument: FetchDocument, issuer: string): Promise<JWTVerifyGetKey> {
  const { createLocalJWKSet } = await import('jose')
  const document = await fetchDocument(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
  const { issuer: named, jwks_uri: keys } = (document ?? {}) as Readonly<Record<string, unknown>>
  // Discovery §4.3: otherwise one issuer could publish keys in another's name.
  if (named !== issuer) throw new Error('the configuration is of another issuer')
  if (typeof keys !== 'string') throw new Error('the configuration names no keys')
  return createLocalJWKSet((await fetchDocument(keys)) as JSONWebKeySet)
}
