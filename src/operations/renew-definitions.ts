/** After a rotation definitions and lock name the new key: a rotation is no drift. */
import type { RotationProgress } from '../../activities/index.ts'
import { readLock, writeLock } from '../definitions/index.ts'
import { hasErrors } from '../diagnostics/index.ts'
import { renewPublicKey } from '../import/index.ts'
import type { Lock } from '../plan/index.ts'
import { assertSameOrganization, type GivenValues, loadFolder } from './load-folder.ts'
import { signLock } from './lock-signature.ts'
import type { Place } from './place.ts'
import type { CheckText } from './plan-folder.ts'

/** Whether a rotation has come so far that definitions may name the new key. */
export function isRenewed({ state, handedAt }: RotationProgress): boolean {
  return handedAt !== undefined && state !== 'failed'
}

export interface RenewRequest {
  readonly folder: string
  readonly place: Place
  readonly given: GivenValues
  readonly dataDir: string
  readonly rotated: Pick<RotationProgress, 'old' | 'new'>
  /** Writes a file of definitions. @default nothing is written, nor the lock */
  readonly write?: (path: string, text: string) => void
  readonly check: CheckText
}

export interface RenewedFile {
  readonly path: string
  readonly before: string
  readonly after: string
}

/**
 * Finds the files in which the old public key stands, and says how they read with the new one. With `write` they are written, and
 * the row of the lock holds the id of the new key. A public key that comes from a variable stands in no file. Throws
 * `cli/no-definitions` and `cli/other-organization`.
 */
export async function renewDefinitions(request: RenewRequest): Promise<readonly RenewedFile[]> {
  const { folder, place, given, dataDir, rotated, write, check } = request
  const { sources, desired } = await loadFolder(folder, given)
  if (desired) {
    const next = 'name the folder of the organization; the key is rotated all the same'
    assertSameOrganization(desired, place, { undone: 'written', next })
  }
  const [from, to] = [rotated.old.publicKey, rotated.new!.publicKey]
  const files = sources
    .map(({ path, text }) => ({ path, before: text, after: renewPublicKey(text, { from, to }) }))
    .filter(({ before, after }) => before !== after)
  if (!write) return files
  for (const { path, after } of files) write(path, after)
  const lockFolder = place.embedded ? dataDir : folder
  const { lock, diagnostics } = await readLock(lockFolder)
  const next = withId(lock, place.organizationId, rotated)
  if (hasErrors(diagnostics) || next === undefined) return files
  await writeLock(lockFolder, next, { check, signature: place.embedded ? undefined : await signLock(next, place) })
  return files
}

/** The lock with the id of the new key; undefined where it has no row of the old one. */
function withId(lock: Lock, organizationId: string, { old, new: made }: RenewRequest['rotated']): Lock | undefined {
  const rows = lock[organizationId] ?? {}
  const row = Object.entries(rows).find(([, { id }]) => id === old.id)
  if (!row) return undefined
  // What was applied to the old one says nothing of the new one.
  return { ...lock, [organizationId]: { ...rows, [row[0]]: { id: made!.id } } }
}
