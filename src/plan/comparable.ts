import { canonicalJson } from '../encoding/index.ts'
import { type Comparison, type FieldRow, kinds, type Resource, type Value } from '../resources/index.ts'
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
