import { QuorateError } from '../src/diagnostics/index.ts'
import { AFTER_REJECTION, type Plan, partOf } from '../src/plan/index.ts'
import type { KindName } from '../src/resources/index.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { ApplyError } from './error.ts'
import { toFailure } from './failure.ts'
import type { ShownBy } from './model.ts'
import { notify } from './notify.ts'
import { driftOf, lookAt, modeOf, repairsInReach, type Seen, tooOften } from './watch-cycle.ts'
import type { Held, Watch, WatchCycle, WatchState } from './watch-model.ts'
import { openReads } from './watch-reads.ts'
import { askSource, type Sourced, watchOf } from './watch-source.ts'

/**
 * The steps of the workflow that reconciles an organization. What is compared, and what may be repaired, is in the plan store, where a
 * person has put it; of the workflow a step believes only that it is time for a look.
 */
export interface WatchActivities {
  /** Looks at the organization: at its newest activity alone, or at all of it if that is new. Records what it found. */
  lookAround(input: { readonly organizationId: string }): Promise<WatchCycle>
  /** Lets in the apply of the repair that the last look has planned. Throws `apply/not-watched` for any other plan. */
  openRepair(input: RepairOf): Promise<OpenedRepair>
  /** Records that the apply of the repair has begun and has the lock (`begun`), or that another apply has it and this one is over. */
  settleRepair(input: RepairOf & { readonly run: string; readonly begun: boolean }): Promise<void>
}

interface OpenedRepair {
  /** The token with which the plan store let it in. */
  readonly run: string
  /** The Git commit of its definitions. */
  readonly commit?: string
  /** Absent if this worker does not know it. */
  readonly shownBy?: ShownBy
}

interface RepairOf {
  readonly organizationId: string
  readonly planDigest: string
}

const FIRST: WatchState = { lookedAt: '', sweeps: 0, drift: [], waiting: [], repairs: [] }

