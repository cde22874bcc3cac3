/**
 * Begins the sends of a file and polls for all of them. Each send is a workflow of its own, whose id is the lock of its reference. This
 * workflow keeps within the rate of the API: first all sends are submitted, a few at a time, and then each step asks about many of them.
 * It knows counts and a row of the file; what is sent, and how each row stands, is in the ledger. So it may end anywhere and begin again:
 * sends that are over are left alone, and sends that run are joined.
 */
import {
  CancellationScope,
  ContinueAsNew,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  setHandler,
} from '@temporalio/workflow'
import type { Failure, ShownBy } from '../activities/model.ts'
import type { BatchedSend, SendBatchCounts, SendBatchProgress } from '../activities/send-batch-model.ts'
import type { SendBatchNews } from '../activities/send-batches.ts'
import { batchProgress, nudge, resume, stop, told } from './messages.ts'
import { sendWorkflowId } from './names.ts'
import type { SendInput } from './send.ts'
import { createShow, standOf } from './shown.ts'
import { startDetached } from './start-detached.ts'
import { createPace, isHistoryLong, persist, rest, steps, toFailure, type Waiter } from './steps.ts'

export interface SendBatchInput {
  readonly organizationId: string
  /** The batch's id in the ledger. */
  readonly batchId: string
  /** Whether no more sends are begun once one has failed; those that were begun are followed to their ends. @default false */
  readonly stopOnFailure?: boolean
  /** Of itself and of its sends. @default nowhere */
  readonly shownBy?: ShownBy
  /** Only from an earlier run of the same batch. */
  readonly carried?: BatchRecord
}

/** The state of a batch; plain JSON, handed from run to run. */
interface BatchRecord {
  /** Rows before this one have been begun. */
  readonly begun: number
  readonly more: boolean
  readonly stopped: boolean
  readonly counts: SendBatchCounts
  readonly submitted: boolean
  readonly quiet: number
}

/** Temporal keeps at most 2,000 children of one run, and advises against more than 500. They stay when a run ends. */
const MOST_CHILDREN = 500
/** How often it checks whether the rate has room for more sends. */
const ROOM_MS = 500

export async function sendBatch(input: SendBatchInput): Promise<SendBatchProgress> {
  const run = new BatchRun(input)
  let over = false
  let error: Failure | undefined
  const progress = (): SendBatchProgress => {
    const { counts, submitted, quiet, stopped } = run.record
    return {
      batchId: input.batchId,
      counts,
      submitted,
      quiet,
      stopped,
      over,
      ...(error === undefined ? {} : { error }),
    }
  }
  setHandler(batchProgress, progress)
  setHandler(nudge, () => run.nudge())
  // Temporal's own cancellation is ignored, since anyone who reaches Temporal can request it: the batch goes on, and so does a stop.
  setHandler(stop, () => CancellationScope.nonCancellable(() => stopRest(run)))
  setHandler(resume, () => run.resume())
  const { organizationId, batchId: carriesOut, shownBy } = input
  const shown = createShow({ organizationId, carriesOut, shownBy }, () => standOf(wordFor(progress()), undefined))
  void CancellationScope.nonCancellable(() => shown.changes())
  try {
    await CancellationScope.nonCancellable(() => carryOut(run))
  } catch (fault) {
    if (fault instanceof ContinueAsNew) throw fault
    error = toFailure(fault)
  }
  over = true
  shown.now()
  return progress()
}

/** How the batch as a whole is shown; its sends show which activities wait. */
function wordFor({ over, stopped, error, submitted, counts }: SendBatchProgress): string {
  if (error) return 'failed'
  if (stopped) return 'stopped'
  if (over) return 'done'
  return submitted && counts.waiting && !counts.broadcasting ? 'waiting' : 'running'
}

class BatchRun implements Waiter {
  readonly input: SendBatchInput
  record: BatchRecord
  readonly stopping = false
  /** How many sends this run has begun. */
  children = 0
  news = 0
  /** How often it was told to resume. */
  resumed = 0
  /** How many calls of `stopRest` are running. */
  stops = 0

  constructor(input: SendBatchInput) {
    this.input = input
    this.record = input.carried ?? { begun: 0, more: true, stopped: false, counts: {}, submitted: false, quiet: 0 }
  }

  nudge(): void {
    this.news++
  }

  /** Goes on from the first row: sends that are over are left alone, and sends that run are joined. */
  resume(): void {
    this.resumed++
    this.change({ begun: 0, more: true, stopped: false, submitted: false })
    this.nudge()
  }

