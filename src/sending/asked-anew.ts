/**
 * What is open, asked about when somebody looks. The ledger has what the workflow of a send was told last, and a workflow asks ever
 * more rarely while people decide: what an approver has just approved would be shown as waiting for most of a minute.
 */
import {
  describeSendActivity,
  failedHow,
  isSendOver,
  type PlanStore,
  progressIn,
  readOpenActivities,
  readTransactionState,
  type SendOrder,
  type SendProgress,
} from '../../activities/index.ts'
import type { QueryClient } from '../client/index.ts'
import type { Wire } from '../protocol/index.ts'
import { type Finality, type NodeSettings, withFinality } from './finality.ts'
import { findReplacers, type ReplacedBy } from './replaced-by.ts'

interface Listed {
  readonly order: SendOrder
  readonly progress?: SendProgress | undefined
}

/** From so many that wait, the list of all that wait is fewer requests. */
const WORTH_A_LIST = 4
/** Requests that a look is worth besides that list: at ten a second they take two seconds. */
const MOST_REQUESTS = 20
/** An API that is away, or busy, is not waited for: the ledger's word is shown. */
const MOST_MS = 5_000

/**
 * Sends as the API tells them now, the newest of those that are open and then of those that were reverted, which their API may have
 * been wrong about; the others, and all that it gives no answer about, as they were. Nothing is written: a send's own workflow tells the ledger.
 */
export async function askedAnew<One extends Listed>(
  all: readonly One[],
  { api, now }: { readonly api: () => Promise<QueryClient>; readonly now: () => number },
): Promise<readonly One[]> {
  const open = all.filter(({ progress }) => progress?.activityId !== undefined && !isSendOver(progress.state))
  const reverted = all.filter(({ progress }) => failedHow(progress) === 'reverted')
  if (open.length + reverted.length === 0) return all
  const told = new Map<One, SendProgress>()
  const stopped = new AbortController()
  const timer = setTimeout(() => stopped.abort(), MOST_MS)
  try {
    await askAll(await api(), {
      asked: [...open.toReversed(), ...reverted.toReversed()],
      ...{ told, now, signal: stopped.signal },
    })
  } catch {
    // What it has told so far counts.
  } finally {
    clearTimeout(timer)
  }
  return all.map((one) => (told.has(one) ? { ...one, progress: told.get(one)! } : one))
}

/**
 * Earlier sends as they stand now: the API is asked about what is open, and nodes about what is included. `recordedAt` is there where
 * neither tells, and only what the ledger was told last is known.
 * @param now of who looks at a time. @default what is open is not asked about
 */
export async function asTheyStand<One extends Listed & { readonly sendId: string }>(
  earlier: readonly One[],
  {
    ledger,
    nodes,
    api,
    now,
  }: {
    readonly ledger: PlanStore['sends']
    readonly nodes: NodeSettings
    readonly api?: (() => Promise<QueryClient>) | undefined
    readonly now?: (() => number) | undefined
  },
): Promise<readonly (One & AsItStands)[]> {
  const told = await toldNow(earlier, { ledger, api, now })
  return withFinality(await findReplacers(ledger, told), ledger, nodes, api)
}

/** Sends as the API tells them now, and of the others that are open when the ledger was told last. */
export async function toldNow<One extends Listed & { readonly sendId: string }>(
  all: readonly One[],
  {
    ledger,
    api,
    now,
  }: {
    readonly ledger: PlanStore['sends']
    readonly api: (() => Promise<QueryClient>) | undefined
    readonly now: (() => number) | undefined
  },
): Promise<readonly (One & Pick<AsItStands, 'recordedAt'>)[]> {
  const told = api && now ? await askedAnew(all, { api, now }) : all
  return Promise.all(told.map((one, index) => (one === all[index] ? withRecordedAt(one, ledger) : one)))
}

/** A send of which nobody but the ledger tells how it stands, with when it was told last, unless it is over. */
async function withRecordedAt<One extends Listed & { readonly sendId: string }>(
  one: One,
  ledger: PlanStore['sends'],
): Promise<One & Pick<AsItStands, 'recordedAt'>> {
  if (one.progress === undefined || isSendOver(one.progress.state)) return one
  return { ...one, recordedAt: (await ledger.recordedAt(one.sendId)) ?? 'an unknown time' }
}

/** What is known of a send besides its progress, and since when where only the ledger knows it. */
export interface AsItStands {
  readonly replacedBy?: ReplacedBy
  readonly finality?: Finality
  readonly recordedAt?: string
}

interface Asking<One> {
  /** What is open first, newest first. */
  readonly asked: readonly One[]
  readonly told: Map<One, SendProgress>
  readonly now: () => number
  readonly signal: AbortSignal
}

async function askAll<One extends Listed>(
  client: QueryClient,
  { asked, told, now, signal }: Asking<One>,
): Promise<void> {
  let requests = 0
  const bounded: Pick<QueryClient, 'query'> = {
    query: (name, request) => {
      if (++requests > MOST_REQUESTS) throw new RangeError('more than a look is worth')
      return client.query(name, request, { signal })
    },
  }
  const asking = { ...client, ...bounded }
  const isSent = ({ state }: SendProgress) => state === 'broadcasting' || state === 'failed'
  const waiting = asked.filter(({ progress }) => !isSent(progress!))
  const listed = new Map<string, Wire.Activity>()
  if (waiting.length >= WORTH_A_LIST) {
    const types = [...new Set(waiting.map(({ order }) => order.type))]
    for await (const activity of readOpenActivities(asking, types)) listed.set(activity.id, activity)
  }
  for (const one of asked) {
    const { progress, order } = one as { progress: SendProgress } & One
    let known = progress
    if (!isSent(progress)) {
      const activityId = progress.activityId!
      const activity = listed.get(activityId) ?? (await asking.query('get_activity', { activityId })).activity
      const { error: _, ...before } = progress
      const state = describeSendActivity(activity, { publicKey: client.publicKey, nowMs: now() })
      const { lapsed } = state
      known = { ...before, ...progressIn(state), ...(lapsed && { lapsed }) }
      told.set(one, known)
    }
    const { sendTransactionStatusId } = known
    if (!isSent(known) || sendTransactionStatusId === undefined) continue
    const { error: _, ...rest } = known
    told.set(one, {
      ...rest,
      ...(await readTransactionState(asking, order, { sendTransactionStatusId, withReceipt: true })),
    })
  }
}
