import { dirname } from 'node:path'
import {
  createSource,
  type Diagnostic,
  diagnostic,
  hasErrors,
  type Source,
  sortDiagnostics,
  spanAt,
} from '../diagnostics/index.ts'
import type { Desired } from '../resources/index.ts'
import type { AddressBook } from './address-book.ts'
import type { Assets } from './assets.ts'
import { checkSchema } from './check-schema.ts'
import { assemble, digestOf, gather, type Loaded, seenByParent, tombstone } from './desired.ts'
import type { WrittenExpression } from './expressions.ts'
import { readNamedFiles } from './files.ts'
import { createDiskReader, type FolderReader, readSources } from './folder.ts'
import { checkLookAlikeOrganizations } from './look-alikes.ts'
import { type Around, checkFolderKeys, checkNestedNames, Findings, type Nested, nestedIn, readFate } from './nested.ts'
import { readVars } from './organization.ts'
import { parseYaml } from './parse.ts'
import { secretsIn } from './secrets.ts'
import { type OutsideValues, substitute } from './substitute.ts'
import { childOf, type Tree } from './tree.ts'
import { readVariables } from './variables.ts'
import { readWatch, type WatchSettings } from './watch.ts'

export interface LoadOptions extends OutsideValues {
  /** @default the disk, from the folder down */
  readonly readFolder?: FolderReader
  /**
   * For what policies alone decide: the organization may be nameless, and its id and the public keys of its users may
   * want values that are not set. Never for a plan. @default false
   */
  readonly policiesOnly?: boolean
  /** For the names of who is paid, and in what: any value may be unset that `addressBook` and `assets` do not want. @default false */
  readonly namesOnly?: boolean
  /** The folder is that of this sub-organization, loaded by itself. */
  readonly subOrganizationId?: string
}

export interface LoadedDefinitions {
  /** Absent when any diagnostic is an error: a part of the definitions must never pass for all of them. */
  readonly desired?: Desired
  readonly diagnostics: readonly Diagnostic[]
  readonly sources: readonly Source[]
  /** Names of those who are paid, and their addresses. */
  readonly addressBook: AddressBook
  /** Names of the tokens that they are paid. */
  readonly assets: Assets
  /** The expressions of policies, with their places. */
  readonly expressions: readonly WrittenExpression[]
  /** Defaults of variables, which nested folders have as well. */
  readonly vars: Readonly<Record<string, string>>
  /** How often the organization is looked at, and what is done about drift; absent where nothing says so. */
  readonly watch?: WatchSettings
  /** The folders of sub-organizations. */
  readonly folders: readonly string[]
  /** Where each sub-organization is written; a template makes several. */
  readonly nested: readonly { readonly organization: string; readonly folder: string; readonly isTemplate: boolean }[]
}

/**
 * Loads the definitions of one organization from a folder, and those of its sub-organizations from the folders in it. Never
 * throws for what people wrote or for unreadable files.
 */
