/**
 * Key material in texts. A person who types a private key where a public one, a name or a URL belongs must not find it in an error,
 * a log or an editor afterwards: what looks like one is said to be seen, and not shown.
 */

import { findMnemonics, type Stretch } from './mnemonic.ts'

interface Form {
  /** e.g. `a PEM private key`. */
  readonly name: string
  readonly pattern: RegExp
  readonly fits?: (text: string) => boolean
}

const MNEMONIC = 'a mnemonic'

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

/** Key material in a text, where it can be nothing else: its name and place. */
export interface KeyPlace extends Stretch {
  readonly name: string
}

/** Every stretch of a text that can be nothing but key material, in order. */
export function keyPlaces(text: string): readonly KeyPlace[] {
  const found = FORMS.flatMap(({ name, pattern, fits }) =>
    [...text.matchAll(pattern)]
      .filter(([match]) => fits?.(match) ?? true)
      .map(({ 0: match, index }) => ({ name, start: index, end: index + match.length })),
  )
  const mnemonics = findMnemonics(text).map((stretch) => ({ name: MNEMONIC, ...stretch }))
  return [...found, ...mnemonics].sort((a, b) => a.start - b.start)
}

/** The first form of key material that cannot be anything else. */
export function findKeyMaterial(text: string): KeyPlace | undefined {
  return keyPlaces(text)[0]
}

/** Where something stands in a text, in words that repeat nothing of it but the name before it: `line 3, after \`notes\``. */
export function placeInWords(text: string, { start }: Stretch): string {
  const before = text.slice(0, start)
  const line = before.split('\n')
  const key = /(?<![\w.-])([A-Za-z_][\w.-]{0,39})"?\s*:[^:]*$/.exec(line.at(-1)!.slice(-200))?.[1]
  return `line ${line.length}${key === undefined ? '' : `, after \`${withoutKeys(key)}\``}`
}

/** A text with words in place of what can be nothing but key material. */
export function withoutKeyMaterial(text: string): string {
  return replaceForms(text, FORMS, seen)
}

/** A text with words in place of what looks like key material. */
export function withoutKeys(text: string): string {
  return replaceForms(text, [...FORMS, HEX], seen)
}

/** The same, but 64 hex characters only where a text from outside is quoted: digests of ours stand elsewhere. */
export function withoutQuotedKeys(text: string): string {
  return withoutKeyMaterial(text).replace(/`[^`]*`|'[^']*'|"[^"]*"/g, withoutKeys)
}

/** A text of the same length with asterisks in place of it, so that offsets still fit. */
export function blankKeys(text: string): string {
  return replaceForms(text, [...FORMS, HEX], (found) => found.replace(/[^\r\n]/g, '*'))
}

function seen(_: string, name: string): string {
  return `[looks like ${name}; not shown]`
}

function replaceForms(text: string, forms: readonly Form[], put: (found: string, name: string) => string): string {
  const shown = forms.reduce(
    (left, { name, pattern, fits }) =>
      left.replace(pattern, (found) => ((fits?.(found) ?? true) ? put(found, name) : found)),
    text,
  )
  // From the end, so that the places of the others stay.
  return findMnemonics(shown).reduceRight(
    (left, { start, end }) => left.slice(0, start) + put(left.slice(start, end), MNEMONIC) + left.slice(end),
    shown,
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
