/** Rotations that are not over or have failed: how they stand, those that somebody ended at Temporal, and giving those up. */
import { join } from 'node:path'
import {
  createPlanStore,
  createRotationKeys,
  type PlanStore,
  type RotationOrder,
  type RotationProgress,
  type RotationSink,
} from '../../activities/index.ts'
import { rotationWorkflowId } from '../../workflows/names.ts'
import type { ApplyPlace } from './apply.ts'
import { foreignEndOf } from './run-end.ts'

/** Where the private keys of rotations under way stand. */
export const rotationKeysOf = (dataDir: string) => join(dataDir, 'rotation-keys')

export const rotationsOf = (dataDir: string): PlanStore['rotations'] =>
  createPlanStore(join(dataDir, 'plans')).rotations

/** A rotation as it was kept last. */
export interface OpenRotation extends RotationProgress {
  readonly sink: RotationSink
  /** How somebody ended its workflow at Temporal: nobody carries it out until it is continued. */
  readonly end?: string
}

/** The orders of an organization that are not over, the oldest first. */
export async function openOrders(
  rotations: PlanStore['rotations'],
  organizationId: string,
): Promise<readonly RotationOrder[]> {
  const open: RotationOrder[] = []
  for (const order of await rotations.list()) {
    const isOver = (await rotations.marked(order.rotationId, 'over')) !== undefined
    if (order.organization.id === organizationId && !isOver) open.push(order)
  }
  return open
}

/** An order with its progress as it was kept last. */
interface BegunOrder {
  readonly order: RotationOrder
  readonly progress: RotationProgress
}

/** The orders of an organization that are begun and not over. */
export async function begunOrders(
  rotations: PlanStore['rotations'],
  organizationId: string,
): Promise<readonly BegunOrder[]> {
  const begun: BegunOrder[] = []
  for (const order of await openOrders(rotations, organizationId)) {
    const progress = await rotations.getProgress(order.rotationId)
    if (progress) begun.push({ order, progress })
  }
  return begun
}

/** The rotations of an organization that are not over, as they were kept last. */
export async function openRotations(dataDir: string, organizationId: string): Promise<readonly OpenRotation[]> {
  const begun = await begunOrders(rotationsOf(dataDir), organizationId)
  return begun.map(({ order: { sink }, progress }) => ({ ...progress, sink }))
}

/** The same, each with how somebody ended its workflow at Temporal. */
export async function openRotationsWithEnds(applies: ApplyPlace): Promise<readonly OpenRotation[]> {
  const { client, dataDir, organizationId } = applies
  const rotations = rotationsOf(dataDir)
  const open: OpenRotation[] = []
  for (const { order, progress } of await begunOrders(rotations, organizationId)) {
    const { rotationId, user, sink } = order
    const end = await foreignEndOf(client.workflow.getHandle(rotationWorkflowId(organizationId, user.id)))
    // It may have come to its own end since the list was read.
    if ((await rotations.marked(rotationId, 'over')) !== undefined) continue
    open.push({ ...progress, sink, ...(end === undefined ? {} : { end }) })
  }
  return open
}

/** How long one that has failed is shown. */
const SHOWN_MS = 7 * 24 * 60 * 60_000

/** The rotations of an organization that failed, or ended in part, in the last week, and whose user has had no other since. */
export async function failedRotations(
  { dataDir, organizationId }: Pick<ApplyPlace, 'dataDir' | 'organizationId'>,
  nowMs: number,
): Promise<readonly OpenRotation[]> {
  const rotations = rotationsOf(dataDir)
  const orders = (await rotations.list()).filter(({ organization }) => organization.id === organizationId)
  const last = new Map(orders.map((order) => [order.user.id, order]))
  const failed: OpenRotation[] = []
  for (const { rotationId, sink } of last.values()) {
    const endedAt = await rotations.marked(rotationId, 'ended')
    if (endedAt === undefined || nowMs - Number(endedAt) > SHOWN_MS) continue
    const progress = await rotations.getProgress(rotationId)
    if (progress?.state === 'failed' || progress?.state === 'partial') failed.push({ ...progress, sink })
  }
  return failed
}

/** What the begun rotations of a user that are not over mean for a new order. */
export interface Earlier {
  /** The one that the new order continues: it replaces the same key, or has deleted it and its proof is missing. */
  readonly continued?: RotationOrder
  /** The others. Once a rotation of the user has begun, nobody carries them out. */
  readonly others: readonly RotationOrder[]
}

export async function findEarlier(rotations: PlanStore['rotations'], order: RotationOrder): Promise<Earlier> {
  const open = (await openOrders(rotations, order.organization.id)).filter(({ user }) => user.id === order.user.id)
  let continued: RotationOrder | undefined
  const begun: RotationOrder[] = []
  for (const one of open) {
    // INVARIANT: an order without progress is another command's, which may start it, or call it over, at any moment.
    if ((await rotations.getProgress(one.rotationId)) === undefined) continue
    begun.push(one)
    const isDeleted = (await rotations.part(one.rotationId, 'delete').produced()) !== undefined
    const made = isDeleted ? await rotations.marked(one.rotationId, 'public-key') : undefined
    if (one.key.id === order.key.id || made === order.key.publicKey) continued = one
  }
  return { ...(continued ? { continued } : {}), others: begun.filter((one) => one !== continued) }
}

/**
 * Gives up a rotation that nobody carries out: its last activity may stand, and the keys stay as they are. The old private
 * key is kept unless the API has deleted the key.
 */
export async function giveUpRotation(dataDir: string, rotationId: string): Promise<void> {
  const rotations = rotationsOf(dataDir)
  const isDeleted = (await rotations.part(rotationId, 'delete').produced()) !== undefined
  createRotationKeys(rotationKeysOf(dataDir)).forget(rotationId, isDeleted ? 'both' : 'new')
  await rotations.mark(rotationId, 'over', 'given up')
}
