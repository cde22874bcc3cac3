/**
 * Plans for organizations that are watched: definitions are kept with the plans, so that a worker needs no working tree, and are
 * loaded from there as they would be from their folder.
 */
import { join, relative, sep } from 'node:path'
import type { PlanWatched, WatchedDefinitions } from '../../activities/index.ts'
import { createDiskReader, type FolderReader, LOCK_FILE, loadDefinitions } from '../definitions/index.ts'
import { hasErrors, QuorateError, toSpanJson } from '../diagnostics/index.ts'
import { reader } from './clients.ts'
import type { GivenValues } from './load-folder.ts'
import type { Place } from './place.ts'
import { assertApplicable } from './plan-checks.ts'
import { planFolder } from './plan-folder.ts'

/**
 * What a watch keeps of a folder: what is read when it is loaded, and the values that it refers to and no others.
 * @default disk a reader of the folder
 */
export async function keepDefinitions(
  folder: string,
  given: GivenValues,
  disk: FolderReader = createDiskReader(folder),
): Promise<{ readonly definitions: WatchedDefinitions; readonly given: WatchedValues }> {
  const folders: Record<string, WatchedDefinitions['folders'][string]> = {}
  const files: Record<string, string> = {}
  const nameOf = (path: string) => relative(folder, path).replaceAll(sep, '/')
  const texts: string[] = []
  const recorder: FolderReader = {
    async list(path) {
      const found = await disk.list(path)
      folders[nameOf(path)] = [...found].sort((a, b) => (a.name < b.name ? -1 : 1))
      return found
    },
    async read(path) {
      const bytes = await disk.read(path)
      files[nameOf(path)] = Buffer.from(bytes).toString('base64')
      texts.push(Buffer.from(bytes).toString('utf8'))
      return bytes
    },
  }
  await loadDefinitions(folder, { ...given, readFolder: recorder })
  const spoken = new Set(texts.flatMap((text) => [...text.matchAll(/\$\{env\.(\w+)\}/g)].map((match) => match[1]!)))
  const env = Object.entries(given.env ?? {}).filter(
    (entry): entry is [string, string] => spoken.has(entry[0]) && entry[1] !== undefined,
  )
  const sorted = <T>(record: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
  return {
    definitions: {
      format: 'quorate.definitions/1',
      folder: nameOfFolder(folder),
      folders: sorted(folders),
      files: sorted(files),
    },
    given: { env: Object.fromEntries(env), vars: { ...(given.vars ?? {}) } },
  }
}

interface WatchedValues {
  readonly env: Readonly<Record<string, string>>
  readonly vars: Readonly<Record<string, string>>
}

/** The same with the lock file, if there is one, for who has no folder to read it from. */
export async function keepWithLock(
  folder: string,
  given: GivenValues,
  disk: FolderReader = createDiskReader(folder),
): ReturnType<typeof keepDefinitions> {
  const kept = await keepDefinitions(folder, given, disk)
  const hasLock = (await disk.list(folder)).some(({ name, kind }) => name === LOCK_FILE && kind === 'file')
  if (!hasLock) return kept
  const lock = Buffer.from(await disk.read(join(folder, LOCK_FILE))).toString('base64')
  const { definitions } = kept
  return { ...kept, definitions: { ...definitions, files: { ...definitions.files, [LOCK_FILE]: lock } } }
}

/** The lock file among kept definitions. */
export function keptLockText({ files }: WatchedDefinitions): string | undefined {
  const lock = files[LOCK_FILE]
  return lock === undefined ? undefined : Buffer.from(lock, 'base64').toString('utf8')
}

/** Reads kept definitions as a folder is read. */
export function createKeptReader({ folder, folders, files }: WatchedDefinitions): FolderReader {
  const nameOf = (path: string) => relative(folder, path).replaceAll(sep, '/')
  const missing = (path: string) => Object.assign(new Error(`\`${path}\` was not kept`), { code: 'ENOENT' })
  return {
    async list(path) {
      const found = Object.hasOwn(folders, nameOf(path)) ? folders[nameOf(path)] : undefined
      if (!found) throw missing(path)
      return found
    },
    async read(path) {
      const found = Object.hasOwn(files, nameOf(path)) ? files[nameOf(path)] : undefined
      if (found === undefined) throw missing(path)
      return new Uint8Array(Buffer.from(found, 'base64'))
    },
  }
}

/** The place of a worker: it has no terminal, and its own data folder. */
type WorkerPlace = Pick<Place, 'baseUrl' | 'organizationId' | 'key' | 'rate' | 'subOrganizationKeys' | 'onRefusal'>

/** Makes what plans watched organizations with the key of a worker. It reads and has no way to submit. */
export function createWatchPlanner(
  place: WorkerPlace,
  { dataDir, requestsPerSecond }: { readonly dataDir: string; readonly requestsPerSecond?: number | undefined },
): PlanWatched {
  return async ({ watch, definitions, lock, isNew, commit, readOnce }) => {
    if (watch.organizationId !== place.organizationId) {
      throw new QuorateError('cli/other-organization', 'this worker works for another organization', {
        facts: { watched: watch.organizationId, worker: place.organizationId },
      })
    }
    const wrong: string[] = []
    const planned = await planFolder(
      {
        folder: definitions.folder,
        place: { ...place, embedded: false, now: Date.now },
        client: reader(place),
        given: watch.given,
        dataDir,
        requestsPerSecond,
        allow: [],
        askAgain: false,
        kept: {
          readFolder: createKeptReader(definitions),
          lock,
          lockText: isNew ? keptLockText(definitions) : undefined,
          commit,
          readOnce,
        },
      },
      (event) => {
        if (event.kind !== 'diagnostics' || !hasErrors(event.diagnostics)) return
        for (const { severity, message, span } of event.diagnostics) {
          const { path, line, column } = toSpanJson(span)
          if (severity === 'error') wrong.push(`${path}:${line}:${column}: ${message}`)
        }
      },
    )
    if (!planned) {
      throw new QuorateError(
        'cli/watched-definitions',
        `the definitions have errors: ${wrong.slice(0, 3).join('; ')}`,
        {
          next: 'mend them and give them again as they were given (`quorate watch add FOLDER`, `quorate push FOLDER`, a commit)',
        },
      )
    }
    const { plan, vouched, watch: { modes = {}, notify } = {} } = planned
    return { plan, lock: planned.lock, vouched, settings: { modes, ...(notify ? { notify } : {}) }, assertApplicable }
  }
}

function nameOfFolder(folder: string): string {
  return relative(process.cwd(), folder).replaceAll(sep, '/') || '.'
}
