/**
 * Sends one transaction and tracks it to its end. The workflow id `send/<organization>/<send id>` is the lock: one send a
 * reference. The ledger holds what is sent; this decides nothing but when to ask again.
 *
 * A body is made once, from a time that is in this history before the body is made, and entered in the ledger: a send that is begun again
 * sends the same bytes. Another body is made only after the API has refused the first as too old, which it never does to a body that it
 * knows. So nothing is sent twice. Waiting for people has no deadline, and a send that is final is never tried again.
 */
import { CancellationScope, ContinueAsNew, continueAsNew, setHandler } from '@temporalio/workflow'
import type { Failure, ShownBy } from '../activities/model.ts'
import type { SendNews } from '../activities/send-batch-model.ts'
import type { SendActivityState, SendProgress } from '../activities/send-model.ts'
import { nudge, sendProgress, told } from './messages.ts'
import { createShow, standOf } from './shown.ts'
import {
  createPace,
  isHistoryLong,
  MOST_STALE,
  persist,
  rest,
  steps,
  toFailure,
  VOTE_AGAIN_MS,
  type Waiter,
} from './steps.ts'

export interface SendInput {
  readonly organizationId: string
  /** The send's id in the ledger. */
  readonly sendId: string
  /** Given by a batch, which tells its sends of news, so that they poll only rarely. With `batchId` the send is listed under the batch. */
  readonly batched?: { readonly reference: string; readonly batchId?: string }
  /** @default nowhere */
  readonly shownBy?: ShownBy
  /** Only from an earlier run of the same send. */
  readonly carried?: SendRecord
}

/** The state of a send; plain JSON, handed from run to run. */
interface SendRecord extends SendProgress {
  readonly needsVote?: boolean
  /** When the acting user's approval was last cast by this workflow. */
  readonly votedAtMs?: number
}

/** How often a send of a batch polls by itself, in case its batch was ended and tells it nothing. */
const UNTOLD_MS = 60 * 60 * 1000

export async function send(input: SendInput): Promise<SendProgress> {
  const run = new SendRun(input)
  setHandler(sendProgress, () => run.progress())
  setHandler(nudge, () => run.nudge())
  setHandler(told, (news) => run.hear(news))
  // Temporal's own cancellation is ignored, since anyone who reaches Temporal can request it: the send that was ordered goes on.
  return CancellationScope.nonCancellable(async () => {
    const { organizationId, sendId, batched, shownBy } = input
    const stand = () => standOf(words[run.record.state], run.record.activityId)
    const shown = createShow({ organizationId, carriesOut: batched?.batchId ?? sendId, shownBy }, stand)
    void shown.changes()
    const end = await carryOut(run)
    shown.now()
    return end
  })
}

/** How each state is shown: as that of an apply, where it has such a one. */
const words: Readonly<Record<SendProgress['state'], string>> = {
  submitting: 'running',
  waiting: 'waiting',
  broadcasting: 'running',
  included: 'done',
  failed: 'failed',
  rejected: 'rejected',
  'given up': 'given up',
  stopped: 'stopped',
}

async function carryOut(run: SendRun): Promise<SendProgress> {
  try {
    if (!run.input.carried) await begin(run)
    if (run.record.activityId === undefined) await submit(run)
    await awaitApproval(run)
    await awaitInclusion(run)
  } catch (error) {
    if (error instanceof ContinueAsNew) throw error
    const failure = toFailure(error)
    const isStopped = failure.code === 'apply/send-stopped'
    run.change({ state: isStopped ? 'stopped' : 'failed', error: failure })
    // Its reference is free: the ledger may by now have another send under it.
    if (isStopped) return run.progress()
  }
  await keep(run)
  return run.progress()
}

class SendRun implements Waiter {
  readonly input: SendInput
  record: SendRecord
  readonly stopping = false
  news = 0
  /** The progress that was recorded last, as text. */
  kept = ''
  /** The news that its batch has told since it last looked. */
  #heard: SendNews = {}

  constructor(input: SendInput) {
    this.input = input
    this.record = input.carried ?? { sendId: input.sendId, reference: '', state: 'submitting' }
  }

  nudge(): void {
    this.news++
  }

  hear(news: SendNews): void {
    this.#heard = news
    this.news++
  }

