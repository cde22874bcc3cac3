import { basename, join } from 'node:path'
import { type FolderReader, loadDefinitions } from '../definitions/index.ts'
import { createSource, type Diagnostic, diagnostic, hasErrors, spanAt } from '../diagnostics/index.ts'
import { identify, type Lock, makePlan } from '../plan/index.ts'
import { type Actual, type Address, parseAddress, type Resource } from '../resources/index.ts'
import { blame } from './blame.ts'
import { type Described, describeLive, liveKey } from './describe.ts'
import type { ImportInput } from './input.ts'
import { writeDefinitions } from './write-definitions.ts'

/** Live resources without a definition after the import. */
export interface NotWritten {
  readonly address: Address
  readonly id: string
  /** Why no definition can say it; absent for what the service alone can tell. */
  readonly reason?: string
}

export interface Imported {
  /** The new text of each file that changes, by its path. */
  readonly files: ReadonlyMap<string, string>
  readonly lock: Lock
  readonly leftOut: readonly NotWritten[]
  /** With an error among them nothing is to be written. */
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Makes definitions follow what is live. What comes out is loaded and planned, and the plan is empty; a thing that no
 * definition can say as it lives is left out, and found by trying: the loader's and the planner's word is final.
 */
export async function importDefinitions(given: ImportInput): Promise<Imported> {
  const input = withoutInside(given)
  const { actual, lock } = input
  const declared = declaredNames(input)
  let why: ReadonlyMap<string, string> = new Map()
  // Each round leaves at least one thing out, so there are no more rounds than things.
  for (let round = 0; round <= actual.resources.length; round++) {
    const described = describeLive(input.isNested ? withoutName(actual) : actual, declared, why)
    why = described.leftOut
    if (hasErrors(described.diagnostics)) return failed(lock, described.diagnostics)
    const written = writeDefinitions(input, described, declared)
    if (hasErrors(written.diagnostics)) return failed(lock, written.diagnostics)
    const tried = await tryOut(input, written.files, { described, declared })
    if ('lock' in tried) {
      const leftOut = tried.unmanaged.map(({ address, id }): NotWritten => {
        const live = actual.resources.find((one) => one.id === id && one.address === address)
        const reason = live && why.get(liveKey(live))
        return { address, id, ...(reason === undefined ? {} : { reason }) }
      })
      return { files: written.files, lock: withRowsInside(tried.lock, given), leftOut, diagnostics: [] }
    }
    const added = [...tried.faults].filter(([key]) => !why.has(key) && !declared.has(key))
    if (added.length === 0) return failed(lock, tried.diagnostics)
    why = new Map([...why, ...added])
  }
  return failed(lock, [])
}

/** The name of a sub-organization stands under `organization`, and its id nowhere. */
function withoutName(actual: Actual): Actual {
  return { ...actual, resources: actual.resources.filter(({ kind }) => kind !== 'organization') }
}

/** Sub-organizations are made by their parent and written in folders of their own: they are no part of this one. */
function withoutInside({ loaded, actual, ...input }: ImportInput): ImportInput {
  const own = ({ kind }: Resource) => kind !== 'subOrganization'
  const resources = actual.resources.filter(own)
  const desired = loaded && { ...loaded.desired, resources: loaded.desired.resources.filter(own) }
  return {
    ...input,
    actual: { ...actual, resources },
    ...(loaded && desired ? { loaded: { ...loaded, desired } } : {}),
  }
}

/** The lock still knows the sub-organizations that it knew, and those that were read. */
function withRowsInside(lock: Lock, { actual, lock: old }: ImportInput): Lock {
  const { organizationId, resources } = actual
  const kind = 'subOrganization'
  const known = Object.entries(old[organizationId] ?? {}).filter(([address]) => parseAddress(address)?.kind === kind)
  const read = resources.filter((one) => one.kind === kind).map(({ address, id }) => [address, { id: id! }] as const)
  return { ...lock, [organizationId]: { ...lock[organizationId], ...Object.fromEntries([...known, ...read]) } }
}

/** The definitions of live resources, by `liveKey`. */
function declaredNames({ loaded, actual, lock }: ImportInput): ReadonlyMap<string, Resource> {
  if (!loaded) return new Map()
  const { desired } = loaded
  const { matches } = identify({ desired, actual, lock, creators: {}, actingUserId: actual.actor.userId })
  const byAddress = new Map(desired.resources.map((one) => [one.address, one]))
  return new Map([...matches].map(([address, live]) => [liveKey(live), byAddress.get(address)!]))
}

type Tried =
  | { readonly lock: Lock; readonly unmanaged: readonly { readonly address: Address; readonly id: string }[] }
  | { readonly faults: ReadonlyMap<string, string>; readonly diagnostics: readonly Diagnostic[] }

/** Loads and plans what would be written. */
async function tryOut(
  input: ImportInput,
  files: ReadonlyMap<string, string>,
  { described, declared }: { readonly described: Described; readonly declared: ReadonlyMap<string, Resource> },
): Promise<Tried> {
  const { folder, reader, env, vars, actual, baseUrl, now } = input
  const loaded = await loadDefinitions(folder, {
    env,
    vars,
    readFolder: overlay(folder, reader, files),
    ...(input.isNested ? { subOrganizationId: actual.organizationId } : {}),
  })
  const blamed = (address: Address) => described.descriptions.find((one) => one.address === address)?.live
  if (!loaded.desired) {
    // A name that is missing is missing because of another fault, while there is one.
    const errors = loaded.diagnostics.filter(({ severity }) => severity === 'error')
    const first = errors.filter(({ code }) => code !== 'definitions/unknown-name')
    const faults = (first.length > 0 ? first : errors).flatMap(({ span, message }) => {
      const live = blame(span, files.get(span.source.path) ?? span.source.text, described.descriptions)
      return live ? [{ live, message }] : []
    })
    const unwritable = faults.flatMap(({ live, message }) => {
      const definition = declared.get(liveKey(live))
      return definition ? [cannotBeWritten(live, definition, message)] : []
    })
    return {
      faults: new Map(faults.map(({ live, message }) => [liveKey(live), message])),
      diagnostics: unwritable.length > 0 ? unwritable : loaded.diagnostics,
    }
  }
  const { organizationId } = actual
  const known = Object.fromEntries(described.descriptions.map(({ address, live }) => [address, { id: live.id! }]))
  const { plan, lock, diagnostics } = makePlan({
    desired: {
      ...loaded.desired,
      resources: loaded.desired.resources.filter(({ kind }) => kind !== 'subOrganization'),
    },
    actual,
    lock: { ...input.lock, [organizationId]: known },
    creators: {},
    baseUrl,
    allow: [],
    now,
  })
  const wrong = [...plan.changes.map(({ address }) => address), ...diagnostics.map(({ span }) => span.source.path)]
  if (plan.changes.length === 0 && !hasErrors(diagnostics)) return { lock: lock(), unmanaged: plan.unmanaged }
  const faults = wrong.flatMap((address): [string, string][] => {
    const live = blamed(address)
    return live ? [[liveKey(live), 'it comes out of a definition otherwise than it lives']] : []
  })
  const unequal = plan.changes.map(({ address, action }) =>
    diagnostic('import/not-the-same', `after the import \`${address}\` would still be to ${action}`, nowhere(folder)),
  )
  return { faults: new Map(faults), diagnostics: [...diagnostics, ...unequal] }
}

/** What definitions know cannot be left out as long as they do: said at its definition, for what would be written is nowhere. */
function cannotBeWritten({ address, id }: Resource, { span }: Resource, why: string): Diagnostic {
  const message = `\`${address}\` (\`${id}\`), which this defines, cannot be written as it lives: ${why}`
  const help = 'nothing was written; change it in the organization, or take its definition out, and import again'
  return diagnostic('import/unwritable', message, span ?? nowhere(''), { help })
}

/** The folder with the new texts over the old ones. */
function overlay(folder: string, reader: FolderReader, files: ReadonlyMap<string, string>): FolderReader {
  return {
    async list(path) {
      const there = path === folder ? await reader.list(path).catch(() => []) : await reader.list(path)
      const names = new Set(there.map(({ name }) => name))
      const added = path === folder ? [...files.keys()].map((file) => basename(file)) : []
      return [...there, ...added.filter((name) => !names.has(name)).map((name) => ({ name, kind: 'file' as const }))]
    },
    read: async (path) => {
      const text = files.get(join(path))
      return text === undefined ? reader.read(path) : new TextEncoder().encode(text)
    },
  }
}

function failed(lock: Lock, diagnostics: readonly Diagnostic[]): Imported {
  const fallback = diagnostic(
    'import/not-the-same',
    'the definitions that import would write do not give the live state',
    nowhere(''),
  )
  return {
    files: new Map(),
    lock,
    leftOut: [],
    diagnostics: hasErrors(diagnostics) ? diagnostics : [...diagnostics, fallback],
  }
}

function nowhere(path: string) {
  return spanAt(createSource(path, ''), 0)
}
