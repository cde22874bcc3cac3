/**
 * Makes the desired state: of one organization from its filled files (`assemble`), and of all of them with their digests (`gather`).
 */
import { createHash } from 'node:crypto'
import { type Diagnostic, diagnostic } from '../diagnostics/index.ts'
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
import { type AddressBook, readAddressBook } from './address-book.ts'
import { type Assets, readAssets } from './assets.ts'
import { buildResources, checkDraft, checkLabel, managedKinds } from './build.ts'
import { checkRenames, checkSharedCredentials, checkUses } from './checks.ts'
import { checkEarlyAccess } from './early-access.ts'
import { checkExpressions, type WrittenExpression, writtenExpressions } from './expressions.ts'
import type { NamedFiles } from './files.ts'
import { readForget } from './forget.ts'
import { readLimits } from './limits.ts'
import { checkLookAlikes } from './look-alikes.ts'
import { checkMistyped } from './mistyped.ts'
import type { WrittenName } from './names.ts'
import type { Nested } from './nested.ts'
import { readOrganization } from './organization.ts'
import { entryOf, type Tree } from './tree.ts'
import { checkSeen } from './unseen.ts'

/** The definitions of one organization; its content is absent when its name or id is not known. */
export interface Loaded {
  readonly content?: Omit<Desired, 'digest' | 'subOrganizations'>
  readonly expressions: readonly WrittenExpression[]
  readonly diagnostics: readonly Diagnostic[]
  /** How its parent sees it. */
  readonly seen?: Resource
  readonly addressBook?: AddressBook
  readonly assets?: Assets
}

/** The desired state of a sub-organization that is to be deleted: one tombstone. */
export function tombstone(
  { name, span }: WrittenName,
  { withoutExport }: { readonly withoutExport: boolean },
): NonNullable<Loaded['content']> {
  const fields: Resource['fields'] = withoutExport ? { name, withoutExport } : { name }
  const kind = 'subOrganization'
  const resource: Resource = { address: formatAddress(kind, name), kind, name, fields, tombstone: true, span }
  return { organization: name, organizationId: '', resources: [resource], manageAll: new Set() }
}

export function seenByParent(
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
export function gather(outer: Loaded, inside: readonly Loaded[]): Desired | undefined {
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

/** From checked files to desired state. Names are looked up only when no file is missing, lest every use of it be reported. */
export function assemble(
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
    ...(policiesOnly ? [] : [...checkMistyped(expressions, drafts), ...checkEarlyAccess(drafts, files)]),
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

export function digestOf(content: Omit<SubOrganization, 'digest'>, inside?: Readonly<Record<string, string>>): string {
  const bare = content.resources.map(({ span, fieldSpans, ...resource }) => resource)
  const manageAll = [...content.manageAll].sort()
  const text = canonicalJson({ ...content, resources: bare, manageAll, ...(inside ? { inside } : {}) })
  return createHash('sha256').update(text).digest('hex')
}
