/**
 * The issuer of OpenID Connect that this service is, for people whom a provider without it knows
 * (docs/protocol/oauth.md#the-services-own-issuer). Its tokens can be verified by anybody: discovery and keys are published.
 */
import { sha256, uncompressP256 } from '../../crypto/index.ts'
import { decodeHex, encodeBase64Url, encodeHex } from '../../encoding/index.ts'
import { apiError, type JsonObject } from '../../protocol/index.ts'
import { createKeyPair, prepareRotatingKeys } from '../keys/index.ts'
import { OWN_TOKEN_S } from '../readings.ts'
import { lockInstallation, readSetting, writeSetting } from '../store/index.ts'
import { writeJwt } from '../verification/index.ts'

/** How long the keys may be kept by those who verify: said with them, and waited for. */
const KEYS_ARE_KEPT_S = 86_400
const SETTING = 'issuer-url'

/** What a token says of its bearer. */
export interface OwnClaims {
  readonly audience: string
  readonly subject: string
  readonly nonce: string
  readonly encryptedBearerToken?: string
}

export interface TokenIssuer {
  /** Undefined until `open`. */
  url(): string | undefined
  /** Says where the service can be found, unless its operator or an earlier start has said so. */
  open(url: string): Promise<void>
  /** Discovery 1.0 §3. */
  configuration(): JsonObject
  publishedKeys(): JsonObject
  /** How long both may be kept, in seconds. */
  readonly keptS: number
  /** Signs a token for a moment in milliseconds since the epoch. Throws `ApiError` before `open`. */
  issue(claims: OwnClaims, now: number): string
}

/**
 * Creates the issuer. Its URL stays from the first start on: identities that were registered by its tokens name it.
 * @param options.url where the operator says that the service can be found
 */
export async function createTokenIssuer(
  tools: Parameters<typeof prepareRotatingKeys>[0],
  options: { readonly url: string | undefined; readonly rotate: boolean },
): Promise<TokenIssuer> {
  const keys = await prepareRotatingKeys(tools, {
    prefix: 'issuer-',
    keptS: KEYS_ARE_KEPT_S,
    rotate: options.rotate,
    create: (randomBytes) => {
      const { privateKey, publicKey } = createKeyPair(randomBytes)
      return { privateKey: decodeHex(privateKey), publicKey: uncompressP256(publicKey)! }
    },
  })
  let issuer = options.url
  const opened = () => {
    if (issuer === undefined) throw apiError('unavailable')
    return issuer
  }
  return {
    url: () => issuer,
    async open(url) {
      issuer ??= await tools.database.write(async (tx) => {
        await lockInstallation(tx)
        const kept = await readSetting(tx, SETTING)
        if (kept === undefined) await writeSetting(tx, SETTING, url)
        return kept ?? url
      })
    },
    configuration: () => ({
      issuer: opened(),
      jwks_uri: `${opened().replace(/\/$/, '')}/.well-known/jwks.json`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      claims_supported: ['iss', 'sub', 'aud', 'exp', 'iat', 'nonce'],
    }),
    publishedKeys: () => ({ keys: keys.published().map(toJwk) }),
    keptS: KEYS_ARE_KEPT_S,
    issue({ audience, subject, nonce, encryptedBearerToken }, now) {
      const iat = Math.floor(now / 1_000)
      const payload = {
        iss: opened(),
        aud: audience,
        sub: subject,
        nonce,
        iat,
        exp: iat + OWN_TOKEN_S,
        ...(encryptedBearerToken !== undefined && { encrypted_bearer_token: encryptedBearerToken }),
      }
      return keys.withKey(({ publicKey, privateKey }) =>
        writeJwt(payload, encodeHex(privateKey), { kid: keyIdOf(publicKey) }),
      )
    },
  }
}

function toJwk(publicKey: string): JsonObject {
  return { ...pointOf(publicKey), kid: keyIdOf(publicKey), alg: 'ES256', use: 'sig' }
}

/** The thumbprint of a key (RFC 7638 §3.2): the required members in the order of their names. */
function keyIdOf(publicKey: string): string {
  return encodeBase64Url(sha256(JSON.stringify(pointOf(publicKey))))
}

/** RFC 7518 §6.2.1, of `04 ‖ x ‖ y` in hex. */
function pointOf(publicKey: string) {
  const bytes = decodeHex(publicKey)
  return {
    crv: 'P-256',
    kty: 'EC',
    x: encodeBase64Url(bytes.subarray(1, 33)),
    y: encodeBase64Url(bytes.subarray(33)),
  }
}
