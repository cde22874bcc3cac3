/**
 * Nested folders: each is a sub-organization, or with `each` a template of several. A template is parsed once; its values
 * are put in once for every name, so that a mistake is reported at its place in the template, with the names it concerns.
 */
import { type Diagnostic, diagnostic, type Span } from '../diagnostics/index.ts'
import { checkSchema } from './check-schema.ts'
import { checkName, checkTaken, type WrittenName } from './names.ts'
import { onlyEntry, readVars } from './organization.ts'
import { substitute } from './substitute.ts'
import { childOf, entryOf, type MapEntry, type Tree, textOf } from './tree.ts'

/** Keys of the outer folder alone, and of nested ones alone, with why. */
const OUTER_KEYS = {
  id: 'which live organization it is is found by its name',
  name: '`organization` is its name in the API as well',
} as const
const NESTED_KEYS = {
  each: 'it makes sub-organizations out of the definitions of a nested folder',
  delete: 'only a sub-organization can be deleted',
  withoutExport: 'only a sub-organization can be deleted',
  renamedFrom: 'the organization of the outer folder is known by its id, so that `name` alone renames it',
} as const

/** Reports keys that belong to the other sort of folder. */
export function checkFolderKeys(files: readonly Tree[], place: 'outer' | 'nested'): readonly Diagnostic[] {
  const wrong = Object.entries(place === 'outer' ? NESTED_KEYS : OUTER_KEYS)
  return files.flatMap((file) =>
    wrong.flatMap(([key, why]) => {
      const entry = entryOf(file, key)
      if (!entry) return []
      const where = place === 'outer' ? 'the outer folder' : 'the folder of a sub-organization'
      return [
        diagnostic('definitions/wrong-folder', `\`${key}\` does not belong into ${where}`, entry.keySpan, {
          help: `remove it: ${why}`,
        }),
      ]
    }),
  )
}

/** One sub-organization, before its values are put into the files. */
export interface Nested {
  /** Where its name is written; it may be that no file has one. */
  readonly name: WrittenName | undefined
  readonly vars: Readonly<Record<string, string>>
  /** Where it says of itself that it is to be deleted or was renamed: its files, or its entry of `each`. */
  readonly about: readonly Tree[]
  /** The entry of `each` that it comes from. */
  readonly entry?: MapEntry
  /** One of its values is not set, which is reported; what follows from that is not looked for. */
  readonly lacks?: boolean
}

/** The values that a nested folder gets from outside. */
export interface Around {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The variables of it that may be referred to. */
  readonly declared: ReadonlySet<string>
  /** Defaults of the outer folder; those of the nested one come before them. */
  readonly defaults: Readonly<Record<string, string>>
  /** Values that are given to the whole load; only those of `each` come before them. */
  readonly given: Readonly<Record<string, string>>
}

/** The sub-organizations of one nested folder, and its files without `each`. */
export function nestedIn(
  files: readonly Tree[],
  around: Around,
): { readonly all: readonly Nested[]; readonly files: readonly Tree[]; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  const each = onlyEntry('each', files, diagnostics)
  const defaults = readVars(files)
  diagnostics.push(...defaults.diagnostics, ...checkFolderKeys(files, 'nested'))
  const shared = { ...around.defaults, ...defaults.vars, ...around.given }
  if (!each) {
    const written = files.flatMap((file) => entryOf(file, 'organization') ?? [])[0]
    // Unset variables are reported with the rest of the file.
    const text = written && textOf(substitute(written.value, { ...around, vars: shared }).tree)
    if (text === undefined) return { all: [{ name: undefined, vars: shared, about: files }], files, diagnostics }
    const name = { name: text, span: written!.value.span }
    return { all: [{ name, vars: { ...shared, organization: text }, about: files }], files, diagnostics }
  }
  for (const file of files) {
    for (const key of ['organization', 'delete', 'withoutExport', 'renamedFrom']) {
      const entry = entryOf(file, key)
      if (!entry) continue
      const help = `write it under a name of \`each\`${key === 'organization' ? ', which is that of the organization' : ''}`
      const message = `\`${key}\` cannot be the same for each sub-organization of a template`
      diagnostics.push(diagnostic('definitions/wrong-folder', message, entry.keySpan, { help }))
    }
  }
  const filled = substitute(each.value, { ...around, vars: shared })
  const alone: Tree = { kind: 'map', span: each.value.span, entries: [{ ...each, value: filled.tree }] }
  diagnostics.push(...filled.diagnostics, ...checkSchema(alone))
  const entries = filled.tree.kind === 'map' ? filled.tree.entries : []
  return {
    all: entries.map((entry) => ({
      name: { name: entry.key, span: entry.keySpan },
      vars: { ...shared, ...textsOf(entry.value), organization: entry.key },
      about: [entry.value],
      entry,
      lacks: isMissing(entry.value),
    })),
    files: files.map((file) =>
      file.kind === 'map' ? { ...file, entries: file.entries.filter(({ key }) => key !== 'each') } : file,
    ),
    diagnostics,
  }
}

