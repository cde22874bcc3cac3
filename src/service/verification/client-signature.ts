/**
 * Client signatures (docs/protocol/one-time-passcodes.md#client-signatures): the holder of the key that a verification
 * token is bound to says what the token is used for, so that nobody who merely sees the token can use it for another thing.
 */
import { compressP256, verifyEs256, verifyP256 } from '../../crypto/index.ts'
import { canonicalJson, decodeHex, encodeUtf8, isHex } from '../../encoding/index.ts'
import { type ApiError, isJsonObject, type Json, type JsonObject, parseJson, type Wire } from '../../protocol/index.ts'
import { invalidClientSignature } from '../readings.ts'
import type { VerificationClaims } from './verification-tokens.ts'

const SCHEME = 'CLIENT_SIGNATURE_SCHEME_API_P256' satisfies Wire.ClientSignatureScheme

/** The use of a token that its holder has to have signed. */
export type TokenUsage =
  | { readonly type: 'login'; readonly publicKey: string }
  | {
      readonly type: 'signup'
      readonly email?: string | undefined
      readonly phoneNumber?: string | undefined
      readonly apiKeys: Json
      readonly authenticators: Json
      readonly oauthProviders: Json
    }

/**
 * Checks that the key of the token has signed this use of it. A signature without a message is the older form, made over the
 * text of the token. Throws `ApiError`.
 */
export function checkClientSignature(
  signature: Wire.ClientSignature | undefined,
  { claims, token, usage }: { readonly claims: VerificationClaims; readonly token: string; readonly usage: TokenUsage },
): void {
  const { publicKey } = claims
  if (publicKey === undefined) throw refused('the verification token is bound to no key')
  if (signature === undefined) throw refused('it is missing')
  const isOlderForm = signature.message === '' && signature.publicKey === ''
  if (isOlderForm) {
    checkOlderForm(signature, publicKey, token, usage)
    return
  }
  if (signature.scheme !== SCHEME) throw refused(`its scheme must be ${SCHEME}`)
  if (compressP256(signature.publicKey) !== publicKey)
    throw refused('its public key is not that of the verification token')
  if (!isSigned(publicKey, signature.message, signature.signature))
    throw refused('the key of the verification token did not sign its message')
  checkMessage(readMessage(signature.message), claims, usage)
}

/** Unstated: it says nothing of the session's key, so that key has to be the one of the token. */
function checkOlderForm(
  { signature }: Wire.ClientSignature,
  publicKey: string,
  token: string,
  usage: TokenUsage,
): void {
  if (!isSigned(publicKey, token, signature)) throw refused('the key of the verification token did not make it')
  if (usage.type === 'login' && !isSameKey(usage.publicKey, publicKey))
    throw refused('without a message it is for the key of the verification token alone')
}

function checkMessage(message: JsonObject, { id }: VerificationClaims, usage: TokenUsage): void {
  if (message['tokenId'] !== id) throw refused('its message names another token')
  if (message['type'] !== `USAGE_TYPE_${usage.type.toUpperCase()}`) throw refused('its message is for another use')
  if (usage.type === 'login') {
    const login = message['login']
    if (!isJsonObject(login) || !isSameKey(login['publicKey'], usage.publicKey))
      throw refused('its message names another key')
    return
  }
  const signed = message['signupV2'] ?? message['signup']
  if (!isJsonObject(signed)) throw refused('its message does not say what is signed up')
  const { type: _, ...request } = usage
  for (const name of Object.keys(request) as (keyof typeof request)[]) {
    if (inOneForm(signed[name]) !== inOneForm(request[name]))
      throw refused(`its message does not have the request's ${name}`)
  }
}

function isSameKey(a: unknown, b: string): boolean {
  return typeof a === 'string' && compressP256(a) !== undefined && compressP256(a) === compressP256(b)
}

/** Raw `r ‖ s` in hex, or DER. */
function isSigned(publicKey: string, message: string, signatureHex: string): boolean {
  if (!isHex(signatureHex)) return false
  const body = encodeUtf8(message)
  return verifyEs256(publicKey, body, decodeHex(signatureHex)) || verifyP256({ publicKey, body, signatureHex })
}

/** One text may not say two things to two readers: a member that stands twice is refused with what cannot be read. */
function readMessage(message: string): JsonObject {
  try {
    const value = parseJson(encodeUtf8(message))
    if (isJsonObject(value)) return value
  } catch {
    // Said below.
  }
  throw refused('its message is no JSON object')
}

/** As the decoder brings a request: what is null or an empty list is not there, and names have no underscores. */
function inOneForm(value: Json | undefined): string {
  return canonicalJson(simplify(value ?? null) ?? null)
}

function simplify(value: Json): Json | undefined {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => simplify(item) ?? null)
  if (!isJsonObject(value)) return value === null || value === '' ? undefined : value
  const members = Object.entries(value).flatMap(([name, member]) => {
    const kept = simplify(member)
    return kept === undefined ? [] : [[camelCase(name), kept] as const]
  })
  return Object.fromEntries(members)
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

function refused(why: string): ApiError {
  return invalidClientSignature(why)
}
