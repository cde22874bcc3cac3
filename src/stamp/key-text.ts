import { createPrivateKey } from 'node:crypto'
import { isKeyCurve, KEY_CURVES, type KeyCurve } from '../crypto/index.ts'
import { decodeBase64, encodeHex } from '../encoding/index.ts'
import { Secret } from '../telemetry/index.ts'
import { keyMalformed, requireFit } from './key-errors.ts'

/** A private key and the public key computed from it. */
export interface LoadedKey {
  readonly privateKey: Secret
  /** Lower-case hex of the compressed point, or of the 32 bytes of Ed25519. */
  readonly publicKey: string
  readonly curve: KeyCurve
}

/** The forms in which a private key may be written, by how the text starts. */
const FORMS: readonly { readonly starts: RegExp; readonly parse: (text: string, where: string) => LoadedKey }[] = [
  { starts: /^\{/, parse: parseJson },
  { starts: /^-----BEGIN /, parse: parsePem },
  { starts: /^/, parse: (text, where) => openKey({ curve: 'p256', ...parseHex(text, where) }, where) },
]

/** Where a JSON Web Key says its curve. */
const JWK_CURVES: Readonly<Record<string, KeyCurve>> = { 'P-256': 'p256', secp256k1: 'secp256k1', Ed25519: 'ed25519' }

/**
 * Parses a private key: 64 hex digits, optionally followed by `:` and the curve, P-256 unless said; a JSON object with
 * `privateKey` or `apiPrivateKey`, maybe `curve`, whose `publicKey` or `apiPublicKey` must then fit; or an unencrypted
 * PKCS#8 or SEC1 PEM block. `where` says in errors where the text is from. Throws `stamp/key-malformed` and
 * `stamp/key-mismatch`.
 */
export function parseKeyText(text: string, where: string): LoadedKey {
  const trimmed = text.trim()
  if (trimmed === '') throw keyMalformed(where, 'it is empty')
  return FORMS.find(({ starts }) => starts.test(trimmed))!.parse(trimmed, where)
}

/** 64 hex digits, and the curve if it is said. */
function parseHex(text: string, where: string): { readonly digits: string; readonly curve?: KeyCurve } {
  const [digits = '', curve, ...rest] = text.split(':')
  if (!/^[0-9a-fA-F]{64}$/.test(digits) || rest.length > 0) {
    throw keyMalformed(where, `expected 64 hex digits, got ${text.length} characters that are something else`)
  }
  if (curve === undefined) return { digits }
  if (!isKeyCurve(curve)) throw unknownCurve(where, 'it is marked with a curve')
  return { digits, curve }
}

function openKey(key: { readonly digits: string; readonly curve: KeyCurve }, where: string): LoadedKey {
  const privateKey = key.digits.toLowerCase()
  try {
    const publicKey = KEY_CURVES[key.curve].publicKeyOf(privateKey)
    return { privateKey: new Secret(privateKey), publicKey, curve: key.curve }
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
  const { digits, curve: marked } = parseHex(privateKey.trim(), where)
  const curve = object['curve'] ?? marked ?? 'p256'
  if (!isKeyCurve(curve)) throw unknownCurve(where, '`curve` names a curve')
  if (marked !== undefined && marked !== curve) {
    throw keyMalformed(where, `\`curve\` is ${curve}, and the key is marked as ${marked}`)
  }
  const key = openKey({ digits, curve }, where)
  requireFit(where, { given: object['publicKey'] ?? object['apiPublicKey'], own: key.publicKey })
  return key
}

function parseObject(text: string, where: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Record<string, unknown> // it starts with `{`
  } catch {
    throw keyMalformed(where, 'it starts like JSON and is not')
  }
}

function parsePem(text: string, where: string): LoadedKey {
  let jwk: { readonly crv?: string; readonly d?: string }
  try {
    jwk = createPrivateKey(text).export({ format: 'jwk' })
  } catch {
    throw keyMalformed(where, 'the PEM block cannot be opened; it may be encrypted or cut off')
  }
  const curve = JWK_CURVES[jwk.crv ?? '']
  if (!curve || !jwk.d) throw keyMalformed(where, 'the PEM block holds a key of another curve')
  return openKey({ digits: encodeHex(decodeBase64(jwk.d)), curve }, where)
}

function unknownCurve(where: string, what: string) {
  return keyMalformed(where, `${what} that is none of ${Object.keys(KEY_CURVES).join(', ')}`)
}
