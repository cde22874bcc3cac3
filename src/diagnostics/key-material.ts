/**
 * Key material in texts. A person who types a private key where a public one, a name or a URL belongs must not find it in an error,
 * a log or an editor afterwards: what looks like one is said to be seen, and not shown.
 */

interface Form {
  /** e.g. `a PEM private key`. */
  readonly name: string
  readonly pattern: RegExp
  readonly fits?: (text: string) => boolean
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Forms that only a private key has. */
const FORMS: readonly Form[] = [
  {
    name: 'a PEM private key',
    pattern: /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g,
  },
  { name: 'an extended private key', pattern: /\b[xtyzuv]prv[1-9A-HJ-NP-Za-km-z]{100,112}\b/g },
  {
    name: 'a private key in wallet import format',
    pattern: /\b[5KL9c][1-9A-HJ-NP-Za-km-z]{50,51}\b/g,
    fits: isPrivateKeyBytes,
  },
  { name: 'a private key of a JSON Web Key', pattern: /(?<="d"\s*:\s*")[A-Za-z0-9_-]{43,}(?=")/g },
  { name: 'a private key', pattern: /\bAGE-SECRET-KEY-1[A-Z0-9]{58}\b|\bnsec1[a-z0-9]{58}\b/g },
]

/** 32 bytes in hex: a private key as most tools write it, and a digest or an Ed25519 public key as well. */
const HEX: Form = {
  name: 'a private key, 64 hex characters',
  pattern: /(?<![0-9A-Za-z:])(?:0x)?[0-9a-fA-F]{64}(?:(?=:(?:p256|secp256k1|ed25519)\b)|(?![0-9A-Za-z]))/g,
}

/** The first form of key material that cannot be anything else, by its name and place. */
export function findKeyMaterial(text: string): { readonly name: string; readonly index: number } | undefined {
  for (const { name, pattern, fits } of FORMS) {
    for (const match of text.matchAll(pattern)) if (fits?.(match[0]) ?? true) return { name, index: match.index }
  }
  return undefined
}

/** A text with words in place of what looks like key material. */
export function withoutKeys(text: string): string {
  return replaceForms(text, [...FORMS, HEX], (_, name) => `[looks like ${name}; not shown]`)
}

/** The same, but 64 hex characters only where a text from outside is quoted: digests of ours stand elsewhere. */
export function withoutQuotedKeys(text: string): string {
  const shown = replaceForms(text, FORMS, (_, name) => `[looks like ${name}; not shown]`)
  return shown.replace(/`[^`]*`|'[^']*'|"[^"]*"/g, withoutKeys)
}

/** A text of the same length with asterisks in place of it, so that offsets still fit. */
export function blankKeys(text: string): string {
  return replaceForms(text, [...FORMS, HEX], (found) => found.replace(/[^\r\n]/g, '*'))
}

function replaceForms(text: string, forms: readonly Form[], put: (found: string, name: string) => string): string {
  return forms.reduce(
    (shown, { name, pattern, fits }) =>
      shown.replace(pattern, (found) => ((fits?.(found) ?? true) ? put(found, name) : found)),
    text,
  )
}

/**
 * Base58Check of a private key: its version, 32 bytes, maybe 1 for a compressed point, and 4 bytes of a checksum. That is
 * not calculated: a key with one wrong letter is as little to be shown, and what starts a command waits for no hash.
 */
function isPrivateKeyBytes(text: string): boolean {
  let number = 0n
  for (const c of text) number = number * 58n + BigInt(BASE58.indexOf(c))
  const hex = number.toString(16)
  return /^(80|ef)(.{72}|.{64}01.{8})$/.test(hex)
}
