/** How far the rotation of the master key is, which all processes of an installation go by. */
import { readSetting, writeSetting } from './installation.ts'
import { lockInstallation } from './installation-lock.ts'
import type { RowKey } from './sealed.ts'
import type { Transaction } from './transaction.ts'

/**
 * `announced`: processes learn the new key, and seal with the old one. `used`: they seal with the new one. `resealing`: all do, and
 * what the old one sealed is sealed anew. `done`: nothing is sealed under the old one, and it is forgotten.
 */
export type KeyRotationStep = 'announced' | 'used' | 'resealing' | 'done'

/** Keys are named by what `nameOfKey` makes of them, which tells nothing of them. */
export interface KeyRotation {
  readonly from: string
  readonly to: string
  readonly step: KeyRotationStep
  /** When the step began: milliseconds since the epoch, by the machine's clock. */
  readonly since: number
  /** How often all values were looked at; the last time is the proof, in which none was sealed anew. */
  readonly pass: number
  /** Where the pass is: a column, by its number in the list of them, and the row that was looked at last. */
  readonly column: number
  readonly after: RowKey | null
  /** Values that this pass has seen, and has sealed anew. */
  readonly values: number
  readonly resealed: number
  /** Values of this pass that open under neither key: damaged before. */
  readonly broken: number
  /** Values that were sealed anew since the rotation began. */
  readonly resealedInAll: number
}

const SETTING = 'master-key-rotation'

/** Reads how far it is; undefined where there was none. */
export async function readKeyRotation(tx: Transaction): Promise<KeyRotation | undefined> {
  const text = await readSetting(tx, SETTING)
  return text === undefined ? undefined : (JSON.parse(text) as KeyRotation)
}

/** Writes how far it is. */
export async function writeKeyRotation(tx: Transaction, rotation: KeyRotation): Promise<void> {
  await writeSetting(tx, SETTING, JSON.stringify(rotation))
}

/** Goes from one step to the next, unless somebody has. */
export async function stepKeyRotation(tx: Transaction, from: KeyRotation | undefined, to: KeyRotation): Promise<void> {
  await lockInstallation(tx)
  const now = await readKeyRotation(tx)
  if (now?.to !== from?.to || now?.step !== from?.step) return
  await writeKeyRotation(tx, to)
}
