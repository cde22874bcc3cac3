/**
 * Fields that were managed here and that their definition leaves out now. To leave out a field never means that it stays
 * live in silence: it is set back to what the catalogue says it is without (`cleared`), as a change like any other, or,
 * where there is no such value or the API cannot set it, it is told and needs a decision. Which fields were managed is
 * what the lock says; an older lock by its digest, where that tells.
 */
import { type Diagnostic, diagnostic } from '../diagnostics/index.ts'
import {
  type Actual,
  type Address,
  type Desired,
  type KindName,
  kinds,
  type Resource,
  sameValue,
} from '../resources/index.ts'
import { managedThen } from './applied.ts'
import { leavableFields } from './comparable.ts'
import { spanOf } from './identify.ts'
import { createRowLookup, type LockRow, type LockRows } from './lock.ts'

/** A thing with fields that were managed, are in its definition no more, and stay as they are. */
export interface LeftFields {
  readonly address: Address
  readonly live: Resource
  readonly fields: readonly string[]
}

export interface LeftOut {
  /** The definitions, with each field that is set back. */
  readonly desired: Desired
  readonly undecided: readonly LeftFields[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Finds what definitions leave out that was managed, and sets back what can be. */
export function leaveOut({
  desired,
  actual,
  matches,
  rows,
  ids,
}: {
  readonly desired: Desired
  readonly actual: Actual
  readonly matches: ReadonlyMap<Address, Resource>
  readonly rows: LockRows
  readonly ids: Readonly<Record<Address, string>>
}): LeftOut {
  const rowOf = createRowLookup(rows)
  const undecided: LeftFields[] = []
  const diagnostics: Diagnostic[] = []
  const unread = new Set(actual.unread)
  const resources = desired.resources.map((resource) => {
    const { address, kind, tombstone } = resource
    const live = matches.get(address)
    const row = live && rowOf(address, live)
    if (!live || !row || tombstone || unread.has(kind)) return resource
    const open = leavableFields(kind).filter((field) => resource.fields[field] === undefined && holds(live, field))
    if (open.length === 0) return resource
    const managed = managedOf(row, { resource, live, open, rows, ids })
    if (!managed) {
      diagnostics.push(unknownFields(resource, open))
      return resource
    }
    const taken = open.filter((field) => managed.includes(field))
    const stays = taken.filter((field) => !canBeCleared(kind, field))
    if (stays.length > 0) undecided.push({ address, live, fields: stays })
    const cleared = taken.filter((field) => canBeCleared(kind, field))
    if (cleared.length === 0) return resource
    const values = cleared.map((field) => [field, kinds[kind].fields[field]!.cleared!] as const)
    return { ...resource, fields: { ...resource.fields, ...Object.fromEntries(values) } }
  })
  return { desired: { ...desired, resources }, undecided, diagnostics }
}

/** Whether the live thing has something in the field that a definition without it would take away. */
function holds({ kind, fields }: Resource, field: string): boolean {
  const value = fields[field]
  if (value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0))
    return false
  const { cleared, compare } = kinds[kind].fields[field]!
  return cleared === undefined || !sameValue(value, cleared, compare)
}

function canBeCleared(kind: KindName, field: string): boolean {
  const { cleared, immutable } = kinds[kind].fields[field]!
  return cleared !== undefined && immutable === undefined && kinds[kind].update !== undefined
}

function managedOf(row: LockRow, given: Parameters<typeof managedThen>[1]): readonly string[] | undefined {
  return row.managed ?? managedThen(row, given)
}

function unknownFields(resource: Resource, fields: readonly string[]): Diagnostic {
  const list = fields.map((field) => `\`${field}\``).join(' and ')
  return diagnostic(
    'plan/unknown-fields',
    `the lock does not say whether ${list} of \`${resource.address}\` ${fields.length === 1 ? 'was' : 'were'} managed here`,
    spanOf(resource),
    {
      severity: 'warning',
      help: 'write what it is to be; left out, it stays as it lives, and the next apply keeps that it is not managed',
    },
  )
}
