import type { ActivityState, ApplyProgress, BatchProgress, Failure, Outline } from '../activities/model.ts'
import { type BatchState, blockedBatches, readyBatches } from '../src/plan/walk.ts'

/** Most batches that are being submitted at once. Those that wait for people do not count. */
const MOST_AT_ONCE = 4

/** A batch: what the progress shows of it, and what the workflow needs to go on. Plain JSON. */
export interface BatchRecord {
  state: BatchProgress['state']
  activityId?: string
  fingerprint?: string
  since?: string
  approved?: readonly string[]
  lapsed?: readonly string[] | undefined
  needsVote?: boolean
  /** When the acting user's approval was last cast by this workflow. */
  votedAtMs?: number
  /** Whether a body was made and stored. */
  prepared?: boolean
  error?: Failure
}

/** The state that a run passes to the next one by `continueAsNew`. */
export interface CarriedRun {
  readonly startedAt: string
  readonly outline: Outline
  readonly records: readonly BatchRecord[]
}

interface Begun {
  readonly planDigest: string
  readonly run?: string
  readonly carried?: CarriedRun
}

/** The state of one apply: which batches may begin, how each stands, and what a query is answered. */
export class ApplyRun {
  /** The plan and the token of the run, with which each step opens the plan store. */
  readonly token: { readonly planDigest: string; readonly run: string }
  readonly startedAt: string
  outline: Outline | undefined
  cancelled = false
  /** Whether the history has grown long: nothing more is begun, so that the next run can take over. */
  tooLong = false
  /** How many signals of news have come; each waiter compares it with the number at its last look. */
  news = 0
  #records: BatchRecord[] = []
  /** Set if no batch of the plan can be carried out. */
  #verdict: 'stale' | 'failed' | undefined
  /** Why there is a verdict, or why a step that belongs to no batch is being tried again. */
  #error: Failure | undefined
  /** The outcome of an earlier apply of the same plan. */
  #ended: ApplyProgress | undefined
  readonly #active = new Set<number>()
  /** For each batch, the value of `news` when the API was last asked about its activity. */
  readonly #looked = new Map<number, number>()
  /** Batches on whose activities the acting user's approval is on its way. */
  readonly #voting = new Set<number>()

  constructor({ planDigest, run = '', carried }: Begun, startedAt: string) {
    this.token = { planDigest, run }
    this.startedAt = carried?.startedAt ?? startedAt
    if (carried) {
      this.outline = carried.outline
      this.#records = carried.records.map((record) => ({ ...record }))
    }
  }

  begin(outline: Outline): void {
    this.outline = outline
    this.#records = outline.batches.map(() => ({ state: 'pending' }))
  }

  nudge(): void {
    this.news++
  }

  cancel(): void {
    this.cancelled = true
  }

  explain(error: Failure | undefined): void {
    this.#error = error
  }

  giveUp(verdict: 'stale' | 'failed', error: Failure): void {
    this.#verdict = verdict
    this.#error = error
  }

  /** Ends this run with the outcome of the apply that has carried the plan out before. */
  endAs(earlier: ApplyProgress): void {
    this.#ended = earlier
  }

  /** The run's state and how many of these batches are done, as text: it differs when there is something to tell. */
  standOf(batches: readonly number[]): string {
    return `${this.#state()} ${batches.filter((index) => this.#records[index]?.state === 'completed').length}`
  }

  /** Whether nothing new may be begun. */
  get stopping(): boolean {
    return this.cancelled || this.tooLong
  }

  get idle(): boolean {
    return this.#active.size === 0
  }

  /** Whether every batch is final. */
  get finished(): boolean {
    return this.outline !== undefined && this.#records.every(({ state }) => isFinal(state))
  }

  record(index: number): BatchRecord {
    return this.#records[index]!
  }

