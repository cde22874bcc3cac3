import { type EntryOf, entryOf, type MapOf, type TreeOf } from '../definitions/index.ts'
import type { Span } from '../diagnostics/index.ts'

/** A file of scenarios: aliases followed, merge keys carried out. */
export type ScenarioTree = TreeOf<ScenarioScalar>
export type ScenarioMap = MapOf<ScenarioScalar>
export type ScenarioEntry = EntryOf<ScenarioScalar>

export interface ScenarioScalar {
  readonly kind: 'scalar'
  readonly span: Span
  /** Whole numbers are bigints, whatever their size. */
  readonly value: string | number | bigint | boolean | null
  /** The written text, without quotes: the value of a text that looks like a number. */
  readonly source: string
}

/** The value under a key; undefined also when it is null, which is how YAML writes nothing. */
export function childOf(tree: ScenarioTree | undefined, key: string): ScenarioTree | undefined {
  const value = entryOf(tree, key)?.value
  return value === undefined || isNull(value) ? undefined : value
}

/** The items of a list; of nothing, none. */
export function itemsOf(tree: ScenarioTree | undefined): readonly ScenarioTree[] {
  return tree?.kind === 'list' ? tree.items : []
}

/** The entries of a map; of nothing, none. */
export function entriesOf(tree: ScenarioTree | undefined): readonly ScenarioEntry[] {
  return tree?.kind === 'map' ? tree.entries : []
}

/** The text of a scalar, also of one that looks like a number. */
export function wordOf(tree: ScenarioTree | undefined): string | undefined {
  return tree?.kind === 'scalar' && tree.value !== null ? tree.source : undefined
}

export function isNull(tree: ScenarioTree): boolean {
  return tree.kind === 'scalar' && tree.value === null
}

/**
 * The tree with the value at a path replaced; maps and list items on the way are made where they are missing. Nothing
 * is changed in place: what an alias shares stays as it was elsewhere.
 */
export function withPath(tree: ScenarioTree | undefined, keys: readonly string[], value: ScenarioTree): ScenarioTree {
  const [key, ...rest] = keys
  if (key === undefined) return value
  if (tree?.kind === 'list') {
    const index = Number(key)
    if (Number.isInteger(index) && index >= 0 && index <= tree.items.length) {
      const items = [...tree.items]
      items[index] = withPath(items[index], rest, value)
      return { ...tree, items }
    }
  }
  const entries = entriesOf(tree)
  const at = entries.findIndex((entry) => entry.key === key)
  const old = entries[at]
  const entry = { key, keySpan: old?.keySpan ?? value.span, value: withPath(old?.value, rest, value) }
  return {
    kind: 'map',
    span: tree?.span ?? value.span,
    entries: at < 0 ? [...entries, entry] : entries.with(at, entry),
  }
}

/** The plain value of a tree: what JSON would hold, with bigints for whole numbers that a double cannot. */
export function toPlain(tree: ScenarioTree): unknown {
  switch (tree.kind) {
    case 'scalar':
      return typeof tree.value === 'bigint' && Number.isSafeInteger(Number(tree.value))
        ? Number(tree.value)
        : tree.value
    case 'list':
      return tree.items.map(toPlain)
    case 'map':
      // From entries, so that a key called `__proto__` is a key like any other.
      return Object.fromEntries(tree.entries.map(({ key, value }) => [key, toPlain(value)]))
    default:
      return tree satisfies never
  }
}
