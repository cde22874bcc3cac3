import { createPrivateKey } from 'node:crypto'
import { p256PublicKey } from '../crypto/index.ts'
import { decodeBase64, encodeHex } from '../encoding/index.ts'
import { Secret } from '../telemetry/index.ts'
import { keyMalformed, keyMismatch } from './key-errors.ts'

/** A P-256 private key and the public key computed from it. */
export interface LoadedKey {
  readonly privateKey: Secret
  /** Lower-case hex of the compressed point. */
  readonly publicKey: string
}

/** The forms in which a private key may be written, by how the text starts. */
const FORMS: readonly { readonly starts: RegExp; readonly parse: (text: string, where: string) => LoadedKey }[] = [
  { starts: /^\{/, parse: parseJson },
  { starts: /^-----BEGIN /, parse: parsePem },
  { starts: /^/, parse: parseHex },
]

/**
 * Parses a private key: 64 hex digits, optionally followed by `:p256`; a JSON object with `privateKey` or
 * `apiPrivateKey`, whose `publicKey` or `apiPublicKey` must then fit; or an unencrypted PKCS#8 or SEC1 PEM block.
 * `where` says in errors where the text is from. Throws `stamp/key-malformed` and `stamp/key-mismatch`.
 */
export function parseKeyText(text: string, where: string): LoadedKey {
  const trimmed = text.trim()
  if (trimmed === '') throw keyMalformed(where, 'it is empty')
  return FORMS.find(({ starts }) => starts.test(trimmed))!.parse(trimmed, where)
}

function parseHex(text: string, where: string): LoadedKey {
  const [digits = '', curve = 'p256', ...rest] = text.split(':')
  if (!/^[0-9a-fA-F]{64}$/.test(digits) || rest.length > 0) {
    throw keyMalformed(where, `expected 64 hex digits, got ${text.length} characters that are something else`)
  }
  if (curve !== 'p256') throw keyMalformed(where, 'it is marked as a key of another curve')
  const privateKey = digits.toLowerCase()
  try {
    return { privateKey: new Secret(privateKey), publicKey: p256PublicKey(privateKey) }
  } catch {
    throw keyMalformed(where, 'the number is outside of the range of the curve')
  }
}

function parseJson(text: string, where: string): LoadedKey {
  const object = parseObject(text, where)
  const privateKey = object['privateKey'] ?? object['apiPrivateKey']
  if (typeof privateKey !== 'string') {
    throw keyMalformed(where, 'the JSON object has no text in `privateKey` or `apiPrivateKey`')
  }
  const key = parseHex(privateKey.trim(), where)
  const given = object['publicKey'] ?? object['apiPublicKey'] ?? key.publicKey
  if (typeof given !== 'string' || given.toLowerCase() !== key.publicKey) {
    throw keyMismatch(where, { expected: publicOnly(given), got: key.publicKey })
  }
  return key
}

function parseObject(text: string, where: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Record<string, unknown> // it starts with `{`
  } catch {
    throw keyMalformed(where, 'it starts like JSON and is not')
  }
}

/** A public key as text, or what it is instead: a private key put there by mistake is not repeated. */
function publicOnly(given: unknown): string {
  return typeof given === 'string' && /^0[23][0-9a-fA-F]{64}$/.test(given) ? given.toLowerCase() : 'not a public key'
}

function parsePem(text: string, where: string): LoadedKey {
  let jwk: { readonly crv?: string; readonly d?: string }
  try {
    jwk = createPrivateKey(text).export({ format: 'jwk' })
  } catch {
    throw keyMalformed(where, 'the PEM block cannot be opened; it may be encrypted or cut off')
  }
  if (jwk.crv !== 'P-256' || !jwk.d) throw keyMalformed(where, 'the PEM block holds a key of another curve')
  return parseHex(encodeHex(decodeBase64(jwk.d)), where)
}
