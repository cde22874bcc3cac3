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
  if (typeof value === 'string') return quote(value)
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new EncodingError(`expected a finite number, got ${value}`)
    return JSON.stringify(value)
  }
  if (Array.isArray(value)) {
    let text = ''
    // By index: that visits holes too, which then are no JSON value.
    for (let i = 0; i < value.length; i++) text += (i === 0 ? '' : ',') + canonicalJson(value[i])
    return `[${text}]`
  }
  if (typeof value === 'object') {
    if (!isPlain(value)) throw new EncodingError(`expected a plain object, got a ${value.constructor.name}`)
    let text = ''
    for (const name of Object.keys(value).sort()) {
      const member: unknown = (value as Readonly<Record<string, unknown>>)[name]
      if (member !== undefined) text += `${text === '' ? '' : ','}${quote(name)}:${canonicalJson(member)}`
    }
    return `{${text}}`
  }
  throw new EncodingError(`expected a JSON value, got ${typeof value}`)
}

/** Most texts need no escapes. */
function quote(text: string): string {
  return /^[ !#-[\]-~]*$/.test(text) ? `"${text}"` : JSON.stringify(text)
}

/** A date, a map or a secret has no members to write: told apart by its prototype, in any realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
