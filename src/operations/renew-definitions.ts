/** After a rotation definitions and lock name the new key: a rotation is no drift. */
import { join } from 'node:path'
import type { RotationProgress } from '../../activities/index.ts'
import { LOCK_FILE, readLock } from '../definitions/index.ts'
import { hasErrors } from '../diagnostics/index.ts'
import { renewPublicKey } from '../import/index.ts'
import type { Lock } from '../plan/index.ts'
import { assertSameOrganization, type GivenValues, loadFolder } from './load-folder.ts'
import { type CheckText, findLockPlace, writeLockAt } from './lock-place.ts'
import type { Place } from './place.ts'

/** Whether a rotation has come so far that definitions may name the new key. */
export function isRenewed({ state, handedAt }: RotationProgress): boolean {
  return handedAt !== undefined && state !== 'failed'
}

type Rotated = Pick<RotationProgress, 'old' | 'new'>

export interface RenewRequest {
  readonly folder: string
  readonly place: Place
  readonly given: GivenValues
  readonly dataDir: string
  /** The oldest first: a key that was rotated twice ends with its newest. */
  readonly rotated: readonly Rotated[]
  /** Writes a file of definitions. @default nothing is written, nor the lock */
  readonly write?: (path: string, text: string) => void
  readonly check: CheckText
}

export interface RenewedFile {
  readonly path: string
  readonly before: string
  readonly after: string
}

export interface Renewed {
  /** Files of definitions whose text is another with the new keys. */
  readonly files: readonly RenewedFile[]
  /** The lock of the folder, where it has a row of an old key. */
  readonly lock?: string
}

/**
 * Finds the files in which old public keys stand, and says how they read with the new ones. With `write` they are written, and
 * the rows of the lock hold the ids of the new keys. A public key that comes from a variable stands in no file. Throws
 * `cli/no-definitions` and `cli/other-organization`.
 */
export async function renewDefinitions(request: RenewRequest): Promise<Renewed> {
  const { folder, place, given, dataDir, rotated, write, check } = request
  const { sources, desired } = await loadFolder(folder, given)
  if (desired) {
    const next = 'name the folder of the organization; the key is rotated all the same'
    assertSameOrganization(desired, place, { undone: 'written', next })
  }
  const files = sources
    .map(({ path, text }) => ({ path, before: text, after: rotated.reduce(withNewKey, text) }))
    .filter(({ before, after }) => before !== after)
  const lockPlace = await findLockPlace(folder, { place, dataDir })
  const { lock, diagnostics } = await readLock(lockPlace.folder)
  const next = hasErrors(diagnostics) ? undefined : withIds(lock, place.organizationId, rotated)
  const renewed = { files, ...(next && !lockPlace.isPrivate ? { lock: join(lockPlace.folder, LOCK_FILE) } : {}) }
  if (!write) return renewed
  for (const { path, after } of files) write(path, after)
  if (next) await writeLockAt(lockPlace, next, { place, check })
  return renewed
}

/** What a rotation of these keys will change, before there are new ones. No file where the keys come from variables. */
export function findRenewable(
  request: Omit<RenewRequest, 'rotated' | 'write' | 'check'>,
  old: readonly RotationProgress['old'][],
): Promise<Renewed> {
  const rotated = old.map((one) => ({ old: one, new: { id: '', publicKey: 'the new key' } }))
  return renewDefinitions({ ...request, rotated, check: () => {} })
}

function withNewKey(text: string, { old, new: made }: Rotated): string {
  return renewPublicKey(text, { from: old.publicKey, to: made!.publicKey })
}

/** The lock with the ids of the new keys; undefined where it has no row of an old one. */
function withIds(lock: Lock, organizationId: string, rotated: readonly Rotated[]): Lock | undefined {
  const rows = { ...lock[organizationId] }
  let isChanged = false
  for (const { old, new: made } of rotated) {
    const row = Object.entries(rows).find(([, { id }]) => id === old.id)
    if (!row) continue
    // What was applied to the old one says nothing of the new one.
    rows[row[0]] = { id: made!.id }
    isChanged = true
  }
  return isChanged ? { ...lock, [organizationId]: rows } : undefined
}
