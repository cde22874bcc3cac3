import { createHash } from 'node:crypto'
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
import { canonicalJson } from '../encoding/index.ts'
import {
  type Desired,
  formatAddress,
  foundingFields,
  KINDS,
  type KindName,
  type Resource,
  type SubOrganization,
} from '../resources/index.ts'
import { checkActivityWords } from './activity-words.ts'
import { type AddressBook, readAddressBook } from './address-book.ts'
import { type Assets, readAssets } from './assets.ts'
import { buildResources, checkDraft, checkLabel, managedKinds } from './build.ts'
import { checkSchema } from './check-schema.ts'
import { checkRenames, checkSharedCredentials, checkUses } from './checks.ts'
import { checkEarlyAccess } from './early-access.ts'
import { checkExpressions, type WrittenExpression, writtenExpressions } from './expressions.ts'
import { type NamedFiles, readNamedFiles } from './files.ts'
import { createDiskReader, type FolderReader, readSources } from './folder.ts'
import { readForget } from './forget.ts'
import { readLimits } from './limits.ts'
import { checkLookAlikeOrganizations, checkLookAlikes } from './look-alikes.ts'
import type { WrittenName } from './names.ts'
import { type Around, checkFolderKeys, checkNestedNames, Findings, type Nested, nestedIn, readFate } from './nested.ts'
import { readOrganization, readVars } from './organization.ts'
import { parseYaml } from './parse.ts'
import { secretsIn } from './secrets.ts'
import { type OutsideValues, substitute } from './substitute.ts'
import { childOf, entryOf, type Tree } from './tree.ts'
import { checkSeen } from './unseen.ts'
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
  const { readFolder: reader = createDiskReader(folder) } = options
  const outer = await readFolder(folder, reader)
  // What policies decide is decided in each organization by itself.
  const nested = options.policiesOnly ? [] : await Promise.all(outer.folders.map((one) => readFolder(one, reader)))
  const defaults = readVars(outer.trees)
  const variables = readVariables(outer.trees)
  const watch = readWatch(outer.trees)
  const { declared } = variables
  const around = { env: options.env, declared, defaults: defaults.vars, given: options.vars }
  if (options.subOrganizationId !== undefined) {
    const alone = { ...outer, diagnostics: [...outer.diagnostics, ...variables.diagnostics] }
    return loadAlone(alone, around, { ...options, declared, folder, reader })
  }
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

/** The definitions of one organization; its content is absent when its name or id is not known. */
interface Loaded {
  readonly content?: Omit<Desired, 'digest' | 'subOrganizations'>
  readonly expressions: readonly WrittenExpression[]
  readonly diagnostics: readonly Diagnostic[]
  /** How its parent sees it. */
  readonly seen?: Resource
  readonly addressBook?: AddressBook
  readonly assets?: Assets
}

/** Puts values into the files of an organization and makes its desired state of them. */
async function loadOne({ trees, complete }: ReadFolder, nested: Nested, place: Place): Promise<Loaded> {
  const { folder, reader, isNested, env, declared, policiesOnly = false } = place
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
    diagnostics.push(...(policiesOnly ? withoutKeys(tree, unset) : unset), ...checkSchema(filled))
    return filled
  })
  if (!isNested && !policiesOnly) diagnostics.push(...checkFolderKeys(files, 'outer'))
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

/** The desired state of a sub-organization that is to be deleted: one tombstone. */
function tombstone(
  { name, span }: WrittenName,
  { withoutExport }: { readonly withoutExport: boolean },
): NonNullable<Loaded['content']> {
  const fields: Resource['fields'] = withoutExport ? { name, withoutExport } : { name }
  const kind = 'subOrganization'
  const resource: Resource = { address: formatAddress(kind, name), kind, name, fields, tombstone: true, span }
  return { organization: name, organizationId: '', resources: [resource], manageAll: new Set() }
}

function seenByParent(
  { resources }: NonNullable<Loaded['content']>,
  { name, span }: WrittenName,
  renamedFrom?: string,
): Resource {
  const kind = 'subOrganization'
  const fields = { name, ...foundingFields(resources) }
  return {
    address: formatAddress(kind, name),
    kind,
    name,
    fields,
    ...(renamedFrom === undefined ? {} : { renamedFrom }),
    span,
  }
}

/** Everything that the folders ask for; undefined when the outermost says too little. */
function gather(outer: Loaded, inside: readonly Loaded[]): Desired | undefined {
  if (!outer.content) return undefined
  const subs = inside
    .flatMap(({ content }): SubOrganization[] => {
      if (!content) return []
      const { organizationId: _, ...sub } = content
      return [{ ...sub, digest: digestOf(sub) }]
    })
    .toSorted((a, b) => (a.organization < b.organization ? -1 : 1))
  const content = {
    ...outer.content,
    resources: sortResources([...outer.content.resources, ...inside.flatMap(({ seen }) => seen ?? [])]),
  }
  if (subs.length === 0) return { ...content, digest: digestOf(content) }
  const digests = Object.fromEntries(subs.map(({ organization, digest }) => [organization, digest]))
  return { ...content, subOrganizations: subs, digest: digestOf(content, digests) }
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
  const spans = [childOf(tree, 'id'), ...keys].flatMap((one) => one?.span ?? [])
  return unset.filter(({ span }) => !spans.some(({ start, end }) => start <= span.start && span.end <= end))
}

