/**
 * Drift told apart from a change of the definitions. The lock keeps one digest a thing: of its managed fields as they
 * were last applied. Where desired and actual differ, a field was applied as it lives now (its definition was changed),
 * or as it is defined now (somebody changed what lives), or was not managed then. The combination that gives the digest
 * says which, by field; where none does, a field is neither, and both sides were changed. Kinds have few fields, so all
 * combinations are tried.
 */
import { sha256 } from '../crypto/index.ts'
import { canonicalJson, encodeHex } from '../encoding/index.ts'
import { type Actual, type Address, type Desired, type Resource, resolveValue } from '../resources/index.ts'
import { comparable, comparedFields, leavableFields, leavableIn } from './comparable.ts'
import type { Difference, Pair } from './diff.ts'
import type { Cause, FieldCause } from './document.ts'
import { compareText, createRowLookup, type Lock, type LockRow, type LockRows, sortMembers } from './lock.ts'

/** 96 bits: nobody finds another state that has the same digest, also where many are tried. */
const DIGITS = 24

/** Why a change is there; by field where its fields are there for different reasons. */
export interface Reason {
  readonly cause: Cause
  readonly fields?: Readonly<Record<string, FieldCause>>
}

/** Says why a difference is there, from what the lock says was applied last. */
export function createReasons(
  lock: Lock,
  { actual, ids }: { readonly actual: Actual; readonly ids: Readonly<Record<Address, string>> },
): (difference: Difference) => Reason {
  const rows = lock[actual.organizationId] ?? {}
  const rowOf = createRowLookup(rows)
  let alive: ReadonlySet<string | undefined> | undefined
  const isAlive = (live: string) => {
    alive ??= new Set(actual.resources.map(({ id }) => id))
    return alive.has(live)
  }
  let known: ReturnType<typeof knownIds> | undefined
  const wantedOf = (desired: Resource) => {
    known ??= knownIds(rows, ids)
    return textsOf(desired, known)
  }

  return ({ address, action, input: { desired, actual: live, fields } }) => {
    const row = rowOf(address, live)
    // Under `manage: all` what goes either was defined once or never was.
    if (action === 'delete') return { cause: row ? 'definition changed' : desired ? 'differs' : 'live only' }
    const of = row?.id ?? address
    if (!live) {
      if (!row || (row.id !== undefined && isAlive(row.id))) return { cause: 'declared only' }
      const asDefined = row.applied === undefined || row.applied === digestTexts(of, [...wantedOf(desired!).values()])
      return { cause: asDefined ? 'live changed' : 'both changed' }
    }
    if (row?.applied === undefined) return { cause: 'differs' }
    return reasonOf(fields, { applied: row.applied, of, wanted: wantedOf(desired!), live })
  }
}

/** The lock with the digest of everything that is as its definition says; what differs keeps the one that it had. */
export function recordApplied(
  lock: Lock,
  {
    desired,
    actual,
    ids,
    pairs,
    differences,
    undecided,
  }: {
    readonly desired: Desired
    readonly actual: Actual
    readonly ids: Readonly<Record<Address, string>>
    readonly pairs: readonly Pair[]
    readonly differences: readonly Difference[]
    /** Fields that stay as they are until somebody decides: the lock goes on saying that they were managed. */
    readonly undecided: ReadonlyMap<Address, readonly string[]>
  },
): Lock {
  const rows = { ...lock[actual.organizationId] }
  const known = knownIds(rows, ids)
  const differ = new Set(differences.map(({ address }) => address))
  const lives = new Set(pairs.flatMap(({ address, actual: live }) => (live ? [address] : [])))
  for (const resource of desired.resources) {
    const { address, tombstone } = resource
    if (tombstone || !lives.has(address) || differ.has(address)) continue
    const row = rows[address] ?? {}
    const applied = digestTexts(row.id ?? address, [...textsOf(resource, known).values()])
    const managed = [...leavableIn(resource), ...(undecided.get(address) ?? [])].sort(compareText)
    rows[address] = { ...row, applied, ...(leavableFields(resource.kind).length === 0 ? {} : { managed }) }
  }
  return sortMembers({ ...lock, [actual.organizationId]: sortMembers(rows) })
}

/**
 * Which of the open fields, which a definition has no more, were managed when the digest was made; undefined where that
 * cannot be told.
 */
