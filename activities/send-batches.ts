import { ClientError } from '../src/client/index.ts'
import type { Wire } from '../src/protocol/index.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { readOpenActivities } from './open-activities.ts'
import { countsOf, isRowOver, isUnsubmitted } from './send-batch-ledger.ts'
import type { BatchedSend, RowStand, SendBatch, SendBatchCounts, SendNews } from './send-batch-model.ts'
import { isSameSend } from './send-model.ts'
import { openSends, readTransactionState, type SendReader } from './sends.ts'

/** The steps that the workflow of a batch may call. Each may run more than once without harm. */
export interface SendBatchActivities {
  /** Gives the next rows to begin, as far as there is room, and enters them in the ledger. */
  nextSends(input: {
    readonly batchId: string
    /** Rows before this one have been begun. */
    readonly from: number
    /** Whether nothing more is begun once one has failed. */
    readonly stopOnFailure: boolean
  }): Promise<NextSends>
  /** Asks about the sends of a batch that are on their way: about many at once where the API can answer so. */
  askBatch(input: {
    readonly batchId: string
    /** Of those that are being broadcast, only rows from this one on are asked about. */
    readonly from: number
  }): Promise<SendBatchNews>
  /**
   * Stops the rows of a batch that the ledger says is stopped: none that has not been submitted will be. The ledger's word comes before
   * the workflow is told, and may be taken back before this step runs: then `stopped` is false, and nothing is stopped.
   */
  stopBatch(input: { readonly batchId: string }): Promise<StoppedBatch>
}

export interface StoppedBatch {
  readonly counts: SendBatchCounts
  /** Absent in histories of before, where it always was. */
  readonly stopped?: boolean
}

export interface NextSends {
  readonly begin: readonly BatchedSend[]
  /** Rows before this one have been begun now. */
  readonly from: number
  /** Whether rows are left to begin. */
  readonly more: boolean
  readonly stopped: boolean
  readonly counts: SendBatchCounts
}

export interface SendBatchNews {
  readonly news: readonly (BatchedSend & { readonly news: SendNews })[]
  /** Sends that were begun and are not submitted: their workflows may have been ended. */
  readonly silent: readonly BatchedSend[]
  /** The row to go on with; 0 when all were asked about. */
  readonly from: number
  readonly open: number
  /** Whether rows that were begun are free again, since another batch was stopped. Absent in histories of before. */
  readonly isFree?: boolean
  readonly counts: SendBatchCounts
}

/** Sends that are being submitted at the same time: three seconds' worth, so that the rate is used whatever one takes. */
const MOST_SUBMITTING = 30
/** Sends that are submitted at the same time with `stopOnFailure`: a failure can no longer stop these. */
const MOST_AT_RISK = 5
/** Most that is asked one by one in one step, which at ten a second takes five seconds. */
const MOST_ASKED = 50
/** From so many that wait, the list of all that wait is fewer requests. */
const WORTH_A_LIST = 4

