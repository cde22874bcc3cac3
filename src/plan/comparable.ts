import { canonicalJson } from '../encoding/index.ts'
import {
  type Comparison,
  type FieldRow,
  KINDS,
  type KindName,
  kinds,
  type Resource,
  type Value,
} from '../resources/index.ts'
import { managedFields } from './diff.ts'
import { compareText } from './lock.ts'

/** Fields of a thing in the form in which equal values are equal JSON; an absent one is `null`. */
export function comparable(resource: Resource, fields: Iterable<string>): Readonly<Record<string, Value>> {
  const values = managedFields(resource)
  const rows = kinds[resource.kind].fields
  return Object.fromEntries(
    [...new Set(fields)]
      .sort(compareText)
      .map((field) => [field, normal(brief(rows[field], values[field] ?? null), rows[field]?.compare ?? 'exact')]),
  )
}

/** The fields of a definition that are compared with what lives. */
export function comparedFields(resource: Resource): readonly string[] {
  return Object.keys(managedFields(resource)).filter((field) => kinds[resource.kind].fields[field]?.compare !== 'never')
}

/** The fields of a kind that a definition may leave out without saying what they are then. */
export function leavableFields(kind: KindName): readonly string[] {
  return LEAVABLE.get(kind)!
}

const LEAVABLE: ReadonlyMap<KindName, readonly string[]> = new Map(
  KINDS.map((kind) => [
    kind,
    Object.entries(kinds[kind].fields).flatMap(([field, row]) =>
      row.schema === undefined || row.required || row.inherited || row.absent !== undefined || row.compare === 'never'
        ? []
        : [field],
    ),
  ]),
)

/** The fields of a definition that it could have left out, as the lock keeps them. */
export function leavableIn({ kind, fields }: Resource): readonly string[] {
  return leavableFields(kind).filter((field) => fields[field] !== undefined)
}

function brief(row: FieldRow | undefined, value: Value): Value {
  return row?.brief && value !== null ? row.brief(value) : value
}

/** A value as equal values are under a comparison. */
export function normal(value: Value, compare: Comparison): Value {
  if (compare === 'case-insensitive' && typeof value === 'string') return value.toLowerCase()
  if (compare !== 'set' || !Array.isArray(value)) return value
  const byText = new Map((value as readonly Value[]).map((one) => [canonicalJson(one), one]))
  return [...byText].sort(([a], [b]) => compareText(a, b)).map(([, one]) => one)
}
