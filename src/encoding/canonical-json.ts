import { EncodingError } from './error.ts'

/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject
/** A JSON object. */
export type JsonObject = { readonly [member: string]: Json }

/**
 * Writes a value as canonical JSON: members sorted by UTF-16 code units, no white space, strings and numbers as
 * `JSON.stringify` writes them (RFC 8785). Equal values give equal text, so a digest of it identifies the value.
 * Members that are `undefined` are left out. Throws `EncodingError` for what JSON cannot say.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new EncodingError(`expected a finite number, got ${value}`)
    return JSON.stringify(value)
  }
  // `Array.from` visits holes too, which then are no JSON value.
  if (Array.isArray(value)) return `[${Array.from(value, (item) => canonicalJson(item)).join(',')}]`
  if (typeof value === 'object') {
    if (!isPlain(value)) throw new EncodingError(`expected a plain object, got a ${value.constructor.name}`)
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
    return `{${members.join(',')}}`
  }
  throw new EncodingError(`expected a JSON value, got ${typeof value}`)
}

/** A date, a map or a secret has no members to write: told apart by its prototype, in any realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
