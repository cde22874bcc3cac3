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
  const copy = inOrder(value)
  if (copy !== undefined) return JSON.stringify(copy)
  // Somewhere inside is a name that has no place in a copy: there the text is put together, member by member.
  if (Array.isArray(value)) return `[${Array.from(value, canonicalJson).join(',')}]`
  const members = Object.entries(value as object).filter(([, member]) => member !== undefined)
  const texts = members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
  return `{${texts.join(',')}}`
}

/**
 * A copy whose members were added in order: the engine writes them so, several times as fast as text is put together here.
 * Undefined where a name would not be where it was added: numbers come first in an object, and `__proto__` is none of its members.
 */
function inOrder(value: unknown): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new EncodingError(`expected a finite number, got ${value}`)
    return value
  }
  if (typeof value !== 'object') throw new EncodingError(`expected a JSON value, got ${typeof value}`)
  if (Array.isArray(value)) {
    const copy: unknown[] = []
    // By index: that visits holes too, which then are no JSON value.
    for (let i = 0; i < value.length; i++) {
      const element = inOrder(value[i])
      if (element === undefined) return undefined
      copy.push(element)
    }
    return copy
  }
  if (!isPlain(value)) throw new EncodingError(`expected a plain object, got a ${value.constructor.name}`)
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(value).sort()) {
    const member: unknown = (value as Readonly<Record<string, unknown>>)[name]
    if (member === undefined) continue
    const copied = inOrder(member)
    if (copied === undefined || /^(?:\d|__proto__$)/.test(name)) return undefined
    copy[name] = copied
  }
  return copy
}

/** A date, a map or a secret has no members to write: told apart by its prototype, in any realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
