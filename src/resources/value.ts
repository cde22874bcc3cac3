import { canonicalJson } from '../encoding/index.ts'
import type { Comparison } from './kind.ts'
import type { Address, Reference, TemplateText, Value } from './model.ts'

/** Ids by address, or names by id. */
export type Lookup = ReadonlyMap<string, string> | Readonly<Record<string, string>>

export function isReference(value: unknown): value is Reference {
  return isObject(value) && typeof value['$ref'] === 'string'
}

export function isTemplateText(value: unknown): value is TemplateText {
  return isObject(value) && Array.isArray(value['$text'])
}

/** Every address that the value refers to, once each, sorted. */
export function referencesOf(value: Value): readonly Address[] {
  if (!isObject(value) && !isList(value)) return []
  const found = new Set<Address>()
  const visit = (part: Value): void => {
    if (isReference(part)) found.add(part.$ref)
    else if (isTemplateText(part)) for (const piece of part.$text) visit(piece)
    else if (isList(part)) for (const element of part) visit(element)
    else if (isObject(part)) for (const member of Object.values(part)) visit(member as Value)
  }
  visit(value)
  return [...found].sort()
}

/** Puts the ids that are known in place of references. A text whose references are all known becomes a string. */
export function resolveValue(value: Value, ids: Lookup): Value {
  return transform(value, {
    reference: (reference) => lookUp(ids, reference.$ref) ?? reference,
    string: (text) => text,
  })
}

/**
 * Writes a value for people: references, and the live ids that have a name, as `${kind.name}`; a text in which
 * a `${` stands for itself as `$${`, the way definitions write it. `namesById` gives the address of an id.
 */
export function nameValue(value: Value, namesById: Lookup): Value {
  return transform(value, {
    reference: ({ $ref }) => `\${${$ref}}`,
    string: (text) =>
      text
        .replaceAll('${', () => '$${')
        .replace(UUID, (id) => {
          const name = lookUp(namesById, id)
          return name === undefined ? id : `\${${name}}`
        }),
  })
}

/** Puts references in place of the ids that have an address here, in texts as well. The inverse of `resolveValue`. */
export function referTo(value: Value, addressesById: ReadonlyMap<string, Address>): Value {
  if (isList(value)) return value.map((element) => referTo(element, addressesById))
  if (isPlainRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, referTo(member, addressesById)]))
  }
  if (typeof value !== 'string') return value
  const own = addressesById.get(value)
  if (own !== undefined) return { $ref: own }
  const pieces: (string | Reference)[] = []
  let end = 0
  for (const { 0: id, index } of value.matchAll(UUID)) {
    const address = addressesById.get(id)
    if (address === undefined) continue
    pieces.push(value.slice(end, index), { $ref: address })
    end = index + id.length
  }
  return joinText([...pieces, value.slice(end)])
}

/** Whether two values of a field are the same under its comparison. Both absent is the same; references by address. */
export function sameValue(a: Value | undefined, b: Value | undefined, compare: Comparison): boolean {
  if (compare === 'never' || (typeof a === 'string' && a === b)) return true
  return normalForm(a ?? null, compare) === normalForm(b ?? null, compare)
}

/** The elements of a value that is a list; none of any other. */
export function listOf(value: Value | undefined): readonly Value[] {
  return value !== undefined && isList(value) ? value : []
}

/** Whether a value is a map that stands for itself: neither a list nor a reference nor a text with references. */
export function isPlainRecord(value: Value): value is { readonly [member: string]: Value } {
  return isObject(value) && !isReference(value) && !isTemplateText(value)
}

const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g

function normalForm(value: Value, compare: Exclude<Comparison, 'never'>): string {
  if (compare === 'set' && isList(value))
    return canonicalJson([...new Set(value.map((one) => canonicalJson(one)))].sort())
  if (compare === 'case-insensitive' && typeof value === 'string') return canonicalJson(value.toLowerCase())
  return canonicalJson(value)
}

interface Rules {
  readonly reference: (reference: Reference) => Reference | string
  readonly string: (text: string) => string
}

function transform(value: Value, rules: Rules): Value {
  if (typeof value === 'string') return rules.string(value)
  if (isReference(value)) return rules.reference(value)
  if (isTemplateText(value)) return joinText(value.$text.map((piece) => transform(piece, rules) as string | Reference))
  if (isList(value)) return value.map((element) => transform(element, rules))
  if (isObject(value)) {
    // Built from entries, so that a member called `__proto__` is a member like any other.
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, transform(member as Value, rules)]))
  }
  return value
}

function joinText(pieces: readonly (string | Reference)[]): string | TemplateText {
  const joined: (string | Reference)[] = []
  for (const piece of pieces) {
    const last = joined.at(-1)
    if (typeof piece === 'string' && typeof last === 'string') joined[joined.length - 1] = last + piece
    else joined.push(piece)
  }
  if (joined.length === 0) return ''
  const [only] = joined
  return joined.length === 1 && typeof only === 'string' ? only : { $text: joined }
}

function lookUp(table: Lookup, key: string): string | undefined {
  if (table instanceof Map) return table.get(key) as string | undefined
  const record = table as Readonly<Record<string, string>>
  return Object.hasOwn(record, key) ? record[key] : undefined
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value)
}

function isObject(value: unknown): value is { readonly [member: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