export function createSendBatchActivities(deps: ActivityDependencies): SendBatchActivities {
  const { sends, batches } = deps.planStore
  const someFree = async (stands: readonly RowStand[]) => {
    for (const { state, sendId } of stands) if (state === 'not begun' && (await sends.isStopped(sendId))) return true
    return false
  }
  return {
    async nextSends({ batchId, from, stopOnFailure }) {
      const batch = await batches.get(batchId)
      const stands = await batches.survey(batch)
      const counts = countsOf(stands)
      const isStopped = async () => (await batches.stoppedAt(batchId)) !== undefined
      const stopped = (stopOnFailure && stands.some(isFailure)) || (await isStopped())
      const begun = stands.slice(0, from)
      const busy = begun.filter((one) => isUnsubmitted(one) || (stopOnFailure && one.state === 'broadcasting')).length
      const most = stopOnFailure ? MOST_AT_RISK : MOST_SUBMITTING
      // Rows that were begun and then stopped with another batch are free again.
      const chosen = stopped ? [] : begun.filter(({ state }) => state === 'not begun')
      let next = from
      while (!stopped && next < stands.length && busy + chosen.length < most) {
        const stand = stands[next++]!
        if (!isRowOver(stand.state)) chosen.push(stand)
      }
      const entered = await Promise.all(chosen.map(({ row }) => sends.enter(row.order)))
      // INVARIANT: the mark of a stop is read after the rows are in the ledger; `stop` writes it before it reads the rows.
      if (chosen.length > 0 && (await isStopped())) {
        await Promise.all(chosen.map(({ sendId }) => sends.stop(sendId)))
        return { begin: [], from, more: false, stopped: true, counts }
      }
      // Somebody may have taken the reference for another send since it was looked at.
      const begin = chosen.filter(({ row }, index) => isSameSend(entered[index]!.order, row.order)).map(named)
      return { begin, from: next, more: !stopped && next < stands.length, stopped, counts }
    },

    async askBatch({ batchId, from }) {
      const batch = await batches.get(batchId)
      const stands = await batches.survey(batch)
      const begun = stands.filter(({ state }) => !isRowOver(state) && state !== 'not begun')
      const reader = await openSends(deps, batch.organization)
      const waiting = begun.filter(
        ({ state, progress }) => state !== 'broadcasting' && progress?.activityId !== undefined,
      )
      const flying = stands.slice(from).filter(({ state }) => state === 'broadcasting')
      const asked = flying.slice(0, MOST_ASKED)
      const news = [...(await askWaiting(reader, batch, waiting)), ...(await askFlying(reader, asked))]
      // What a send tells of itself later is kept only where it is what the API told.
      for (const {
        sendId,
        news: { activity },
      } of news) {
        if (activity !== undefined) await sends.setMade(await sends.getEntry(sendId), activity)
      }
      return {
        news,
        silent: begun.filter(isUnsubmitted).map(named),
        from: asked.length < flying.length ? stands.indexOf(asked.at(-1)!) + 1 : 0,
        open: begun.length,
        isFree: await someFree(stands),
        counts: countsOf(stands),
      }
    },

    async stopBatch({ batchId }) {
      const batch = await batches.get(batchId)
      const stopped = await batches.stopRows(batch)
      return { counts: countsOf(await batches.survey(batch)), stopped }
    },
  }
}

/** The news of sends whose activity was open when they were last polled. */
async function askWaiting(
  reader: SendReader,
  { rows }: SendBatch,
  waiting: readonly RowStand[],
): Promise<SendBatchNews['news']> {
  const types = [...new Set(rows.map(({ order }) => order.type))]
  const listed = new Map<string, Wire.Activity>()
  if (waiting.length >= WORTH_A_LIST) {
    for await (const activity of readOpenActivities(reader.client, types)) listed.set(activity.id, activity)
  }
  let asked = 0
  const ask = async (stand: RowStand): Promise<SendNews | undefined> => {
    const activityId = stand.progress!.activityId!
    const known = listed.get(activityId)
    if (known === undefined && ++asked > MOST_ASKED) return undefined
    const activity = known ?? (await reader.client.query('get_activity', { activityId })).activity
    const now = reader.describe(activity, stand.row.order)
    return isNews(stand, now) ? { activity: now } : undefined
  }
  return gather(waiting, ask)
}

/** Asks about one after the other. Where that is refused for good, the send asks itself and fails by itself. */
async function gather(
  stands: readonly RowStand[],
  ask: (stand: RowStand) => Promise<SendNews | undefined>,
): Promise<SendBatchNews['news']> {
  const all: SendBatchNews['news'][number][] = []
  for (const stand of stands) {
    const news = await ask(stand).catch((error: unknown): SendNews => {
      if (!(error instanceof ClientError) || error.retryable) throw error
      return {}
    })
    if (news !== undefined) all.push({ ...named(stand), news })
  }
  return all
}

/** A vote that has lapsed is gone from those that count. */
function isNews({ progress }: RowStand, { state, approved }: ReturnType<SendReader['describe']>): boolean {
  return state !== progress!.state || approved.join() !== progress!.approved?.join()
}

function askFlying({ client }: SendReader, flying: readonly RowStand[]): Promise<SendBatchNews['news']> {
  return gather(flying, async ({ progress, row }) => {
    const { sendTransactionStatusId, transactionHash } = progress!
    const asked = { sendTransactionStatusId: sendTransactionStatusId!, withReceipt: false }
    const { error, ...rest } = await readTransactionState(client, row.order, asked)
    // A row is told of an end, and of its hash: what it waits for meanwhile would stay with it.
    const transaction = error === undefined || rest.state === 'broadcasting' ? rest : { ...rest, error }
    const isNew = transaction.state !== 'broadcasting' || transaction.transactionHash !== transactionHash
    return isNew ? { transaction } : undefined
  })
}

function isFailure({ state }: RowStand): boolean {
  return state === 'failed' || state === 'given up' || state === 'rejected' || state === 'taken'
}

function named({ sendId, row }: RowStand): BatchedSend {
  return { sendId, reference: row.order.reference }
}
