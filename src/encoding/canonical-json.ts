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
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object') {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
    return `{${members.join(',')}}`
  }
  throw new EncodingError(`expected a JSON value, got ${typeof value}`)
}
