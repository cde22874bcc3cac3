import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { WorkflowHandle } from '@temporalio/client'
import {
  createPlanStore,
  isSameSend,
  isSendOver,
  type PlanStore,
  readTransactionState,
  type SendOrder,
  type SendProgress,
  sendIdOf,
} from '../../activities/index.ts'
import type { send } from '../../workflows/index.ts'
import type { QueryClient } from '../client/index.ts'
import { EXIT, QuorateError } from '../diagnostics/index.ts'
import { type ApplyPlace, assertWorker, followRun, SEND, sendWorkflowId, startShown } from '../operations/index.ts'
import { takenBy } from './elsewhere.ts'

type SendHandle = WorkflowHandle<typeof send>

/** A send that has begun, and where it may be asked for. */
export interface BegunSend {
  readonly sendId: string
  readonly order: SendOrder
  readonly handle: SendHandle
}

export function ledgerOf(dataDir: string): Pick<PlanStore, 'sends' | 'batches'> {
  return createPlanStore(join(dataDir, 'plans'))
}

/**
 * Begins a send, or finds the one that its reference has: however often and from wherever it is asked, a reference is sent
 * once. Throws `cli/reference-taken` when the reference stands for something else.
 */
export async function beginSend({ client, taskQueue, dataDir }: ApplyPlace, order: SendOrder): Promise<BegunSend> {
  await assertWorker(client, taskQueue)
  const { sendId, order: entered } = await ledgerOf(dataDir).sends.enter(order)
  assertSame(entered, order)
  const organizationId = entered.organization.id
  // By the id and never by the reference, which is a person's word.
  const handle = await startShown(client, { organizationId, carriesOut: sendId }, (shown) =>
    client.workflow.start<typeof send>('send', {
      workflowId: sendWorkflowId(organizationId, sendId),
      taskQueue,
      args: [{ organizationId, sendId, ...shown.input }],
      // One that runs is joined; one that has ended is begun again with the same bytes, and ends alike.
      workflowIdConflictPolicy: 'USE_EXISTING',
      ...shown.options,
    }),
  )
  return { sendId, order: entered, handle }
}

/** The earlier send under a reference, with its progress. */
export interface EarlierSend {
  readonly sendId: string
  readonly order: SendOrder
  readonly progress?: SendProgress
}

/** Looks up what the reference of an order stands for; undefined where it is free. Throws `cli/reference-taken` for another send. */
export async function findEarlier(dataDir: string, order: SendOrder): Promise<EarlierSend | undefined> {
  const { sends } = ledgerOf(dataDir)
  const sendId = sendIdOf(order)
  const entered = await sends.findOrder(sendId)
  if (entered === undefined) return undefined
  const progress = await sends.getProgress(sendId)
  if (progress?.state !== 'given up') assertSame(entered, order)
  return { sendId, order: entered, ...(progress === undefined ? {} : { progress }) }
}

/**
 * Frees the reference of a send that was given up, so that it is sent anew, with other bytes. The ledger's word alone does not
 * do: the API is asked once more. Throws `cli/reference-taken` where it says something else now.
 */
export async function releaseGivenUp(
  client: Parameters<typeof readTransactionState>[0],
  { dataDir, sendId }: { readonly dataDir: string; readonly sendId: string },
): Promise<void> {
  const { sends } = ledgerOf(dataDir)
  let [now, under]: readonly (string | undefined)[] = []
  const isFree = await sends.release(sendId, async (entry) => {
    under = entry.order.reference
    const { sendTransactionStatusId } = await sends.getMade(entry)
    if (sendTransactionStatusId === undefined) return false
    const asked = { sendTransactionStatusId, withReceipt: false }
    now = (await readTransactionState(client, entry.order, asked)).state
    return now === 'given up'
  })
  if (isFree) return
  throw new QuorateError('cli/reference-taken', `the send of \`${under}\` is ${now ?? 'unknown to the API'} now`, {
    exit: EXIT.refused,
    facts: { submitted: 'nothing' },
    next: 'give this send a reference of its own',
  })
}

/**
 * Puts a later round of a send in the place of the one that approvers rejected. The API is asked once more whether they have.
 * Throws `cli/reference-taken` where it says something else now, or does not say.
 */
export async function enterAgain(
  client: QueryClient,
  { dataDir, order }: { readonly dataDir: string; readonly order: SendOrder },
): Promise<void> {
  const { sends } = ledgerOf(dataDir)
  let now = 'not known to be rejected'
  const isEntered = await sends.enterAgain(order, async (entry) => {
    const { activityId } = await sends.getMade(entry)
    if (activityId === undefined) return false
    const { status } = (await client.query('get_activity', { activityId })).activity
    now = `${status.replace('ACTIVITY_STATUS_', '')} now: activity ${activityId}`
    return status === 'ACTIVITY_STATUS_REJECTED'
  })
  if (isEntered) return
  throw new QuorateError('cli/reference-taken', `the send of \`${order.reference}\` is ${now}`, {
    exit: EXIT.refused,
    facts: { submitted: 'nothing' },
    next: 'look at it with `quorate sends`; only what approvers have rejected is asked for again',
  })
}

function assertSame(entered: SendOrder, order: SendOrder): void {
  if (isSameSend(entered, order)) return
  const { amount, to, from, orderedAt } = entered
  const { why, facts, next } = takenBy(entered, order)
  throw new QuorateError('cli/reference-taken', `reference \`${order.reference}\` ${why}`, {
    exit: EXIT.refused,
    facts: { 'that send': `${amount} from ${from} to ${to}`, since: orderedAt, ...facts, submitted: 'nothing' },
    next,
  })
}

/** Whether nothing more will come of a send. */
export function isFinal({ state }: SendProgress): boolean {
  return isSendOver(state)
}

/** A workflow whose send is over has that in the ledger, for the next command, before it ends; where no worker is left, this is enough. */
const KEPT_MS = 5_000

/** Follows a send until it is over, or until `until` says that this is enough; every change is shown once. Throws `cli/run-ended`. */
export async function followSend(
  handle: SendHandle,
  show: (progress: SendProgress) => void,
  until: (progress: SendProgress) => Promise<boolean>,
): Promise<SendProgress> {
  const shown = (one: SendProgress) => JSON.stringify([one.state, one.transactionHash, one.approved, one.error])
  const last = await followRun(handle, SEND, {
    ask: () => handle.query<SendProgress>('progress'),
    show: (progress, before) => {
      if (before === undefined || shown(before) !== shown(progress)) show(progress)
    },
    isEnough: (progress) => isFinal(progress) || until(progress),
  })
  if (isFinal(last)) await Promise.race([handle.result().catch(() => {}), delay(KEPT_MS, undefined, { ref: false })])
  return last
}
