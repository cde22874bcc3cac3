/** Live things → what definitions say of them: under which name, and each field as it is written. */
import { createSource, type Diagnostic, diagnostic, spanAt, withoutUnseen } from '../diagnostics/index.ts'
import {
  type Actual,
  type Address,
  type FieldRow,
  formatAddress,
  KINDS,
  type KindName,
  kinds,
  nameValue,
  parseAddress,
  type Resource,
  type ResourceKind,
  sameValue,
  type Value,
} from '../resources/index.ts'

/** One live thing as definitions will say it. */
export interface Description {
  readonly address: Address
  readonly kind: ResourceKind
  /** Under which it stands. */
  readonly key: string
  readonly parent?: Address
  readonly live: Resource
  /** Fields as they are written, by name, in the order of the kind's rows. */
  readonly fields: Readonly<Record<string, Value>>
}

export interface Described {
  readonly descriptions: readonly Description[]
  /** Live resources that no definition can describe, with the reason, by `liveKey`. */
  readonly leftOut: ReadonlyMap<string, string>
  readonly diagnostics: readonly Diagnostic[]
}

/** Tells live things apart: kinds without ids of their own share the organization's. */
export function liveKey({ kind, id, name }: Pick<Resource, 'kind' | 'id' | 'name'>): string {
  return `${kind} ${id ?? name}`
}

/**
 * Describes every live resource, but for those in `leftOut`. `declared` are the names that definitions have given.
 */
export function describeLive(
  actual: Actual,
  declared: ReadonlyMap<string, Resource>,
  leftOut: ReadonlyMap<string, string>,
): Described {
  const why = new Map(leftOut)
  const diagnostics: Diagnostic[] = []
  const named = new Map<string, { readonly address: Address; readonly key: string; readonly parent?: Address }>()
  for (const kind of KINDS) {
    const taken = new Map<string, Resource>()
    for (const live of actual.resources.filter((one) => one.kind === kind && !why.has(liveKey(one)))) {
      const row = kinds[kind]
      const parent = row.parent ? named.get(`${row.parent} ${live.parentId}`)?.address : undefined
      if (row.parent && parent === undefined) {
        why.set(liveKey(live), `its ${kinds[row.parent].one} is in no definition`)
        continue
      }
      const within = parent ?? ''
      const key = keyOf(row, live, {
        given: declared.get(liveKey(live))?.name,
        isTaken: (name) => taken.has(`${within} ${name.normalize('NFC')}`),
      })
      const place = `${within} ${key.normalize('NFC')}`
      const other = taken.get(place)
      if (other) diagnostics.push(sharedName(row, live, other))
      taken.set(place, live)
      const names = parent === undefined ? [] : parseAddress(parent)!.names
      const own = row.form.shape === 'one' || row.form.shape === 'value' ? [] : [key]
      const address = formatAddress(kind, ...names, ...own)
      named.set(liveKey(live), { address, key, ...(parent === undefined ? {} : { parent }) })
    }
  }
  const addressOf = (kind: KindName, id: string) => named.get(`${kind} ${id}`)?.address
  const referable: [string, Address][] = actual.resources.flatMap((live): [string, Address][] => {
    const name = named.get(liveKey(live))
    return kinds[live.kind].referable && name && live.id !== undefined ? [[live.id, name.address]] : []
  })
  const addresses = new Map(referable)
  const descriptions = actual.resources.flatMap((live): readonly Description[] => {
    const name = named.get(liveKey(live))
    if (!name) return []
    const row = kinds[live.kind]
    const fields: Record<string, Value> = {}
    for (const [field, fieldRow] of Object.entries(row.fields)) {
      const value = writtenField(fieldRow, live.fields[field], { addresses, addressOf })
      if (value !== undefined) fields[field] = value
      else if (fieldRow.required && fieldRow.schema && !declared.has(liveKey(live))) {
        why.set(liveKey(live), `no definition can say its \`${field}\`, which cannot be read in full`)
        return []
      }
    }
    return [{ ...name, kind: row, live, fields }]
  })
  return { descriptions: withParents(descriptions, why), leftOut: why, diagnostics }
}

/** Children of a left-out resource are left out with it. */
function withParents(descriptions: readonly Description[], why: Map<string, string>): readonly Description[] {
  const kept = new Set<Address>()
  const parentsFirst = [...descriptions].sort((a, b) => KINDS.indexOf(a.kind.kind) - KINDS.indexOf(b.kind.kind))
  return parentsFirst.filter(({ address, parent, kind, live }) => {
    if (parent !== undefined && !kept.has(parent)) {
      why.set(liveKey(live), `its ${kinds[kind.parent!].one} is in no definition`)
      return false
    }
    kept.add(address)
    return true
  })
}

/** The key in definitions: a label is changed until it is unique; a name is taken as it is. */
function keyOf(
  row: ResourceKind,
  live: Resource,
  { given, isTaken }: { readonly given: string | undefined; readonly isTaken: (name: string) => boolean },
): string {
  if (row.form.shape === 'list') return row.identity(live)
  if (row.form.shape !== 'map' || row.fields['name']) return live.name
  if (given !== undefined) return given
  const label = withoutUnseen(live.name.replaceAll('${', '').slice(0, 250)).trim() || row.kind
  let unique = label
  for (let count = 2; isTaken(unique); count++) unique = `${label}-${count}`
  return unique
}

function sharedName({ one }: ResourceKind, live: Resource, other: Resource): Diagnostic {
  const ids = [live.id, other.id].sort().map((id) => `\`${id}\``)
  const message = `two live things are the ${one} \`${live.name}\`: ${ids.join(' and ')}`
  const help = 'rename or delete one of them in the organization, then import again'
  return diagnostic('import/shared-name', message, spanAt(createSource(live.address, ''), 0), { help })
}

interface Names {
  readonly addresses: ReadonlyMap<string, Address>
  readonly addressOf: (kind: KindName, id: string) => Address | undefined
}

/**
 * A live field as definitions write it; undefined where leaving it out means the same, or where definitions cannot
 * write it.
 */
export function writtenField(row: FieldRow, value: Value | undefined, names: Names): Value | undefined {
  if (!row.schema || row.compare === 'never' || value === undefined || value === null) return undefined
  if (row.absent !== undefined && sameValue(value, row.absent, row.compare)) return undefined
  if (value === '' && !row.required) return undefined
  if (row.names) {
    const ids = [value].flat() as readonly string[]
    const found = ids.map((id) => names.addressOf(row.names!, id))
    if (found.includes(undefined)) return undefined
    const written = found.map((address) => parseAddress(address!)!.names[0]!.replaceAll('${', () => '$${'))
    return Array.isArray(value) ? written : written[0]!
  }
  return nameValue(value, row.expression ? names.addresses : new Map())
}