  change(columns: Partial<BatchRecord>): void {
    this.record = { ...this.record, ...columns }
  }
}

/** A failing step of a batch is tried again without an end, and without being shown: nobody can do anything about it here. */
const unshown = () => {}

/** Submits all sends and then polls. With `stopOnFailure` it polls for those that were begun before it begins more. */
async function carryOut(run: BatchRun): Promise<void> {
  let pace = createPace(run)
  for (let from = 0; ; ) {
    const seen = run.news
    if (run.record.more) await beginNext(run)
    let open = 0
    if (!run.record.more || run.input.stopOnFailure) {
      const before = run.record.counts
      const asked = await askFrom(run, from)
      ;({ from, open } = asked)
      if (asked.news.length > 0 || differ(before, asked.counts)) pace = createPace(run)
    }
    if (run.stops > 0) await condition(() => run.stops === 0)
    if (!run.record.more && open === 0) return
    await goOnElsewhereIfLong(run)
    if (run.record.more) await rest(run, ROOM_MS)
    // If news came during the poll, it may be about a send that was asked about before it came: poll again at once.
    else if (from === 0 && run.news === seen) await pace()
  }
}

function differ(one: SendBatchCounts, other: SendBatchCounts): boolean {
  const states = Object.keys({ ...one, ...other }) as (keyof SendBatchCounts)[]
  return states.some((state) => one[state] !== other[state])
}

async function beginNext(run: BatchRun): Promise<void> {
  const { batchId, stopOnFailure = false } = run.input
  const { resumed } = run
  const from = run.record.begun
  const next = await persist(run, unshown, () => steps.nextSends({ batchId, from, stopOnFailure }))
  await Promise.all(next.begin.map((one) => begin(run, one)))
  run.change({ counts: next.counts })
  // If it was told to resume meanwhile, it begins from the first row instead.
  if (run.resumed === resumed) run.change({ begun: next.from, more: next.more, stopped: next.stopped })
}

/** Stops the batch, if the ledger says so still. Runs beside the other steps, which may take long if the API does not answer. */
async function stopRest(run: BatchRun): Promise<void> {
  const { batchId } = run.input
  const { resumed } = run
  run.stops++
  try {
    const { counts, stopped = true } = await persist(run, unshown, () => steps.stopBatch({ batchId }))
    if (stopped && run.resumed === resumed) run.change({ more: false, stopped: true, counts })
  } catch {
    // A lasting failure shows in the batch's other steps as well, which report it.
  }
  run.stops--
  run.nudge()
}

async function askFrom(run: BatchRun, from: number): Promise<SendBatchNews> {
  const { batchId } = run.input
  const asked = await persist(run, unshown, () => steps.askBatch({ batchId, from }))
  const { quiet, stopped } = run.record
  if (asked.isFree && !stopped) run.change({ more: true })
  run.change({
    counts: asked.counts,
    submitted: !run.record.more && asked.silent.length === 0,
    quiet: asked.news.length === 0 && asked.from === 0 ? quiet + 1 : quiet,
  })
  // While there is news, sends that have recorded nothing are probably about to.
  const silent = asked.news.length > 0 ? [] : asked.silent
  await Promise.all([...asked.news.map((one) => tell(run, one)), ...silent.map((one) => begin(run, one))])
  return asked
}

/** Begins a send, unless it runs. The send goes on when this workflow has ended. */
async function begin(run: BatchRun, { sendId, reference }: BatchedSend): Promise<void> {
  const { organizationId, batchId, shownBy } = run.input
  const shown = shownBy ? { shownBy } : {}
  const input: SendInput = { organizationId, sendId, batched: { reference, ...(shownBy ? { batchId } : {}) }, ...shown }
  const workflowId = sendWorkflowId(organizationId, sendId)
  if (await startDetached('send', { workflowId, input })) run.children++
}

/** Tells a send its news. A send whose workflow was ended is begun again, and sends the same bytes. */
async function tell(run: BatchRun, one: SendBatchNews['news'][number]): Promise<void> {
  const handle = getExternalWorkflowHandle(sendWorkflowId(run.input.organizationId, one.sendId))
  await handle.signal(told, one.news).catch(() => begin(run, one))
}

async function goOnElsewhereIfLong({ input, record, children }: BatchRun): Promise<void> {
  if (isHistoryLong() || children >= MOST_CHILDREN) await continueAsNew<typeof sendBatch>({ ...input, carried: record })
}