  get wasTold(): boolean {
    return Object.keys(this.#heard).length > 0
  }

  /** Takes the news about the activity or the transaction, and forgets all news. */
  heard<Of extends keyof SendNews>(of: Of): SendNews[Of] {
    const { [of]: news } = this.#heard
    this.#heard = {}
    return news
  }

  change(columns: Partial<SendRecord>): void {
    this.record = { ...this.record, ...columns }
  }

  /** Shows what the next try waits for. */
  readonly explain = (error: Failure | undefined): void => {
    const { error: _, ...rest } = this.record
    this.record = error === undefined ? rest : { ...rest, error }
  }

  take({ state, error, ...activity }: SendActivityState): void {
    const { activityId, fingerprint, since, approved, needsVote, sendTransactionStatusId } = activity
    const brought = sendTransactionStatusId === undefined ? {} : { sendTransactionStatusId }
    this.explain(error)
    this.change({ activityId, fingerprint, since, approved, needsVote, ...brought, state: states[state] })
  }

  progress(): SendProgress {
    const { needsVote: _, votedAtMs: __, ...shown } = this.record
    return shown
  }
}

/** The send's state for that of its activity: a completed one means that the transaction was accepted. */
const states = {
  submitting: 'submitting',
  waiting: 'waiting',
  completed: 'broadcasting',
  failed: 'failed',
  rejected: 'rejected',
} as const satisfies Record<SendActivityState['state'], SendProgress['state']>

async function begin(run: SendRun): Promise<void> {
  const { organizationId, sendId, batched } = run.input
  if (batched) return run.change({ reference: batched.reference })
  const { reference } = await persist(run, run.explain, () => steps.loadSend({ organizationId, sendId }))
  run.change({ reference })
}

async function submit(run: SendRun): Promise<void> {
  for (let stale = 0; run.record.activityId === undefined; stale++) {
    // This workflow's clock: the value is in the history before the body is made, and a replay makes the same body.
    const timestampMs = Date.now()
    try {
      const { batched } = run.input
      if (batched) await submitAtOnce(run, { reference: batched.reference, timestampMs })
      else await submitInSteps(run, timestampMs)
    } catch (error) {
      if (toFailure(error).code !== 'apply/body-stale' || stale === MOST_STALE) throw error
    }
  }
}

async function submitInSteps(run: SendRun, timestampMs: number): Promise<void> {
  const { sendId } = run.input
  const { fingerprint } = await persist(run, run.explain, () => steps.prepareSend({ sendId, timestampMs }))
  run.change({ fingerprint })
  run.take(await persist(run, run.explain, () => steps.submitSend({ sendId })))
}

async function submitAtOnce(
  run: SendRun,
  attempt: { readonly reference: string; readonly timestampMs: number },
): Promise<void> {
  const { sendId } = run.input
  const submitted = await persist(run, run.explain, () => steps.submitBatched({ sendId, ...attempt }))
  run.change({ ...submitted.progress, needsVote: submitted.needsVote })
  run.kept = JSON.stringify(run.progress())
}

/** Polls until the activity is final; casts the acting user's vote again when it has lapsed. */
async function awaitApproval(run: SendRun): Promise<void> {
  const { sendId } = run.input
  const pace = paceOf(run)
  while (run.record.state === 'waiting' || run.record.state === 'submitting') {
    await keep(run)
    await goOnElsewhereIfLong(run)
    const { needsVote, votedAtMs = 0 } = run.record
    if (needsVote && Date.now() - votedAtMs > VOTE_AGAIN_MS) await vote(run)
    else {
      await pace()
      const poll = () => persist(run, run.explain, () => steps.pollSend({ sendId }))
      run.take(run.heard('activity') ?? (await poll()))
    }
  }
}

/** Votes again. A refused vote does not end the wait: others may still decide. */
async function vote(run: SendRun): Promise<void> {
  const { sendId } = run.input
  const timestampMs = Date.now()
  run.change({ votedAtMs: timestampMs })
  try {
    run.take(await persist(run, run.explain, () => steps.voteForSend({ sendId, timestampMs })))
  } catch (error) {
    run.explain(toFailure(error))
  }
}

/** Polls until the transaction is final. A send of a batch waits first: its batch polls when all are submitted. */
async function awaitInclusion(run: SendRun): Promise<void> {
  const { sendId, batched } = run.input
  const pace = paceOf(run)
  for (let waits = batched !== undefined; run.record.state === 'broadcasting'; waits = true) {
    if (waits) {
      await keep(run)
      await goOnElsewhereIfLong(run)
      await pace()
    }
    const read = () => persist(run, run.explain, () => steps.readTransaction({ sendId }))
    run.change(run.heard('transaction') ?? (await read()))
  }
}

function paceOf(run: SendRun): () => Promise<unknown> {
  if (!run.input.batched) return createPace(run)
  // A signal that arrived during another wait counts as news at once.
  return async () => (run.wasTold ? 'news' : rest(run, UNTOLD_MS))
}

/** Records a changed state in the ledger, for commands that read it without Temporal. The send does not depend on it. */
async function keep(run: SendRun): Promise<void> {
  const progress = run.progress()
  const text = JSON.stringify(progress)
  if (run.kept === text) return
  run.kept = text
  await steps.recordSend({ progress }).catch(() => {})
}

async function goOnElsewhereIfLong({ input, record }: SendRun): Promise<void> {
  if (isHistoryLong()) await continueAsNew<typeof send>({ ...input, carried: record })
}
