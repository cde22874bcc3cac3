import { createHash } from 'node:crypto'
import { type Diagnostic, hasErrors, type Source, sortDiagnostics } from '../diagnostics/index.ts'
import { canonicalJson } from '../encoding/index.ts'
import { type Desired, KINDS, type KindName, type Resource } from '../resources/index.ts'
import { buildResources, checkDraft, managedKinds } from './build.ts'
import { createSchemaCheck } from './check-schema.ts'
import { checkRenames, checkSharedKeys, checkUses } from './checks.ts'
import { checkExpressions } from './expressions.ts'
import { diskReader, type FolderReader, readSources } from './folder.ts'
import { readOrganization, readVars } from './organization.ts'
import { parseYaml } from './parse.ts'
import { type Outside, substitute } from './substitute.ts'
import type { Tree } from './tree.ts'

export interface LoadOptions extends Outside {
  /** @default the disk */
  readonly readFolder?: FolderReader
}

export interface LoadedDefinitions {
  /** Absent when any diagnostic is an error: a part of the definitions must never pass for all of them. */
  readonly desired?: Desired
  readonly diagnostics: readonly Diagnostic[]
  readonly sources: readonly Source[]
}

/** Loads the definitions of one organization from a folder. Never throws for what people wrote or for unreadable files. */
export async function loadDefinitions(folder: string, options: LoadOptions): Promise<LoadedDefinitions> {
  const read = await readSources(folder, options.readFolder ?? diskReader)
  const parsed = read.sources.map(parseYaml)
  const sources = parsed.map(({ source }) => source)
  const diagnostics = [...read.diagnostics, ...parsed.flatMap((one) => one.diagnostics)]
  const complete = read.diagnostics.length === 0 && parsed.every(({ tree }) => tree)

  const trees = parsed.flatMap(({ tree }) => tree ?? [])
  const checkSchema = createSchemaCheck()
  const defaults = readVars(trees)
  diagnostics.push(...defaults.diagnostics)
  const files = trees.map((tree) => {
    const { tree: filled, diagnostics: unset } = substitute(tree, {
      env: options.env,
      vars: { ...defaults.vars, ...options.vars },
    })
    diagnostics.push(...unset, ...checkSchema(filled))
    return filled
  })
  const { desired, diagnostics: found } = assemble(files, complete)
  diagnostics.push(...found)
  return {
    ...(hasErrors(diagnostics) || !desired ? {} : { desired }),
    diagnostics: sortDiagnostics(diagnostics),
    sources,
  }
}

/** From checked files to desired state. Names are looked up only when no file is missing, lest every use of it be reported. */
function assemble(
  files: readonly Tree[],
  complete: boolean,
): { desired?: Desired; diagnostics: readonly Diagnostic[] } {
  const { drafts, diagnostics: faults } = buildResources(files)
  const diagnostics = [...faults, ...drafts.flatMap(checkDraft), ...drafts.flatMap(checkExpressions)]
  if (!complete) return { diagnostics }
  const organization = readOrganization(files)
  diagnostics.push(
    ...organization.diagnostics,
    ...checkUses(drafts),
    ...checkRenames(drafts),
    ...checkSharedKeys(drafts),
  )
  if (organization.name === undefined || organization.id === undefined) return { diagnostics }
  const content = {
    organization: organization.name,
    organizationId: organization.id,
    resources: sortResources(drafts.map(({ resource }) => resource)),
    manageAll: managedKinds(files),
  }
  return { desired: { ...content, digest: digestOf(content) }, diagnostics }
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