  /** Batches that may begin now, lowest first. */
  startable(): readonly number[] {
    if (this.stopping || !this.outline) return []
    // Batches that have begun and are not active were begun by the run before `continueAsNew`.
    const begun = this.#records.flatMap(({ state }, at) => (isBegun(state) ? [at] : []))
    const ready = [...begun, ...readyBatches(this.outline, this.#states())].filter((at) => !this.#active.has(at))
    return ready.slice(0, Math.max(0, MOST_AT_ONCE - this.#busy()))
  }

  /** How many batches are active and do not wait for people. */
  #busy(): number {
    return [...this.#active].filter((index) => this.record(index).state !== 'waiting').length
  }

  enter(index: number): void {
    this.#active.add(index)
  }

  leave(index: number): void {
    this.#active.delete(index)
  }

  /** Notes the state of a batch's activity, as the API gave it. */
  take(index: number, activity: ActivityState): void {
    const { state, error, activityId, fingerprint, since, approved, lapsed, needsVote } = activity
    const record = this.record(index)
    Object.assign(record, { state, activityId, fingerprint, since, approved, lapsed, needsVote })
    if (error) record.error = error
    else delete record.error
    this.#skipLost()
  }

  /** Notes that the API was asked about a batch's activity when `news` had this value. */
  looked(index: number, news: number): void {
    this.#looked.set(index, news)
  }

  voting(index: number): void {
    this.#voting.add(index)
  }

  voted(index: number): void {
    this.#voting.delete(index)
  }

  /** Whether a vote of its own is on its way, and has not been refused or put off: what waits is not told before. */
  #isVoting(): boolean {
    return [...this.#voting].some((index) => this.record(index).error === undefined)
  }

  /** Whether the API was asked about every waiting activity since the last news, and no vote of this run's own is on its way. */
  hasLooked(): boolean {
    if (this.#isVoting()) return false
    return this.#records.every(({ state }, index) => state !== 'waiting' || this.#looked.get(index) === this.news)
  }

  fail(index: number, error: Failure): void {
    Object.assign(this.record(index), { state: 'failed', error })
    this.#skipLost()
  }

  progress(): ApplyProgress {
    if (this.#ended) return this.#ended
    return {
      planDigest: this.token.planDigest,
      state: this.#state(),
      startedAt: this.startedAt,
      batches: (this.outline?.batches ?? []).map(({ index, type, summary }) => ({
        index,
        type,
        summary,
        ...shown(this.record(index)),
      })),
      ...(this.#error ? { error: this.#error } : {}),
    }
  }

  /** The progress as others are told it: a run whose own vote is on its way does not wait for people yet. */
  told(): ApplyProgress {
    const progress = this.progress()
    return progress.state === 'waiting' && this.#isVoting() ? { ...progress, state: 'running' } : progress
  }

  carry(): CarriedRun {
    return { startedAt: this.startedAt, outline: this.outline!, records: this.#records }
  }

  #state(): ApplyProgress['state'] {
    const has = (wanted: BatchProgress['state']) => this.#records.some(({ state }) => state === wanted)
    if (this.finished) return has('failed') ? 'failed' : has('rejected') ? 'rejected' : 'done'
    if (this.#verdict) return this.#verdict
    if (this.cancelled) return 'cancelled'
    return has('waiting') && this.#busy() === 0 && this.startable().length === 0 ? 'waiting' : 'running'
  }

  #states(): readonly BatchState[] {
    return this.#records.map(({ state }) => walkStates[state])
  }

  /** Marks the batches that cannot begin because of another one, with that as the reason. */
  #skipLost(): void {
    for (const { index, because } of blockedBatches(this.outline!, this.#states())) {
      const message = `it needs batch ${because + 1}, which ${lostWords[this.record(because).state]}`
      Object.assign(this.record(index), { state: 'skipped', error: { code: 'apply/skipped', message } })
    }
  }
}

/** The states of batches as `plan/walk` has them: a rejection stops the batches after it as a failure does. */
const walkStates = {
  pending: 'not-started',
  submitting: 'submitting',
  waiting: 'waiting',
  completed: 'done',
  failed: 'failed',
  rejected: 'failed',
  skipped: 'skipped',
} as const satisfies Record<BatchProgress['state'], BatchState>

const lostWords: Readonly<Partial<Record<BatchProgress['state'], string>>> = {
  failed: 'failed',
  rejected: 'was rejected',
  skipped: 'was skipped',
}

function isBegun(state: BatchProgress['state']): boolean {
  return state === 'submitting' || state === 'waiting'
}

function isFinal(state: BatchProgress['state']): boolean {
  return state !== 'pending' && !isBegun(state)
}

function shown({
  state,
  activityId,
  fingerprint,
  since,
  approved,
  lapsed,
  error,
}: BatchRecord): Omit<BatchProgress, 'index' | 'type' | 'summary'> {
  return {
    state,
    ...(activityId === undefined ? {} : { activityId }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(since === undefined ? {} : { since }),
    ...(approved === undefined ? {} : { votes: { approved, ...(lapsed === undefined ? {} : { lapsed }) } }),
    ...(error === undefined ? {} : { error }),
  }
}
