import { createHash } from 'node:crypto'
import { type Diagnostic, hasErrors, type Source, sortDiagnostics } from '../diagnostics/index.ts'
import { canonicalJson } from '../encoding/index.ts'
import { type Desired, KINDS, type KindName, type Resource } from '../resources/index.ts'
import { buildResources, checkDraft, type Draft, managedKinds } from './build.ts'
import { checkSchema } from './check-schema.ts'
import { checkRenames, checkSharedCredentials, checkUses } from './checks.ts'
import { checkEarlyAccess } from './early-access.ts'
import { checkExpressions, type WrittenExpression, writtenExpressions } from './expressions.ts'
import { type NamedFiles, readNamedFiles } from './files.ts'
import { diskReader, type FolderReader, readSources } from './folder.ts'
import { readLimits } from './limits.ts'
import { readOrganization, readVars } from './organization.ts'
import { parseYaml } from './parse.ts'
import { type Outside, substitute } from './substitute.ts'
import { childOf, type Tree } from './tree.ts'

export interface LoadOptions extends Outside {
  /** @default the disk */
  readonly readFolder?: FolderReader
  /**
   * For what policies alone decide: the organization may be nameless, and its id and the public keys of its users may
   * want values that are not set. Never for a plan. @default false
   */
  readonly policiesOnly?: boolean
}

export interface LoadedDefinitions {
  /** Absent when any diagnostic is an error: a part of the definitions must never pass for all of them. */
  readonly desired?: Desired
  readonly diagnostics: readonly Diagnostic[]
  readonly sources: readonly Source[]
  /** The expressions of policies, with their places. */
  readonly expressions: readonly WrittenExpression[]
}

/** Loads the definitions of one organization from a folder. Never throws for what people wrote or for unreadable files. */
export async function loadDefinitions(folder: string, options: LoadOptions): Promise<LoadedDefinitions> {
  const reader = options.readFolder ?? diskReader
  const read = await readSources(folder, reader)
  const parsed = read.sources.map(parseYaml)
  const sources = parsed.map(({ source }) => source)
  const diagnostics = [...read.diagnostics, ...parsed.flatMap((one) => one.diagnostics)]
  const complete = read.diagnostics.length === 0 && parsed.every(({ tree }) => tree)

  const trees = parsed.flatMap(({ tree }) => tree ?? [])
  const defaults = readVars(trees)
  diagnostics.push(...defaults.diagnostics)
  const files = trees.map((tree) => {
    const { tree: filled, diagnostics: unset } = substitute(tree, {
      env: options.env,
      vars: { ...defaults.vars, ...options.vars },
    })
    diagnostics.push(...(options.policiesOnly ? withoutKeys(tree, unset) : unset), ...checkSchema(filled))
    return filled
  })
  const named = await readNamedFiles(files, { folder, reader })
  const policiesOnly = options.policiesOnly === true
  const { desired, drafts, diagnostics: found } = assemble(files, { texts: named.texts, complete, policiesOnly })
  diagnostics.push(...named.diagnostics, ...found)
  return {
    ...(hasErrors(diagnostics) || !desired ? {} : { desired }),
    diagnostics: sortDiagnostics(diagnostics),
    sources,
    expressions: drafts.flatMap(writtenExpressions),
  }
}

/** What is not set, but for the id of the organization and public keys. */
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
  }: { readonly texts: NamedFiles; readonly complete: boolean; readonly policiesOnly: boolean },
): { desired?: Desired; drafts: readonly Draft[]; diagnostics: readonly Diagnostic[] } {
  const { drafts, diagnostics: faults } = buildResources(files, texts)
  const diagnostics = [...faults, ...drafts.flatMap(checkDraft), ...checkExpressions(drafts)]
  if (!complete) return { drafts, diagnostics }
  const organization = readOrganization(files)
  const limits = readLimits(files)
  diagnostics.push(
    ...organization.diagnostics.filter(({ code }) => !policiesOnly || code !== 'definitions/missing-key'),
    ...limits.diagnostics,
    ...checkUses(drafts),
    ...checkRenames(drafts),
    ...checkSharedCredentials(drafts),
    ...(policiesOnly ? [] : checkEarlyAccess(drafts, files)),
  )
  const { name, id } = policiesOnly ? { name: '', id: '', ...defined(organization) } : organization
  if (name === undefined || id === undefined) return { drafts, diagnostics }
  const content = {
    organization: name,
    organizationId: id,
    resources: sortResources(drafts.map(({ resource }) => resource)),
    manageAll: managedKinds(files),
    ...(Object.keys(limits.deletes).length === 0 ? {} : { deleteLimits: limits.deletes }),
  }
  return { desired: { ...content, digest: digestOf(content) }, drafts, diagnostics }
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

function digestOf(content: Omit<Desired, 'digest'>): string {
  const bare = content.resources.map(({ span, fieldSpans, ...resource }) => resource)
  const text = canonicalJson({ ...content, resources: bare, manageAll: [...content.manageAll].sort() })
  return createHash('sha256').update(text).digest('hex')
}
