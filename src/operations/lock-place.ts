import { isAbsolute, relative } from 'node:path'
import { readLock, writeLock } from '../definitions/index.ts'
import type { Lock } from '../plan/index.ts'
import { signLock } from './lock-signature.ts'
import type { Place } from './place.ts'

/** Refuses a text that must not be written to a file. */
export type CheckText = (path: string, text: string) => void

/** Where the lock of some definitions stands. */
export interface LockPlace {
  readonly folder: string
  /** In the data folder, where nobody else writes: it needs no signature. */
  readonly isPrivate: boolean
}

/**
 * Finds the lock of some definitions: beside them, or in the data folder where the service is the embedded one, whose
 * organizations come and go. What the data folder's lock knows is managed by the definitions that were there first: those that
 * are made later (`isNew`) keep theirs beside them.
 */
export async function findLockPlace(
  folder: string,
  {
    place: { embedded, organizationId },
    dataDir,
    isNew = false,
  }: { readonly place: Pick<Place, 'embedded' | 'organizationId'>; readonly dataDir: string; readonly isNew?: boolean },
): Promise<LockPlace> {
  const knows = async (where: string) => Object.keys((await readLock(where)).lock[organizationId] ?? {}).length > 0
  const isBeside = !embedded || (await knows(folder)) || (isNew && (await knows(dataDir)))
  return isBeside ? { folder, isPrivate: false } : { folder: dataDir, isPrivate: true }
}

/** Writes a lock where it stands, signed where others may write: with the key in use, unless its signature is known. */
export async function writeLockAt(
  { folder, isPrivate }: LockPlace,
  lock: Lock,
  {
    place,
    check,
    signature,
  }: { readonly place: Place; readonly check: CheckText; readonly signature?: string | undefined },
): Promise<void> {
  const signed = isPrivate ? undefined : (signature ?? (await signLock(lock, place)))
  await writeLock(folder, lock, { check, signature: signed })
}

/** A folder as people find it in a plan: by its way from the working folder, if it is below that; else whole. */
export function shownFolder(folder: string, from: string = process.cwd()): string {
  const below = relative(from, folder)
  return below.startsWith('..') || isAbsolute(below) ? folder : below || '.'
}
