import { sha256, signEs256 } from '../../crypto/index.ts'
import { encodeBase64Url, encodeUtf8, type JsonObject } from '../../encoding/index.ts'

/**
 * Writes the token of a session (docs/protocol/sessions.md#the-session-token), the members of its payload in their order. What is
 * signed is the digest of the text, which is hashed once more as ES256 signs: an ordinary library does not verify it.
 */
export function writeSessionToken(payload: JsonObject, privateKeyHex: string): string {
  const parts = [{ alg: 'ES256', typ: 'JWT' }, payload]
  const text = parts.map((part) => encodeBase64Url(encodeUtf8(asciiJson(part)))).join('.')
  return `${text}.${encodeBase64Url(signEs256(privateKeyHex, sha256(text)))}`
}

/**
 * JSON whose base64url has neither `-` nor `_`, which published clients drop as they decode a session: these come from `>`,
 * `?`, `~`, DEL and what is not ASCII, so each of them is written as an escape.
 */
export function asciiJson(value: JsonObject): string {
  return JSON.stringify(value).replace(
    /[>?~\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
