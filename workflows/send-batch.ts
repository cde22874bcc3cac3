/**
 * Begins the sends of a file and asks about them all. Each is a workflow of its own, whose id is the lock of its reference;
 * this one only sees to it that there is room at the API: first everything is submitted, a few at a time, and then one step
 * after the other asks about many. It knows counts and a place in the file; what is sent, and how each row stands, is in
 * the ledger. So it may end anywhere and begin again: what is over is left alone, and what runs is found running.
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
  /** Where the ledger has it. */
  readonly batchId: string
  /** Nothing more is begun once one has failed; what was begun is followed to its end. @default false */
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
/** How often it is looked whether there is room for more. */
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
  // Anybody who reaches Temporal may ask it to cancel: what was ordered goes on, and so does a stop.
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

/** The batch as a whole; which activities wait, its sends say. */
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
  /** Sends that this run has begun. */
  children = 0
  news = 0
  /** How often it was told to go on. */
  resumed = 0
  /** How many are at work on stopping it. */
  stops = 0

  constructor(input: SendBatchInput) {
    this.input = input
    this.record = input.carried ?? { begun: 0, more: true, stopped: false, counts: {}, submitted: false, quiet: 0 }
  }

  nudge(): void {
    this.news++
  }

  /** From the first row: what is over is left alone, and what runs is found running. */
  resume(): void {
    this.resumed++
    this.change({ begun: 0, more: true, stopped: false, submitted: false })
    this.nudge()
  }

  change(columns: Partial<BatchRecord>): void {
    this.record = { ...this.record, ...columns }
  }
}

/** A step of a batch that fails is tried again for as long as it takes; nobody is asked to do anything about it. */
const unshown = () => {}

/** First everything is submitted, and then it is asked about. Where a failure stops it, what was begun is asked about first. */
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
    // News that came while it was asking may be of what was asked about before.
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
  // Told to go on in the meantime, it begins from the first row.
  if (run.resumed === resumed) run.change({ begun: next.from, more: next.more, stopped: next.stopped })
}

/** Beside whatever else it does, which may take long where the API is away. */
async function stopRest(run: BatchRun): Promise<void> {
  const { batchId } = run.input
  const { resumed } = run
  run.stops++
  try {
    const { counts } = await persist(run, unshown, () => steps.stopBatch({ batchId }))
    if (run.resumed === resumed) run.change({ more: false, stopped: true, counts })
  } catch {
    // What cannot pass, the batch's own steps meet as well, and say.
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
  // While there is news, those that are silent are probably on their way.
  const silent = asked.news.length > 0 ? [] : asked.silent
  await Promise.all([...asked.news.map((one) => tell(run, one)), ...silent.map((one) => begin(run, one))])
  return asked
}

/** Begins a send; one that runs is left to itself. It goes on when this has ended. */
async function begin(run: BatchRun, { sendId, reference }: BatchedSend): Promise<void> {
  const { organizationId, batchId, shownBy } = run.input
  const shown = shownBy ? { shownBy } : {}
  const input: SendInput = { organizationId, sendId, batched: { reference, ...(shownBy ? { batchId } : {}) }, ...shown }
  const workflowId = sendWorkflowId(organizationId, sendId)
  if (await startDetached('send', { workflowId, input })) run.children++
}

/** Tells a send what is new; a send whose workflow was ended is begun again, with the same bytes. */
async function tell(run: BatchRun, one: SendBatchNews['news'][number]): Promise<void> {
  const handle = getExternalWorkflowHandle(sendWorkflowId(run.input.organizationId, one.sendId))
  await handle.signal(told, one.news).catch(() => begin(run, one))
}

async function goOnElsewhereIfLong({ input, record, children }: BatchRun): Promise<void> {
  if (isHistoryLong() || children >= MOST_CHILDREN) await continueAsNew<typeof sendBatch>({ ...input, carried: record })
}