export function createWatchActivities(deps: ActivityDependencies): WatchActivities {
  const { planStore, logger, planWatched, isApplying = async () => false } = deps
  const { watches, runs } = planStore
  const now = () => new Date(deps.clock()).toISOString()

  /** Reads and compares everything. */
  const sweep = async (
    sourced: Sourced,
    before: WatchState,
    { cursor, waiting, activities, news }: Seen & News,
  ): Promise<Look> => {
    const at = now()
    const asked = watchOf(sourced)
    const { organizationId } = asked
    const definitions = await watches.getDefinitions(asked.definitions)
    const applying = await isApplying(organizationId)
    const isNew = before.definitions !== asked.definitions
    const reads = await openReads(watches, organizationId, { news, sweepMs: asked.sweepMs, clock: deps.clock })
    const { plan, lock, vouched, settings, assertApplicable } = await planWatched!({
      watch: asked,
      definitions,
      lock: await watches.lockOf(organizationId),
      isNew,
      commit: sourced.taken?.commit,
      readOnce: reads.readOnce,
    })
    await reads.forget()
    const { own, taken } = sourced
    const watch = watchOf(taken ? { own, taken: { ...taken, settings } } : { own })
    if (isNew && taken) {
      await watches.putLock(organizationId, vouched)
      await watches.putTaken(organizationId, { ...taken, settings })
    }
    const drift = driftOf(plan, { watch, before, waiting: activities, at })
    const isGood =
      plan.changes.length === 0 && (plan.subOrganizations ?? []).every(({ changes }) => changes.length === 0)
    if (isGood && plan.guards.every(({ allowed }) => allowed)) await watches.putLock(organizationId, lock())
    const sweeps = before.sweeps + 1
    const {
      repair: _,
      held: __,
      proposal: ___,
      error: ____,
      duringApply: _____,
      ...kept
    } = withSource(before, sourced, at)
    const state: WatchState = {
      ...kept,
      lookedAt: at,
      sweptAt: at,
      ...(drift.length === 0 ? { goodAt: at } : {}),
      definitions: watch.definitions,
      cursor,
      ...(news === undefined ? {} : { news }),
      sweeps,
      drift,
      waiting,
      repairs: before.repairs.filter((one) => repairsInReach(one.sweep, sweeps)),
    }
    const proposed = partOf(plan, kindsIn(watch, ['propose', 'repair']))
    // While an apply runs, its changes are still to come: no other plan is proposed, and no repair begins beside it.
    if (applying) {
      const { repair, held } = before
      const left = { ...(repair ? { repair } : {}), ...(held && proposed ? { held } : {}) }
      return { state: { ...state, duringApply: true, ...left } }
    }
    if (!proposed) return { state }
    await planStore.putPlan(proposed)
    // Somebody offers definitions that nobody has signed: a person must say which are right.
    if (sourced.refused) return { state: { ...state, proposal: proposed.digest } }
    return repairOf({ watch, before, state: { ...state, proposal: proposed.digest }, plan, assertApplicable })
  }

  const repairOf = async ({
    watch,
    before,
    state,
    plan,
    assertApplicable,
  }: Look & {
    readonly watch: Watch
    readonly before: WatchState
    readonly plan: Plan
    readonly assertApplicable: (plan: Plan) => void
  }): Promise<Look> => {
    const part = partOf(plan, kindsIn(watch, ['repair']))
    if (!part) return { state }
    const addresses = [...new Set(part.batches.flatMap(({ changes }) => changes))].sort()
    const held = (code: string, why: string, next?: string): Look => {
      const same = before.held?.code === code && before.held.why === why
      const since = same ? before.held!.since : state.lookedAt
      const found: Held = { code, why, since, ...(next === undefined ? {} : { next }) }
      if (!same) logger.warn('a repair is held', { organizationId: watch.organizationId, code, why })
      return { state: { ...state, held: found } }
    }
    const { held: old } = before
    const goesOn = old !== undefined && watch.resumedAt !== undefined && old.since <= watch.resumedAt
    const repairs = goesOn ? [] : state.repairs
    if (!goesOn) {
      const often = tooOften(repairs, addresses)
      if (often.length > 0) {
        const code = 'apply/heal-loop'
        return held(code, `${often.join(', ')}: repaired again and again, and changed again by somebody each time`)
      }
      const { repair: last } = before
      const outcome = last && (await planStore.getOutcome({ digest: last.planDigest, createdAt: last.createdAt }))
      const isSame = last?.addresses.join() === addresses.join() && before.definitions === watch.definitions
      if (isSame && outcome && (outcome.state === 'failed' || outcome.state === 'rejected')) {
        const why = outcome.batches.find(({ error }) => error !== undefined)?.error?.message ?? outcome.state
        const { state: stopped } =
          outcome.state === 'rejected'
            ? held('cli/rejected', `the last repair was ${why}`, AFTER_REJECTION)
            : held('apply/activity-failed', `the last repair failed: ${why}`)
        return { state: { ...stopped, repair: last } }
      }
    }
    try {
      assertApplicable(part)
    } catch (error) {
      if (!(error instanceof QuorateError)) throw error
      return held(error.code, error.message, error.next)
    }
    await planStore.putPlan(part)
    return {
      state: {
        ...state,
        repair: { planDigest: part.digest, createdAt: part.createdAt, addresses },
        repairs: [...repairs, ...addresses.map((address) => ({ sweep: state.sweeps, address }))],
      },
      repair: part.digest,
    }
  }

  const wanted = async ({ organizationId, planDigest }: RepairOf) => {
    const [watch, state] = [await watches.get(organizationId), await watches.stateOf(organizationId)]
    if (!watch || state?.repair?.planDigest !== planDigest) throw notWatched()
    const plan = await planStore.getPlan(planDigest)
    if (plan.organization.id !== organizationId)
      throw new ApplyError('apply/other-organization', 'the plan was made for another organization')
    return plan
  }

  return {
    async lookAround({ organizationId }) {
      const watch = await watches.get(organizationId)
      if (!watch || !planWatched) return { outcome: 'not watched', drift: 0 }
      const cycle = await lookOnce(watch)
      const state = await watches.stateOf(organizationId)
      const taken = watch.source && (await watches.takenOf(organizationId))
      if (state) await notify(deps, watchOf({ own: watch, ...(taken ? { taken } : {}) }), state)
      return cycle
    },

    async openRepair(repair) {
      const { commit } = await wanted(repair)
      const run = await runs.open(repair.planDigest)
      const shownBy = await deps.whereShown?.()
      return { run, ...(commit === undefined ? {} : { commit }), ...(shownBy ? { shownBy } : {}) }
    },

    async settleRepair({ run, begun, ...repair }) {
      if ((await runs.find(run))?.planDigest !== repair.planDigest) throw notWatched()
      if (!begun) return runs.end({ planDigest: repair.planDigest, run })
      // This apply has the lock, so an earlier one that was let in, by a worker that died in between, is over.
      await planStore.endRuns(repair.organizationId, { except: [run] })
      const state = await watches.stateOf(repair.organizationId)
      if (state?.repair?.planDigest !== repair.planDigest) return
      await watches.putState(repair.organizationId, { ...state, repair: { ...state.repair, begun: true } })
    },
  }

  async function lookOnce(own: Watch): Promise<WatchCycle> {
    const { organizationId } = own
    const before = (await watches.stateOf(organizationId)) ?? FIRST
    try {
      const sourced = await askSource(deps, own)
      const watch = watchOf(sourced)
      const client = await deps.clientFor({ id: organizationId, name: watch.organization, baseUrl: watch.baseUrl })
      const news = await watches.newsOf(organizationId)
      const seen = { ...(await lookAt(client, deps.clock())), news }
      const isOver = before.duringApply && !(await isApplying(organizationId))
      const isAsBefore = sourced.refused?.why === before.refused?.why
      if (!isOver && isAsBefore && isUnchanged(watch, before, { ...seen, nowMs: deps.clock() })) {
        const state = { ...withSource(before, sourced, now()), lookedAt: now(), waiting: seen.waiting }
        await watches.putState(organizationId, state)
        const { repair, drift } = state
        // The repair was let in and never began: a worker died, or another apply had the lock.
        const isLeft = repair && !repair.begun && !(await isApplying(organizationId))
        return { outcome: 'unchanged', drift: drift.length, ...(isLeft ? { repair: repair.planDigest } : {}) }
      }
      const { state, repair } = await sweep(sourced, before, seen)
      await watches.putState(organizationId, state)
      const drift = state.drift.length
      logger.info('looked at the organization', { organizationId, drift, ...(repair ? { repair } : {}) })
      if (repair !== undefined) return { outcome: 'drift', drift, repair }
      return { outcome: state.held || state.refused ? 'held' : drift > 0 ? 'drift' : 'as defined', drift }
    } catch (error) {
      const failure = toFailure(error)
      const detail = failure.details?.[0] as { readonly next?: string } | undefined
      const same = before.error?.code === failure.type
      const found = {
        code: failure.type ?? 'apply/unexpected',
        message: failure.message,
        ...(detail?.next === undefined ? {} : { next: detail.next }),
        since: same ? before.error!.since : now(),
      }
      logger.warn('a look at the organization failed', { organizationId, code: found.code, message: found.message })
      await watches.putState(organizationId, { ...before, lookedAt: now(), error: found })
      return { outcome: 'failed', drift: before.drift.length }
    }
  }
}

