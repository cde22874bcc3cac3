import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createDiskReader, isTestFile, LOCK_FILE, lockText, readLock, renderSchema } from '../definitions/index.ts'
import { type Diagnostic, hasErrors } from '../diagnostics/index.ts'
import { HEAD, type Imported, type ImportInput, importDefinitions, SCHEMA_FILE } from '../import/index.ts'
import { kindsMentioned, readActual } from '../live/index.ts'
import { ensureFolder } from '../local/index.ts'
import { reader } from './clients.ts'
import { importInside, joinLocks } from './import-inside.ts'
import { assertSameOrganization, type GivenValues, loadFolder } from './load-folder.ts'
import { type CheckText, findLockPlace, writeLockAt } from './lock-place.ts'
import type { Place } from './place.ts'
import { wantedOf } from './plan-inside.ts'

export interface ImportRequest {
  readonly folder: string
  readonly place: Place
  readonly given: GivenValues
  readonly dataDir: string
  /** Whether what is inside sub-organizations is imported too. */
  readonly isWhole: boolean
  /** Writes a file of definitions. */
  readonly write: (path: string, text: string) => void
  /** Refuses a text that must not be written. */
  readonly check: CheckText
}

/** What came of an import: what was written and what is in no definition, or why nothing was written. */
export type ImportResult =
  | {
      readonly kind: 'written'
      readonly files: readonly string[]
      readonly leftOut: readonly Imported['leftOut'][number][]
    }
  | { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[] }

/** Makes a folder of definitions follow the live organization. Its client can read and nothing else. */
export async function importFolder(request: ImportRequest): Promise<ImportResult> {
  const { folder, place, given, dataDir, isWhole, write, check } = request
  const loaded = hasDefinitions(folder) ? await loadFolder(folder, given) : undefined
  if (loaded && (hasErrors(loaded.diagnostics) || !loaded.desired)) return refused(loaded.diagnostics)
  const desired = loaded?.desired
  if (desired) {
    assertSameOrganization(desired, place, {
      undone: 'written',
      next: 'name another folder, or correct the organization id in the settings',
    })
  }
  const lockPlace = await findLockPlace(folder, { place, dataDir, isNew: !loaded })
  const oldLock = await readLock(lockPlace.folder)
  if (hasErrors(oldLock.diagnostics)) return refused(oldLock.diagnostics)
  const client = reader(place)
  const mentioned = desired ? { mentioned: kindsMentioned(desired) } : {}
  const subOrganizations = desired ? wantedOf(desired, oldLock.lock) : []
  const actual = await readActual(client, {
    everything: true,
    ...mentioned,
    ...(subOrganizations.length > 0 ? { subOrganizations } : {}),
  })
  const own: ImportInput = {
    reader: createDiskReader(folder),
    ...given,
    baseUrl: place.baseUrl,
    folder,
    ...(loaded && desired ? { loaded: { ...loaded, desired } } : {}),
    actual,
    lock: oldLock.lock,
    now: new Date().toISOString(),
  }
  const outer = await importDefinitions(own)
  const inside: Imported[] = []
  if (isWhole) for await (const one of importInside({ ...own, loaded, client })) inside.push(one)
  const imports = [outer, ...inside]
  const diagnostics = imports.flatMap((one) => one.diagnostics)
  if (hasErrors(diagnostics)) return refused(diagnostics)
  const files = withSchema(imports.flatMap((one) => [...one.files]))
  for (const [path, text] of files) {
    ensureFolder(dirname(path))
    write(path, text)
  }
  const locks = inside.map(({ lock }) => lock)
  const lock = joinLocks(outer.lock, locks, place.organizationId)
  const lockPath = join(lockPlace.folder, LOCK_FILE)
  const isLockNew = !existsSync(lockPath) || lockText(lock) !== lockText(oldLock.lock)
  await writeLockAt(lockPlace, lock, { place, check })
  // The one in the data folder is nobody's to commit.
  const locked = isLockNew && !lockPlace.isPrivate ? [lockPath] : []
  return {
    kind: 'written',
    files: [...files.map(([path]) => path), ...locked],
    leftOut: imports.flatMap((one) => one.leftOut),
  }
}

/** The schema for editors goes beside each file that names it there, where there is none or one of another version. */
function withSchema(files: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] {
  const text = renderSchema()
  const naming = files.filter(([, one]) => one.includes(HEAD)).map(([path]) => join(dirname(path), SCHEMA_FILE))
  const missing = [...new Set(naming)].filter((path) => !existsSync(path) || readFileSync(path, 'utf8') !== text)
  return [...files, ...missing.map((path) => [path, text] as const)]
}

function hasDefinitions(folder: string): boolean {
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names.some((name) => /\.ya?ml$/.test(name) && !name.startsWith('.') && name !== LOCK_FILE && !isTestFile(name))
}

function refused(diagnostics: readonly Diagnostic[]): ImportResult {
  return { kind: 'refused', diagnostics }
}