export async function loadDefinitions(folder: string, options: LoadOptions): Promise<LoadedDefinitions> {
  const { readFolder: reader = createDiskReader(folder), namesOnly = false, policiesOnly = namesOnly } = options
  const outer = await readFolder(folder, reader)
  // What policies decide is decided in each organization by itself.
  const nested = policiesOnly ? [] : await Promise.all(outer.folders.map((one) => readFolder(one, reader)))
  const defaults = readVars(outer.trees)
  const variables = readVariables(outer.trees)
  const watch = readWatch(outer.trees)
  const { declared } = variables
  const around = { env: options.env, declared, defaults: defaults.vars, given: options.vars }
  if (options.subOrganizationId !== undefined) {
    const alone = { ...outer, diagnostics: [...outer.diagnostics, ...variables.diagnostics] }
    return loadAlone(alone, around, { ...options, declared, folder, reader })
  }
  // A policy decides alike for each organization of a template; a payee is another one in each.
  const own = options.policiesOnly ? firstOf(outer.trees, around) : withoutName({ ...defaults.vars, ...options.vars })
  const loaded = await loadOne(outer, own, { ...options, declared, folder, reader, isNested: false })
  const findings = new Findings()
  findings.add(
    [outer, defaults, variables, watch, loaded].flatMap(({ diagnostics: found }) => found),
    {},
  )
  const inside: Loaded[] = []
  const names: Nested[] = []
  for (const one of nested) {
    findings.add([...one.diagnostics, ...one.folders.map(tooDeep)], {})
    const inner = readVariables(one.trees)
    const both = new Set([...declared, ...inner.declared])
    const { all, files, diagnostics } = nestedIn(one.trees, { ...around, declared: both })
    findings.add([...inner.diagnostics, ...diagnostics], {})
    names.push(...all)
    for (const sub of all.filter(({ lacks }) => !lacks)) {
      const found = await loadOne({ ...one, trees: files }, sub, {
        ...options,
        declared: both,
        folder,
        reader,
        isNested: true,
      })
      findings.add(found.diagnostics, sub)
      inside.push(found)
    }
  }
  findings.add(checkNestedNames(names), {})
  findings.add(checkLookAlikeOrganizations(names.flatMap(({ name }) => name ?? [])), {})
  const diagnostics = findings.list()
  const desired = hasErrors(diagnostics) ? undefined : gather(loaded, inside)
  return {
    ...(desired ? { desired } : {}),
    diagnostics: sortDiagnostics(diagnostics),
    sources: [outer, ...nested].flatMap(({ sources }) => sources),
    addressBook: loaded.addressBook ?? {},
    assets: loaded.assets ?? {},
    expressions: loaded.expressions,
    vars: defaults.vars,
    ...(watch.settings ? { watch: watch.settings } : {}),
    folders: outer.folders,
    nested: names.flatMap(({ name, entry }) => {
      const path = name && dirname(name.span.source.path)
      return path ? [{ organization: name.name, folder: path, isTemplate: entry !== undefined }] : []
    }),
  }
}

/** Loads the folder of one sub-organization, as if it were the outermost. */
async function loadAlone(
  folder: ReadFolder,
  around: Around,
  options: Omit<Place, 'isNested'>,
): Promise<LoadedDefinitions> {
  const { all, files, diagnostics } = nestedIn(folder.trees, around)
  const loaded = await loadOne({ ...folder, trees: files }, all[0]!, { ...options, isNested: true })
  const found = [...folder.diagnostics, ...diagnostics, ...loaded.diagnostics]
  const content = loaded.content && { ...loaded.content, organizationId: options.subOrganizationId! }
  return {
    ...(content && !hasErrors(found) ? { desired: { ...content, digest: digestOf(content) } } : {}),
    diagnostics: sortDiagnostics(found),
    sources: folder.sources,
    addressBook: loaded.addressBook ?? {},
    assets: loaded.assets ?? {},
    expressions: loaded.expressions,
    vars: {},
    folders: [],
    nested: [],
  }
}

/** A folder's files as trees. */
interface ReadFolder {
  readonly trees: readonly Tree[]
  readonly sources: readonly Source[]
  readonly folders: readonly string[]
  /** Whether every file is there and is YAML. */
  readonly complete: boolean
  readonly diagnostics: readonly Diagnostic[]
}

async function readFolder(folder: string, reader: FolderReader): Promise<ReadFolder> {
  const read = await readSources(folder, reader)
  const parsed = read.sources.map(parseYaml)
  return {
    trees: parsed.flatMap(({ tree }) => tree ?? []),
    sources: parsed.map(({ source }) => source),
    folders: read.folders,
    complete: read.diagnostics.length === 0 && parsed.every(({ tree }) => tree),
    diagnostics: [...read.diagnostics, ...parsed.flatMap((one) => [...one.diagnostics, ...secretsIn(one.source)])],
  }
}