function isMissing(tree: Tree): boolean {
  if (tree.kind === 'scalar') return tree.missing === true
  return (tree.kind === 'list' ? tree.items : tree.entries.map(({ value }) => value)).some(isMissing)
}

/** The values of an entry; what it says of the sub-organization itself is none. */
function textsOf(tree: Tree): Readonly<Record<string, string>> {
  const entries = tree.kind === 'map' ? tree.entries : []
  return Object.fromEntries(
    entries.flatMap(({ key, value }) => {
      const text = Object.hasOwn(NESTED_KEYS, key) ? undefined : textOf(value)
      return text === undefined ? [] : [[key, text]]
    }),
  )
}

/** The keys of a sub-organization about itself. */
export function readFate({ about }: Nested): {
  readonly tombstone: boolean
  readonly withoutExport: boolean
  readonly renamedFrom?: { readonly name: string; readonly span: Span }
} {
  const isTrue = (key: string) =>
    about.some((tree) => {
      const value = childOf(tree, key)
      return value?.kind === 'scalar' && value.value === true
    })
  const renamed = about.flatMap((tree) => childOf(tree, 'renamedFrom') ?? [])[0]
  const name = textOf(renamed)
  return {
    tombstone: isTrue('delete'),
    withoutExport: isTrue('withoutExport'),
    ...(name === undefined ? {} : { renamedFrom: { name, span: renamed!.span } }),
  }
}

/** Reports names that cannot be, and names that two sub-organizations have. */
export function checkNestedNames(all: readonly Nested[]): readonly Diagnostic[] {
  const taken = new Map<string, WrittenName>()
  return all.flatMap(({ name }) => {
    if (!name) return []
    return checkName(name) ?? checkTaken(name, taken, `sub-organization \`${name.name}\``) ?? []
  })
}

/**
 * Gathers the diagnostics of all sub-organizations; equal ones at one place become one, which names the
 * sub-organizations.
 */
export class Findings {
  readonly #found = new Map<string, { readonly first: Diagnostic; readonly of: MapEntry[] }>()

  add(diagnostics: readonly Diagnostic[], { entry }: Pick<Nested, 'entry'>): void {
    for (const one of diagnostics) {
      const { code, message, span } = one
      const key = JSON.stringify([code, message, span.source.path, span.start, span.end])
      const known = this.#found.get(key)
      if (!known) this.#found.set(key, { first: one, of: entry ? [entry] : [] })
      else if (entry && !known.of.includes(entry)) known.of.push(entry)
    }
  }

  list(): readonly Diagnostic[] {
    return [...this.#found.values()].map(({ first, of }) => {
      const [entry, ...others] = of
      if (!entry) return first
      const more = others.length === 0 ? '' : ` and ${others.length} more`
      const note = { message: `it is so for \`${entry.key}\`${more}`, span: entry.keySpan }
      return { ...first, related: [...first.related, note] }
    })
  }
}
