/** Imports what is inside sub-organizations, read with the key of their parent: a folder each. */
import { join } from 'node:path'
import type { QueryClient } from '../client/index.ts'
import { type LoadedDefinitions, loadDefinitions } from '../definitions/index.ts'
import { createSource, diagnostic, hasErrors, spanAt } from '../diagnostics/index.ts'
import { type Imported, type ImportInput, importDefinitions } from '../import/index.ts'
import { kindsMentioned, listSubOrganizations, readInside } from '../live/index.ts'
import type { Lock } from '../plan/index.ts'
import type { Resource } from '../resources/index.ts'

export interface InsideImport extends Omit<ImportInput, 'loaded'> {
  readonly loaded: LoadedDefinitions | undefined
  /** Reads the parent. */
  readonly client: QueryClient
}

/** Imports them one after another, in the order of their names. */
export async function* importInside(input: InsideImport): AsyncGenerator<Imported> {
  const { client, loaded, lock, actual: parent, folder } = input
  const all = await listSubOrganizations(client)
  const taken = new Set(loaded?.nested.map((one) => one.folder))
  for (const [name, same] of Map.groupBy(all, (one) => one.name)) {
    const [live] = same
    if (same.length > 1) {
      yield nothing(lock, sharedName(folder, name, same))
      continue
    }
    const written = loaded?.nested.find(({ organization }) => organization === name)
    // What a template says is said of all that come from it.
    if (!written?.isTemplate)
      yield importOne(input, live!, written?.folder ?? freshFolder(join(folder, slug(name)), taken))
    yield nothing({ [parent.organizationId]: { [live!.address]: { id: live!.id! } } })
  }
}

async function importOne(input: InsideImport, { id, name }: Resource, folder: string): Promise<Imported> {
  const { client, actual: parent, loaded, lock, reader, env, baseUrl, now } = input
  const vars = { ...loaded?.vars, ...input.vars }
  const isWritten = loaded?.nested.some((one) => one.folder === folder) === true
  const old = isWritten
    ? await loadDefinitions(folder, { env, vars, readFolder: reader, subOrganizationId: id! })
    : undefined
  if (old && (hasErrors(old.diagnostics) || !old.desired)) return nothing(lock, old.diagnostics)
  const mentioned = old?.desired ? { mentioned: kindsMentioned(old.desired) } : {}
  const actual = await readInside(
    client,
    { id: id!, name },
    {
      publicKey: client.publicKey,
      reader: parent.actor,
      everything: true,
      ...mentioned,
    },
  )
  const imported = await importDefinitions({
    folder,
    reader,
    env,
    vars,
    ...(old?.desired ? { loaded: { ...old, desired: old.desired } } : {}),
    actual,
    isNested: true,
    lock,
    baseUrl,
    now,
  })
  const leftOut = imported.leftOut.map((one) => ({ ...one, address: `${name}/${one.address}` }))
  return { ...imported, leftOut, lock: { [id!]: imported.lock[id!] ?? {} } }
}

/** The lock of the parent with rows more, and with those of what is inside. */
export function joinLocks(own: Lock, inside: readonly Lock[], parentId: string): Lock {
  const joined: Record<string, Lock[string]> = { ...own }
  for (const lock of inside) {
    for (const [id, rows] of Object.entries(lock)) joined[id] = id === parentId ? { ...joined[id], ...rows } : rows
  }
  return joined
}

function nothing(lock: Lock, diagnostics: Imported['diagnostics'] = []): Imported {
  return { files: new Map(), lock, leftOut: [], diagnostics }
}

function sharedName(folder: string, name: string, same: readonly Resource[]): Imported['diagnostics'] {
  const ids = same.map(({ id }) => `\`${id}\``).join(' and ')
  const message = `several live sub-organizations are called \`${name}\`: ${ids}`
  const help = 'rename or delete one of them, then import again'
  return [diagnostic('import/shared-name', message, spanAt(createSource(folder, ''), 0), { help })]
}

/** A folder's name out of an organization's. */
function slug(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}_-]+/gu, '-').replaceAll(/^-+|-+$/g, '') || 'sub-organization'
}

function freshFolder(path: string, taken: Set<string>): string {
  let fresh = path
  for (let count = 2; taken.has(fresh); count++) fresh = `${path}-${count}`
  taken.add(fresh)
  return fresh
}