function tooDeep(path: string): Diagnostic {
  const message = `\`${path}\` is a folder of definitions inside that of a sub-organization`
  const help = 'move it up: a sub-organization has none of its own'
  return diagnostic('definitions/nested-folder', message, spanAt(createSource(path, ''), 0), { help })
}

/** A template that is looked at by itself is looked at as its first sub-organization. */
function firstOf(trees: readonly Tree[], around: Around): Nested {
  return { ...withoutName({}), ...nestedIn(trees, around).all[0], name: undefined }
}

function withoutName(vars: Nested['vars']): Nested {
  return { name: undefined, vars, about: [] }
}

interface Place extends LoadOptions {
  /** The outermost folder, and what reads it. */
  readonly folder: string
  readonly reader: FolderReader
  readonly isNested: boolean
}

/** Puts values into the files of an organization and makes its desired state of them. */
async function loadOne({ trees, complete }: ReadFolder, nested: Nested, place: Place): Promise<Loaded> {
  const { folder, reader, isNested, env, declared, namesOnly = false, policiesOnly = namesOnly } = place
  const fate = readFate(nested)
  if (isNested && fate.tombstone) {
    // What it holds goes with it, so nothing else of it is looked at.
    return { expressions: [], diagnostics: [], ...(nested.name ? { content: tombstone(nested.name, fate) } : {}) }
  }
  const diagnostics: Diagnostic[] = []
  const files = trees.map((tree) => {
    const { tree: filled, diagnostics: unset } = substitute(tree, {
      env,
      vars: nested.vars,
      ...(declared ? { declared } : {}),
    })
    const told = namesOnly ? ofNames(tree, unset) : policiesOnly ? withoutKeys(tree, unset) : unset
    diagnostics.push(...told, ...checkSchema(filled))
    return filled
  })
  if (!isNested && (namesOnly || !policiesOnly)) diagnostics.push(...checkFolderKeys(files, 'outer'))
  const named = await readNamedFiles(files, { folder, reader })
  const {
    content,
    expressions,
    addressBook,
    assets,
    diagnostics: found,
  } = assemble(files, { texts: named.texts, complete, policiesOnly, ...(isNested ? { nested } : {}) })
  const all = [...diagnostics, ...named.diagnostics, ...found]
  return {
    expressions,
    diagnostics: all,
    ...(addressBook ? { addressBook } : {}),
    ...(assets ? { assets } : {}),
    ...(content ? { content } : {}),
    ...(content && isNested && nested.name ? { seen: seenByParent(content, nested.name, fate.renamedFrom?.name) } : {}),
  }
}

/**
 * The diagnostics of unset variables, without those in the organization's id and in public keys: a plan can be made
 * without them.
 */
function withoutKeys(tree: Tree, unset: readonly Diagnostic[]): readonly Diagnostic[] {
  const users = childOf(tree, 'users')
  const keys = (users?.kind === 'map' ? users.entries : []).flatMap(({ value }) => {
    const apiKeys = childOf(value, 'apiKeys')
    return apiKeys?.kind === 'map' ? apiKeys.entries.map((key) => childOf(key.value, 'publicKey')) : []
  })
  const isInside = insideOf([childOf(tree, 'id'), ...keys])
  return unset.filter((one) => !isInside(one))
}

/** The diagnostics of unset variables that names want. */
function ofNames(tree: Tree, unset: readonly Diagnostic[]): readonly Diagnostic[] {
  return unset.filter(insideOf([childOf(tree, 'addressBook'), childOf(tree, 'assets')]))
}

function insideOf(trees: readonly (Tree | undefined)[]): (diagnostic: Diagnostic) => boolean {
  const spans = trees.flatMap((one) => one?.span ?? [])
  return ({ span }) => spans.some(({ start, end }) => start <= span.start && span.end <= end)
}