/** From checked files to desired state. Names are looked up only when no file is missing, lest every use of it be reported. */
function assemble(
  files: readonly Tree[],
  {
    texts,
    complete,
    policiesOnly,
    nested,
  }: {
    readonly texts: NamedFiles
    readonly complete: boolean
    readonly policiesOnly: boolean
    readonly nested?: Nested
  },
): Loaded {
  const { drafts, diagnostics: faults } = buildResources(files, texts)
  const expressions = drafts.flatMap(writtenExpressions)
  const diagnostics = [
    ...faults,
    ...drafts.flatMap(checkDraft),
    ...drafts.flatMap(({ resource }) => checkLabel(resource)),
    ...checkExpressions(expressions),
  ]
  if (!complete) return { expressions, diagnostics: [...diagnostics, ...checkSeen(files, diagnostics)] }
  const organization = nested ? readNested(files, nested) : readOrganization(files)
  const limits = readLimits(files)
  const { forget, diagnostics: wrongForget } = readForget(files, drafts)
  const { addressBook, entries: receivers, diagnostics: wrong } = readAddressBook(files)
  const { assets, entries: tokens, diagnostics: wrongAssets } = readAssets(files)
  diagnostics.push(
    ...organization.diagnostics.filter(({ code }) => !policiesOnly || code !== 'definitions/missing-key'),
    ...limits.diagnostics,
    ...wrongForget,
    ...wrong,
    ...wrongAssets,
    ...checkLookAlikes(drafts, { receivers, assets: tokens, expressions }),
    ...checkUses(drafts),
    ...checkRenames(drafts),
    ...checkSharedCredentials(drafts),
    // Where policies alone are looked at, a linter says it.
    ...(policiesOnly ? [] : [...checkActivityWords(expressions, drafts), ...checkEarlyAccess(drafts, files)]),
  )
  diagnostics.push(...checkSeen(files, diagnostics))
  const { name, id } = policiesOnly ? { name: '', id: '', ...defined(organization) } : organization
  if (name === undefined || id === undefined) return { expressions, diagnostics }
  const content = {
    organization: name,
    organizationId: id,
    resources: sortResources([...drafts.map(({ resource }) => resource), ...(nested ? [itself(nested.name!)] : [])]),
    manageAll: managedKinds(files),
    ...(Object.keys(limits.deletes).length === 0 ? {} : { deleteLimits: limits.deletes }),
    ...(forget.length === 0 ? {} : { forget }),
  }
  return { content, expressions, diagnostics, addressBook, assets }
}

/** Which sub-organization the files describe, and that they say enough to make it. */
function readNested(files: readonly Tree[], { name, entry }: Nested): ReturnType<typeof readOrganization> {
  const written = entry ? { diagnostics: [] } : readOrganization(files, { isNested: true })
  const diagnostics = [...written.diagnostics]
  if (!files.some((file) => entryOf(file, 'rootQuorum')) && files[0]) {
    const { source } = files[0].span
    const help = 'add `rootQuorum: { threshold: …, users: […] }`: a sub-organization is made with its first users'
    const message = 'no file of the sub-organization has `rootQuorum:`'
    diagnostics.push(diagnostic('definitions/missing-key', message, { source, start: 0, end: 0 }, { help }))
  }
  return { name: name?.name, id: '', diagnostics }
}

/** The live name of a sub-organization is the one that its definitions give it. */
function itself({ name, span }: WrittenName): Resource {
  const kind = 'organization'
  return { address: formatAddress(kind), kind, name: kind, fields: { name }, span, fieldSpans: { name: span } }
}

/** The members that are there. */
function defined({ name, id }: { readonly name: string | undefined; readonly id: string | undefined }) {
  return { ...(name === undefined ? {} : { name }), ...(id === undefined ? {} : { id }) }
}

/** By kind in the order of `KINDS`, then by address: the same for any order of files and keys. */
function sortResources(resources: readonly Resource[]): readonly Resource[] {
  const rank = new Map<KindName, number>(KINDS.map((kind, index) => [kind, index]))
  return [...resources].sort((a, b) => rank.get(a.kind)! - rank.get(b.kind)! || (a.address < b.address ? -1 : 1))
}

function digestOf(content: Omit<SubOrganization, 'digest'>, inside?: Readonly<Record<string, string>>): string {
  const bare = content.resources.map(({ span, fieldSpans, ...resource }) => resource)
  const manageAll = [...content.manageAll].sort()
  const text = canonicalJson({ ...content, resources: bare, manageAll, ...(inside ? { inside } : {}) })
  return createHash('sha256').update(text).digest('hex')
}
