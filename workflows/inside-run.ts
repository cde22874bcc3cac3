import type { ApplyNews, Failure, InsideOutline, InsideProgress, InsideStand } from '../activities/model.ts'
import type { Waiter } from './steps.ts'

/** Applies of sub-organizations that run at the same time. Those that wait for people do not count. */
const AT_ONCE = 4

/** The state that a run passes to the next one by `continueAsNew`. */
export interface CarriedInside {
  readonly outline: InsideOutline
  readonly stands: readonly InsideStand[]
  readonly own: OwnApply | undefined
}

/** How the organization's own apply stands, by the last that it told. */
interface OwnApply {
  readonly state: ApplyNews['state']
  /** Batches that make sub-organizations and are done. */
  readonly made: readonly number[]
  readonly hasDone: boolean
}

interface Begun {
  readonly planDigest: string
  readonly run: string
  readonly isOwnElsewhere?: boolean
  readonly carried?: CarriedInside
}

/** The state of one `applyInside`: which applies of sub-organizations may begin, and how each stands. */
export class InsideRun implements Waiter {
  /** The plan and the token of the run, with which each step opens the plan store. */
  readonly token: { readonly planDigest: string; readonly run: string }
  cancelled = false
  /** Whether the history has grown long: nothing more is begun, so that the next run can take over. */
  tooLong = false
  news = 0
  #outline: InsideOutline | undefined
  #stands: InsideStand[] = []
  #own: OwnApply | undefined
  #error: Failure | undefined
  #failed = false
  #ended: InsideProgress | undefined
  /** The indexes of applies that are being begun at this moment. */
  readonly #active = new Set<number>()

  constructor({ planDigest, run, isOwnElsewhere = false, carried }: Begun) {
    if (isOwnElsewhere) this.#own = { state: 'done', made: [], hasDone: true }
    this.token = { planDigest, run }
    if (!carried) return
    this.#outline = carried.outline
    this.#stands = [...carried.stands]
    this.#own = carried.own
  }

  begin(outline: InsideOutline): void {
    this.#outline = outline
    this.#stands = outline.organizations.map(({ name }) => ({ name, state: 'pending' }))
  }

  endAs(ended: InsideProgress): void {
    this.#ended = ended
  }

  nudge(): void {
    this.news++
  }

  cancel(): void {
    this.cancelled = true
    this.news++
  }

  readonly explain = (error: Failure | undefined): void => {
    this.#error = error
  }

  fail(error: Failure): void {
    this.#failed = true
    this.#error = error
  }

  hear({ planDigest, state, made, hasDone }: ApplyNews): void {
    this.news++
    if (planDigest === this.token.planDigest) {
      this.#own = { state, hasDone, made: [...new Set([...(this.#own?.made ?? []), ...made])] }
      return
    }
    const index = this.#stands.findIndex((one) => one.planDigest === planDigest && one.state !== 'elsewhere')
    if (index >= 0) this.change(index, { state })
  }

  change(index: number, columns: Partial<InsideStand>): void {
    this.#stands[index] = { ...this.#stands[index]!, ...columns }
    this.news++
  }

  /** Notes that an apply has begun, unless it has told already how it stands. */
  began(index: number): void {
    if (this.#stands[index]!.state === 'pending') this.change(index, { state: 'running' })
  }

  enter(index: number): void {
    this.#active.add(index)
  }

  leave(index: number): void {
    this.#active.delete(index)
    this.news++
  }

  get stopping(): boolean {
    return this.cancelled || this.tooLong
  }

  get idle(): boolean {
    return this.#active.size === 0
  }

  /** Whether all applies are over. */
  get finished(): boolean {
    return this.#outline !== undefined && this.#stands.every(({ state }) => isOver(state))
  }

  /** The applies that may begin now, in their order. */
  startable(): readonly number[] {
    if (this.stopping) return []
    const busy = this.#stands.filter(({ state }, index) => state === 'running' && !this.#active.has(index)).length
    return this.#ready().slice(0, Math.max(0, AT_ONCE - busy - this.#active.size))
  }

  /** Marks as `left` the applies that cannot begin, because the organization's own apply is over and has not made theirs. */
  leaveLost(): void {
    if (!this.#isOwnOver()) return
    const ready = new Set(this.#ready())
    for (const [index, { state }] of this.#stands.entries()) {
      if (state === 'pending' && !this.#active.has(index) && !ready.has(index)) this.change(index, { state: 'left' })
    }
  }

  progress(): InsideProgress {
    if (this.#ended) return this.#ended
    return {
      planDigest: this.token.planDigest,
      state: this.#state(),
      organizations: this.#stands,
      ...(this.#error ? { error: this.#error } : {}),
    }
  }

  carry(): CarriedInside {
    return { outline: this.#outline!, stands: this.#stands, own: this.#own }
  }

  #state(): InsideProgress['state'] {
    if (this.#failed) return 'failed'
    if (this.finished) return 'over'
    if (this.cancelled) return 'cancelled'
    // Until the plan is read it is unknown which applies may begin, whatever the organization's own apply has told.
    if (!this.#outline) return 'running'
    const isOwnAtRest = this.#outline.isOwnFirst === false || (this.#own !== undefined && this.#own.state !== 'running')
    const isBusy = !this.idle || this.#ready().length > 0 || this.#stands.some(({ state }) => state === 'running')
    return isOwnAtRest && !isBusy ? 'waiting' : 'running'
  }

  #ready(): readonly number[] {
    return (this.#outline?.organizations ?? []).flatMap(({ madeBy }, index) => {
      if (this.#stands[index]!.state !== 'pending' || this.#active.has(index)) return []
      return (madeBy === undefined ? this.#mayBegin() : this.#own?.made.includes(madeBy)) ? [index] : []
    })
  }

  /** Whether applies of sub-organizations that exist may begin: not before the own apply rests, nor if that has failed and done nothing. */
  #mayBegin(): boolean {
    if (this.#outline?.isOwnFirst === false) return true
    const state = this.#own?.state
    if (state === 'failed' || state === 'rejected') return this.#own!.hasDone
    return state === 'waiting' || state === 'done'
  }

  #isOwnOver(): boolean {
    return this.#own !== undefined && isOver(this.#own.state)
  }
}

function isOver(state: InsideStand['state']): boolean {
  return state !== 'pending' && state !== 'running' && state !== 'waiting'
}
