import type { Span } from '../diagnostics/index.ts'

/** A YAML file as a tree with places; each reader says for itself what it wants of a scalar. */
export type TreeOf<Scalar> = MapOf<Scalar> | ListOf<Scalar> | Scalar

export interface MapOf<Scalar> {
  readonly kind: 'map'
  readonly span: Span
  readonly entries: readonly EntryOf<Scalar>[]
}

export interface EntryOf<Scalar> {
  readonly key: string
  readonly keySpan: Span
  readonly value: TreeOf<Scalar>
}

export interface ListOf<Scalar> {
  readonly kind: 'list'
  readonly span: Span
  readonly items: readonly TreeOf<Scalar>[]
}

/** A file of definitions, its aliases written out. */
export type Tree = TreeOf<ScalarTree>
export type MapTree = MapOf<ScalarTree>
export type MapEntry = EntryOf<ScalarTree>
export type ListTree = ListOf<ScalarTree>

export interface ScalarTree {
  readonly kind: 'scalar'
  readonly span: Span
  readonly value: string | number | boolean | null
  /** Part of it could not be read or is not set, which is reported already; it is not looked at further. */
  readonly missing?: boolean
  /** The place of a stretch of a text's value, by offsets into it. */
  readonly locate: (start: number, end: number) => Span
}

/** The entry of a key, if the tree is a map that has it. */
export function entryOf<Scalar extends { readonly kind: 'scalar' }>(
  tree: TreeOf<Scalar> | undefined,
  key: string,
): EntryOf<Scalar> | undefined {
  return tree?.kind === 'map' ? tree.entries.find((entry) => entry.key === key) : undefined
}

/** The value under a key. */
export function childOf(tree: Tree | undefined, key: string): Tree | undefined {
  return entryOf(tree, key)?.value
}

/** The text of a scalar that is one. */
export function textOf(tree: Tree | undefined): string | undefined {
  return tree?.kind === 'scalar' && typeof tree.value === 'string' ? tree.value : undefined
}

/** Applies a function to every scalar of a tree and gives the tree of the results. What holds nothing new is given as it is: most of a file is. */
export function mapScalars(tree: Tree, change: (scalar: ScalarTree) => ScalarTree): Tree {
  switch (tree.kind) {
    case 'scalar':
      return change(tree)
    case 'list': {
      const items = tree.items.map((item) => mapScalars(item, change))
      return items.some((item, index) => item !== tree.items[index]) ? { ...tree, items } : tree
    }
    case 'map': {
      const entries = tree.entries.map((entry) => {
        const value = mapScalars(entry.value, change)
        return value === entry.value ? entry : { ...entry, value }
      })
      return entries.some((entry, index) => entry !== tree.entries[index]) ? { ...tree, entries } : tree
    }
    default:
      return tree satisfies never
  }
}

/** The plain value of a tree. */
export function toPlain(tree: Tree): unknown {
  switch (tree.kind) {
    case 'scalar':
      return tree.value
    case 'list':
      return tree.items.map(toPlain)
    case 'map':
      // From entries, so that a key called `__proto__` is a key like any other.
      return Object.fromEntries(tree.entries.map(({ key, value }) => [key, toPlain(value)]))
    default:
      return tree satisfies never
  }
}
