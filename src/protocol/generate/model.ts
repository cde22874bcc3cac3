/** Reads `data/` into one model of the protocol, and refuses data that does not fit together. */
import { readFileSync } from 'node:fs'

/** What a field holds: a scalar, a named type, or words. */
export type FieldType =
  | { readonly kind: 'string' | 'boolean' | 'int32' | 'uint32' | 'int64' | 'uint64' | 'bytes' | 'text map' }
  | { readonly kind: 'named'; readonly name: string }
  | { readonly kind: 'words'; readonly words: readonly string[] }

export interface SchemaField {
  readonly name: string
  readonly type: FieldType
  readonly repeated: boolean
  /** Marked with `?` in the schema. */
  readonly optional: boolean
  /** The validator's tags, after the readings. */
  readonly checks?: string
  /** May be left out although it is not marked so; it then counts as empty. */
  readonly emptyWhenAbsent: boolean
  /** Answered as null where there is none. */
  readonly nullWhenAbsent: boolean
  /** Which literal refusals a fault in it has. */
  readonly refused?: { readonly invalid?: string; readonly missing?: string }
}

export interface SchemaMessage {
  readonly name: string
  readonly fields: readonly SchemaField[]
  /** Whether it can be part of a request; otherwise it is only ever answered. */
  readonly inRequest: boolean
}

export interface Activity {
  readonly type: string
  readonly path: string
  readonly intentKey: string
  readonly intent: string
  readonly resultKey: string | null
  readonly result: string | null
  readonly published: boolean
}

export interface Query {
  readonly path: string
  readonly request: string
  readonly response: string
  readonly internal?: boolean
}

export interface SchemaEndpoint {
  readonly method: string
  readonly path: string
  readonly request: string
  readonly response: string
}

export interface Kind {
  readonly type: string
  readonly kind?: string
  readonly resource?: string
  readonly action?: string
  readonly rootOnly?: boolean
  readonly why?: string
}

export interface Model {
  readonly messages: readonly SchemaMessage[]
  readonly enums: ReadonlyMap<string, readonly string[]>
  readonly activities: readonly Activity[]
  readonly queries: readonly Query[]
  readonly endpoints: readonly SchemaEndpoint[]
  readonly kinds: ReadonlyMap<string, Kind>
}

type RawType = { readonly [field: string]: string } | { readonly enum: readonly string[] }
type RawTypes = Readonly<Record<string, RawType>>
interface Readings {
  readonly emptyWhenAbsent: Readonly<Record<string, string>>
  readonly nullWhenAbsent: Readonly<Record<string, string>>
  readonly checks: Readonly<Record<string, { readonly checks: string }>>
  readonly refusals: Readonly<Record<string, { readonly invalid?: string; readonly missing?: string }>>
  /** Words that an enum, or a field that lists its own, has here and not in the published schema. */
  readonly addedWords: Readonly<Record<string, { readonly words: readonly string[] }>>
  readonly unused: Readonly<Record<string, string>>
}

const scalars: Readonly<Record<string, FieldType>> = {
  string: { kind: 'string' },
  boolean: { kind: 'boolean' },
  'integer:int32': { kind: 'int32' },
  // The schema was derived from protobuf, where an unsigned 32-bit integer is written "integer, format int64".
  'integer:int64': { kind: 'uint32' },
  'string:int64': { kind: 'int64' },
  'string:uint64': { kind: 'uint64' },
  'string:byte': { kind: 'bytes' },
  'map<string,string>': { kind: 'text map' },
}

