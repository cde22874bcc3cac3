/** JSON Web Tokens of the service's own, signed by ES256 (RFC 7519, RFC 7518 §3.4). */
import { signEs256, verifyEs256 } from '../../crypto/index.ts'
import { decodeBase64, decodeUtf8, encodeBase64Url, encodeUtf8 } from '../../encoding/index.ts'
import { isJsonObject, type JsonObject } from '../../protocol/index.ts'

/** More than any token of this service has. */
const MAX_TOKEN_LENGTH = 4_096

/** Writes a token, the members of its payload in their order. */
export function writeJwt(payload: JsonObject, privateKeyHex: string, header: JsonObject = {}): string {
  const signed = `${encodeJson({ typ: 'JWT', alg: 'ES256', ...header })}.${encodeJson(payload)}`
  return `${signed}.${encodeBase64Url(signEs256(privateKeyHex, encodeUtf8(signed)))}`
}

/** Reads the payload of a token that this key has signed; undefined for anything else, whatever its header asks for. */
export function readJwt(jwt: string, publicKeyHex: string): JsonObject | undefined {
  if (jwt.length > MAX_TOKEN_LENGTH) return undefined
  const parts = jwt.split('.')
  if (parts.length !== 3) return undefined
  const [header, payload, signature] = parts as [string, string, string]
  try {
    const { typ, alg } = decodeJson(header) ?? {}
    if (typ !== 'JWT' || alg !== 'ES256') return undefined
    if (!verifyEs256(publicKeyHex, encodeUtf8(`${header}.${payload}`), decodeBase64(signature))) return undefined
    return decodeJson(payload)
  } catch {
    return undefined
  }
}

function encodeJson(value: JsonObject): string {
  return encodeBase64Url(encodeUtf8(JSON.stringify(value)))
}

function decodeJson(text: string): JsonObject | undefined {
  const value: unknown = JSON.parse(decodeUtf8(decodeBase64(text)))
  return isJsonObject(value) ? value : undefined
}
