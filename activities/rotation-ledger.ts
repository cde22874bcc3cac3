/**
 * Rotations of keys: what was ordered, what each has done, and how it stands. It holds no private key (`rotation-keys.ts`
 * does), and what a workflow says is checked against it.
 */
import { join } from 'node:path'
import { ApplyError } from './error.ts'
import type { Records } from './records.ts'
import { ROTATION_PARTS, type RotationOrder, type RotationPart, type RotationProgress } from './rotation-model.ts'
import { type BatchRecords, createBatchRecords } from './run-ledger.ts'

/**
 * What has happened to a rotation. `path`: `delete` or `undo`, whichever was begun first: never both, or no key would stay.
 * `offered`: when the new key was about to be given to its sink, which may have it from then on; `refused`: why the sink, when
 * it was first given it, did not take it.
 * `handed`, `ended`: when the new key was handed over, and when the rotation was over, in milliseconds since the epoch.
 */
export type RotationMark = 'public-key' | 'verified' | 'offered' | 'refused' | 'handed' | 'path' | 'ended' | 'over'

export interface RotationLedger {
  enter(order: RotationOrder): Promise<void>
  /** Throws `apply/order-missing`. */
  getOrder(rotationId: string): Promise<RotationOrder>
  /** Keeps what happened, unless it is kept already, and returns what is kept. */
  mark(rotationId: string, mark: RotationMark, value: string): Promise<string>
  marked(rotationId: string, mark: RotationMark): Promise<string | undefined>
  /** The records of one activity of a rotation. */
  part(rotationId: string, part: RotationPart): BatchRecords
  putProgress(progress: RotationProgress): Promise<void>
  getProgress(rotationId: string): Promise<RotationProgress | undefined>
  /** The rotation that submitted an activity, and for what, as long as it is not over. */
  find(activityId: string): Promise<{ readonly order: RotationOrder; readonly part: RotationPart } | undefined>
  /** Every rotation that was entered, the oldest first. */
  list(): Promise<readonly RotationOrder[]>
}

/** Makes the ledger in the plan store's folder. */
export function createRotationLedger(folder: string, records: Records): RotationLedger {
  const at = (shelf: string, name: string) => join(folder, shelf, nameOf(name))
  const ledger: RotationLedger = {
    enter: (order) => records.claim(at('rotations', order.rotationId), JSON.stringify(order)),
    async getOrder(rotationId) {
      const text = await records.read(at('rotations', rotationId))
      if (text !== undefined) return JSON.parse(text) as RotationOrder
      throw new ApplyError('apply/order-missing', 'the plan store does not have this rotation', { facts: { folder } })
    },
    async mark(rotationId, mark, value) {
      const path = at('rotation-marks', `${rotationId}-${mark}`)
      await records.claim(path, value)
      return (await records.read(path)) ?? value
    },
    marked: (rotationId, mark) => records.read(at('rotation-marks', `${rotationId}-${mark}`)),
    part: (rotationId, part) => createBatchRecords(folder, records, { name: `${nameOf(rotationId)}-${part}` }),
    putProgress: (progress) => records.write(at('rotation-progress', progress.rotationId), JSON.stringify(progress)),
    async getProgress(rotationId) {
      const text = await records.read(at('rotation-progress', rotationId))
      return text === undefined ? undefined : (JSON.parse(text) as RotationProgress)
    },
    async find(activityId) {
      for (const order of await ledger.list()) {
        if ((await ledger.marked(order.rotationId, 'over')) !== undefined) continue
        for (const part of ROTATION_PARTS)
          if ((await ledger.part(order.rotationId, part).activityId()) === activityId) return { order, part }
      }
      return undefined
    },
    async list() {
      const orders = await Promise.all((await records.list(join(folder, 'rotations'))).map(ledger.getOrder))
      return orders.toSorted((a, b) => (a.orderedAt < b.orderedAt ? -1 : 1))
    },
  }
  return ledger
}

/** An id as the name of a file: what a workflow gives could be a path. */
function nameOf(id: string): string {
  if (/^[0-9a-z-]+$/.test(id)) return id
  throw new ApplyError('apply/order-missing', 'the plan store does not have this rotation')
}