/** Reads the model from `data/`. Throws when a name is used but not defined, or a reading names no field. */
export function readModel(): Model {
  const api = readData<{ activities: Activity[]; queries: Query[]; types: RawTypes }>('api.json')
  const proxy = readData<{ endpoints: SchemaEndpoint[]; types: RawTypes }>('auth-proxy-api.json')
  const supplement = readData<{ renamed: Record<string, string>; queries: Query[]; types: RawTypes }>('supplement.json')
  const checks = readData<{ messages: Record<string, Record<string, string>> }>('validation.json').messages
  const readings = readData<Readings>('readings.json')
  const kinds = readData<{ rows: Kind[] }>('activity-kinds.json').rows

  const raw = new Map<string, RawType>()
  for (const types of [api.types, proxy.types, supplement.types])
    for (const [qualified, type] of Object.entries(types)) {
      const name = supplement.renamed[qualified] ?? qualified
      const known = raw.get(name)
      if (known && JSON.stringify(known) !== JSON.stringify(type)) throw new Error(`${name} is defined in two ways`)
      raw.set(name, type)
    }

  const enums = new Map<string, readonly string[]>()
  for (const [name, type] of raw)
    if (isEnum(type)) enums.set(name, [...type.enum, ...(readings.addedWords[name]?.words ?? [])])

  const queries = [...api.queries, ...supplement.queries]
  const requests = [
    ...api.activities.map(({ intent }) => intent),
    ...queries.map(({ request }) => request),
    ...proxy.endpoints.map(({ request }) => request),
  ]
  const parse = (text: string) => parseType(text, raw, supplement.renamed)
  const inRequest = reach(requests, raw, parse)
  const used = new Set<string>()
  const messages = [...raw].flatMap(([name, type]): SchemaMessage[] => {
    if (isEnum(type)) return []
    const fields = Object.entries(type).map(([marked, text]): SchemaField => {
      const optional = marked.endsWith('?')
      const fieldName = optional ? marked.slice(0, -1) : marked
      const place = `${name}.${fieldName}`
      used.add(place)
      const tags = readings.checks[place]?.checks ?? checks[name]?.[fieldName]
      const refused = readings.refusals[place]
      return {
        name: fieldName,
        ...parse([text, ...(readings.addedWords[place]?.words ?? [])].join('|')),
        optional,
        emptyWhenAbsent: place in readings.emptyWhenAbsent,
        nullWhenAbsent: place in readings.nullWhenAbsent,
        ...(tags === undefined ? {} : { checks: tags }),
        ...(refused === undefined ? {} : { refused }),
      }
    })
    return [{ name, fields, inRequest: inRequest.has(name) }]
  })

  for (const place of [readings.emptyWhenAbsent, readings.nullWhenAbsent, readings.checks, readings.refusals].flatMap(
    Object.keys,
  ))
    if (!used.has(place)) throw new Error(`a reading names ${place}, which is no field`)
  for (const name of Object.keys(readings.addedWords))
    if (!enums.has(name) && !used.has(name)) throw new Error(`${name} is neither an enum nor a field`)
  for (const [name, fields] of Object.entries(checks))
    for (const field of Object.keys(fields))
      if (!used.has(`${name}.${field}`) && !(name in readings.unused)) throw new Error(`${name}.${field} is no field`)

  return {
    messages,
    enums,
    activities: api.activities,
    queries,
    endpoints: proxy.endpoints,
    kinds: new Map(kinds.map((row) => [row.type, row])),
  }
}

function readData<T>(file: string): T {
  return JSON.parse(readFileSync(new URL(`../data/${file}`, import.meta.url), 'utf8')) as T
}

function isEnum(type: RawType): type is { readonly enum: readonly string[] } {
  return Array.isArray(type['enum'])
}

/** Reads one field's type: a scalar, `NAME`, `NAME[]`, or words with `|` between. */
function parseType(
  text: string,
  types: ReadonlyMap<string, RawType>,
  renamed: Readonly<Record<string, string>>,
): { type: FieldType; repeated: boolean } {
  const repeated = text.endsWith('[]')
  const base = repeated ? text.slice(0, -2) : text
  const scalar = scalars[base]
  if (scalar) return { type: scalar, repeated }
  const name = renamed[base] ?? base
  if (types.has(name)) return { type: { kind: 'named', name }, repeated }
  if (base.includes('|') || base === 'public-key') return { type: { kind: 'words', words: base.split('|') }, repeated }
  throw new Error(`unknown type ${text}`)
}

/** The messages that requests are made of. */
function reach(
  names: readonly string[],
  types: ReadonlyMap<string, RawType>,
  parse: (text: string) => { type: FieldType },
): ReadonlySet<string> {
  const reached = new Set<string>()
  const walk = (name: string) => {
    const type = types.get(name)
    if (!type) throw new Error(`${name} is not defined`)
    if (reached.has(name) || isEnum(type)) return
    reached.add(name)
    for (const text of Object.values(type)) {
      const field = parse(text).type
      if (field.kind === 'named') walk(field.name)
    }
  }
  for (const name of names) walk(name)
  return reached
}