export function managedThen(
  row: LockRow,
  {
    resource,
    live,
    open,
    rows,
    ids,
  }: {
    readonly resource: Resource
    readonly live: Resource
    readonly open: readonly string[]
    readonly rows: LockRows
    readonly ids: Readonly<Record<Address, string>>
  },
): readonly string[] | undefined {
  if (row.applied === undefined) return undefined
  const wanted = textsOf(resource, knownIds(rows, ids))
  const fields = [...new Set([...wanted.keys(), ...open])].sort(compareText)
  const lives = textsOf(live, {}, fields)
  const choices = fields.map((field): readonly Choice[] => {
    const [text, other] = [wanted.get(field), lives.get(field)!]
    return text === undefined || text === other ? [{}, { text: other }] : [{ text: other }, { text }, {}]
  })
  const tried = findCombination(choices, { applied: row.applied, of: row.id ?? resource.address })
  return tried && open.filter((field) => tried[fields.indexOf(field)]!.text !== undefined)
}

interface Choice {
  /** Absent for a field that was not managed. */
  readonly text?: string
  /** Why a field that differs does so, if this was applied. */
  readonly cause?: FieldCause
}

function reasonOf(
  shown: readonly string[],
  {
    applied,
    of,
    wanted,
    live,
  }: {
    readonly applied: string
    readonly of: string
    readonly wanted: ReadonlyMap<string, string>
    readonly live: Resource
  },
): Reason {
  const fields = [...new Set([...wanted.keys(), ...comparedFields(live)])].sort(compareText)
  const lives = textsOf(live, {}, fields)
  const choices = fields.map((field): readonly Choice[] => {
    const [text, other] = [wanted.get(field), lives.get(field)!]
    if (text === undefined) return [{}, { text: other }]
    if (text === other) return [{ text }, {}]
    return [
      { text: other, cause: 'definition changed' },
      { text, cause: 'live changed' },
      { cause: 'definition changed' },
    ]
  })
  const tried = findCombination(choices, { applied, of })
  if (!tried) return { cause: 'both changed' }
  const causes = fields.flatMap((field, index): [string, FieldCause][] => {
    const { cause } = tried[index]!
    return cause && shown.includes(field) ? [[field, cause]] : []
  })
  const [[, first], ...others] = causes as [[string, FieldCause], ...typeof causes]
  if (others.every(([, cause]) => cause === first)) return { cause: first }
  return { cause: 'both changed', fields: Object.fromEntries(causes) }
}

/** The combination that gives the digest of what was applied; undefined where none does. */
function findCombination(
  choices: readonly (readonly Choice[])[],
  { applied, of }: { readonly applied: string; readonly of: string },
): readonly Choice[] | undefined {
  for (const tried of combinations(choices)) {
    const texts = tried.flatMap(({ text }) => text ?? [])
    if (digestTexts(of, texts) === applied) return tried
  }
  return undefined
}

function* combinations(choices: readonly (readonly Choice[])[], from = 0): Generator<readonly Choice[]> {
  if (from === choices.length) return yield []
  for (const choice of choices[from]!) {
    for (const others of combinations(choices, from + 1)) yield [choice, ...others]
  }
}

/** Each compared field as a text, in the order of their names. */
function textsOf(
  resource: Resource,
  ids: Readonly<Record<Address, string>>,
  fields: Iterable<string> = comparedFields(resource),
): ReadonlyMap<string, string> {
  const known = { ...resource, fields: resolveValue(resource.fields, ids) as Resource['fields'] }
  const values = Object.entries(comparable(known, fields))
  return new Map(values.map(([field, value]) => [field, canonicalJson([field, value])]))
}

/** Bound to the thing that it is about, so that no row says anything about another. */
function digestTexts(of: string, texts: readonly string[]): string {
  return encodeHex(sha256(`${canonicalJson(of)}[${texts.join(',')}]`)).slice(0, DIGITS)
}

/** What the lock knows stands first: what is referred to may have been deleted, or made again, since it was applied. */
function knownIds(rows: LockRows, ids: Readonly<Record<Address, string>>): Readonly<Record<Address, string>> {
  const locked = Object.entries(rows).flatMap(([address, { id }]) => (id === undefined ? [] : [[address, id]]))
  return { ...ids, ...(Object.fromEntries(locked) as Record<Address, string>) }
}