function notWatched(): ApplyError {
  return new ApplyError('apply/not-watched', 'a workflow asked for a repair that no look at the organization has found')
}

/** How the source of the definitions stands, and since when it fails. */
function withSource(before: WatchState, { taken, refused, away }: Sourced, at: string): WatchState {
  const { taken: _, refused: wasRefused, away: wasAway, ...kept } = before
  const since = (now: Sourced['away'], was: Held | undefined): Held | undefined =>
    now && { ...now, since: was?.code === now.code && was.why === now.why ? was.since : at }
  const [isRefused, isAway] = [since(refused, wasRefused), since(away, wasAway)]
  const { at: signedAt, by, commit } = taken ?? {}
  return {
    ...kept,
    ...(signedAt === undefined || by === undefined
      ? {}
      : { taken: { at: signedAt, by, ...(commit === undefined ? {} : { commit }) } }),
    ...(isRefused ? { refused: isRefused } : {}),
    ...(isAway ? { away: isAway } : {}),
  }
}

/** The last news of what is inside the organization, as a webhook brought it. */
interface News {
  readonly news: string | undefined
}

/** The result of a look, and the plan to apply. */
interface Look {
  readonly state: WatchState
  readonly repair?: string
}

/** Nothing is new since all was last read, which is not long ago, and nothing failed or was resumed since. */
function isUnchanged(
  watch: Watch,
  { cursor, sweptAt, definitions, error, held, news }: WatchState,
  seen: Pick<Seen, 'cursor'> & News & { readonly nowMs: number },
): boolean {
  if (error !== undefined || sweptAt === undefined || definitions !== watch.definitions) return false
  if (held && watch.resumedAt !== undefined && held.since <= watch.resumedAt) return false
  const since = seen.nowMs - Date.parse(sweptAt)
  // All is read for news from inside, and not more often than anybody asked to look: one may be busy.
  return cursor === seen.cursor && since < (news === seen.news ? watch.sweepMs : watch.everyMs)
}

function kindsIn(watch: Watch, modes: readonly string[]): ReadonlySet<KindName> {
  const all = Object.keys(watch.modes) as KindName[]
  return new Set(all.filter((kind) => modes.includes(modeOf(watch, kind))))
}
