import { QuorateError } from '../src/diagnostics/index.ts'
import {
  AFTER_REJECTION,
  allPlans,
  makersOf,
  type Plan,
  partOf,
  plansInside,
  withoutInside,
} from '../src/plan/index.ts'
import type { KindName } from '../src/resources/index.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { ApplyError } from './error.ts'
import { toFailure } from './failure.ts'
import type { ShownBy } from './model.ts'
import { notify } from './notify.ts'
import { nameOfRun } from './run-ledger.ts'
import { changedBy, driftOf, lookAt, modeOf, repairsInReach, type Seen, tooOften } from './watch-cycle.ts'
import type { FailedRepair, Held, Watch, WatchCycle, WatchState } from './watch-model.ts'
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
  /**
   * Records that the apply of the repair has begun and has the lock (`begun`), or that another apply has it and this one is over; with
   * `inside`, the same of what begins its applies inside.
   */
  settleRepair(
    input: RepairOf & {
      readonly run?: string | undefined
      readonly inside?: string | undefined
      readonly begun: boolean
    },
  ): Promise<void>
}

interface OpenedRepair {
  /** The token with which the plan store let it in; absent where nothing of the organization's own is to change. */
  readonly run?: string
  /** What begins the applies inside; absent where nothing is to change there. */
  readonly inside?: {
    readonly run: string
    readonly makers: readonly number[]
    /** The name of its run in the plan store. */
    readonly name: string
  }
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
      applyingInside: ______,
      failed: _______,
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
    const busy = new Set<string>()
    const offered = partOf(plan, kindsIn(watch, ['propose', 'repair']))
    for (const { organization } of offered ? plansInside(offered) : []) {
      if (await isApplying(organization.id)) busy.add(organization.id)
    }
    const isFree = ({ organization }: Plan) => !busy.has(organization.id)
    const proposed = partOf(plan, kindsIn(watch, ['propose', 'repair']), isFree)
    // While an apply runs, its changes are still to come: no other plan is proposed, and no repair begins beside it.
    if (applying) {
      const { repair, held, failed } = before
      const left = {
        ...(repair ? { repair } : {}),
        ...(held && proposed ? { held } : {}),
        ...(failed ? { failed } : {}),
      }
      return { state: { ...state, duringApply: true, ...left } }
    }
    // What applies inside have come to is asked when they are over.
    const last = before.repair ? { repair: before.repair } : {}
    const left = busy.size > 0 ? { ...state, applyingInside: [...busy], ...last } : state
    if (!proposed) return { state: left }
    await planStore.putPlan(proposed)
    const offering = { ...left, proposal: proposed.digest }
    // Somebody offers definitions that nobody has signed: a person must say which are right.
    if (sourced.refused) return { state: offering }
    return repairOf({ watch, before, state: offering, plan, isFree, assertApplicable })
  }

  /** Plans the repair of each organization that nothing holds; of the others it is told why. */
  const repairOf = async ({
    watch,
    before,
    state,
    plan,
    isFree,
    assertApplicable,
  }: Look & {
    readonly watch: Watch
    readonly before: WatchState
    readonly plan: Plan
    readonly isFree: (one: Plan) => boolean
    readonly assertApplicable: (plan: Plan) => void
  }): Promise<Look> => {
    const kinds = kindsIn(watch, ['repair'])
    const whole = partOf(plan, kinds, isFree)
    if (!whole) return { state }
    const { held: old } = before
    const goesOn = old !== undefined && watch.resumedAt !== undefined && old.since <= watch.resumedAt
    const repairs = goesOn ? [] : state.repairs
    const isNew = before.definitions !== watch.definitions
    const failures = goesOn || isNew ? [] : [...(before.failed ?? []), ...(await failuresOf(before.repair))]
    const failed: FailedRepair[] = []
    const whyHeld = (one: Plan): Omit<Held, 'since'> | undefined => {
      const addresses = changedBy(whole, one)
      const often = goesOn ? [] : tooOften(repairs, addresses)
      if (often.length > 0) {
        const why = `${often.join(', ')}: repaired again and again, and changed again by somebody each time`
        return { code: 'apply/heal-loop', why }
      }
      const same = failures.find((failure) => failure.addresses.join() === addresses.join())
      if (same) {
        const { addresses: _, ...why } = same
        failed.push(same)
        return why
      }
      try {
        assertApplicable(withoutInside(one))
      } catch (error) {
        if (!(error instanceof QuorateError)) throw error
        const { code, message, next } = error
        const where = one === whole ? '' : `in ${one.organization.name}: `
        return { code, why: `${where}${message}`, ...(next === undefined ? {} : { next }) }
      }
      return undefined
    }
    const holds = new Map(
      allPlans(whole).flatMap((one) => {
        const why = one.batches.length > 0 ? whyHeld(one) : undefined
        return why ? [[one.organization.id, why] as const] : []
      }),
    )
    const held = heldBy([...holds.values()], before, state.lookedAt)
    if (held && held.since === state.lookedAt) {
      logger.warn('a repair is held', { organizationId: watch.organizationId, code: held.code, why: held.why })
    }
    const stands: WatchState = {
      ...state,
      ...(held ? { held } : {}),
      ...(failed.length > 0 ? { failed } : {}),
    }
    const part = partOf(plan, kinds, (one) => isFree(one) && !holds.has(one.organization.id))
    if (!part) {
      const { inside: _, ...last } = before.repair ?? {}
      return { state: { ...stands, ...(failed.length > 0 && before.repair ? { repair: last as Repair } : {}) } }
    }
    const addresses = allPlans(part)
      .flatMap((one) => changedBy(part, one))
      .toSorted()
    await planStore.putPlan(part)
    return {
      state: {
        ...stands,
        repair: { planDigest: part.digest, createdAt: part.createdAt, addresses },
        repairs: [...repairs, ...addresses.map((address) => ({ sweep: state.sweeps, address }))],
      },
      repair: part.digest,
    }
  }

  /** What of a repair failed or was rejected, an organization each. */
  const failuresOf = async (repair: Repair | undefined): Promise<readonly FailedRepair[]> => {
    if (!repair) return []
    const plan = await planStore.getPlan(repair.planDigest)
    const failures: FailedRepair[] = []
    for (const one of [plan, ...(await planStore.getInside(plan))]) {
      // All of them were made at once; a later look may have kept an equal one with a time of its own.
      const outcome = await planStore.getOutcome({ digest: one.digest, createdAt: repair.createdAt })
      if (outcome?.state !== 'failed' && outcome?.state !== 'rejected') continue
      const why = outcome.batches.find(({ error }) => error !== undefined)?.error?.message ?? outcome.state
      const where = one === plan ? '' : `in ${one.organization.name}: `
      failures.push({
        addresses: changedBy(plan, one),
        ...(outcome.state === 'rejected'
          ? { code: 'cli/rejected', why: `${where}the last repair was ${why}`, next: AFTER_REJECTION }
          : { code: 'apply/activity-failed', why: `${where}the last repair failed: ${why}` }),
      })
    }
    return failures
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
      const plan = await wanted(repair)
      const { commit } = plan
      const run = plan.batches.length > 0 ? await runs.open(plan.digest) : undefined
      const subOrganizations = await planStore.getInside(plan)
      const makers = makersOf({ ...plan, subOrganizations })
      const token = subOrganizations.length > 0 ? await runs.openInside(plan.digest, run) : undefined
      const shownBy = await deps.whereShown?.()
      return {
        ...(run === undefined ? {} : { run }),
        ...(token === undefined ? {} : { inside: { run: token, makers, name: nameOfRun(token)! } }),
        ...(commit === undefined ? {} : { commit }),
        ...(shownBy ? { shownBy } : {}),
      }
    },

    async settleRepair({ run, inside, begun, ...repair }) {
      const { organizationId, planDigest } = repair
      const tokens = [run, inside].filter((token) => token !== undefined)
      const found = await Promise.all(tokens.map((token) => runs.find(token)))
      if (found.length === 0 || found.some((one) => one?.planDigest !== planDigest)) throw notWatched()
      if (!begun) {
        for (const token of tokens) await runs.end({ planDigest, run: token })
        return
      }
      // This apply has the lock, so an earlier one that was let in, by a worker that died in between, is over.
      if (run !== undefined) await planStore.endRuns(organizationId, { except: tokens })
      const state = await watches.stateOf(organizationId)
      if (state?.repair?.planDigest !== planDigest) return
      const name = inside === undefined ? {} : { inside: nameOfRun(inside)! }
      await watches.putState(organizationId, { ...state, repair: { ...state.repair, begun: true, ...name } })
    },
  }

  /** Whether applies that ran when all was last read, or that this watch has begun inside, are over: what they did is not told yet. */
  async function isAppliedSince(
    organizationId: string,
    { duringApply, applyingInside = [], repair }: WatchState,
  ): Promise<boolean> {
    if (duringApply) return !(await isApplying(organizationId))
    const begun = repair?.inside
    if (begun === undefined && applyingInside.length === 0) return false
    if (begun !== undefined && (await isApplying(organizationId, begun))) return false
    for (const id of applyingInside) if (await isApplying(id)) return false
    return true
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
      const isOver = await isAppliedSince(organizationId, before)
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

/** Why nothing is repaired in some organizations, and since when. */
function heldBy(
  holds: readonly Omit<Held, 'since'>[],
  { held: before }: Pick<WatchState, 'held'>,
  at: string,
): Held | undefined {
  const [first] = holds
  if (!first) return undefined
  const why = holds.length === 1 ? first.why : `${first.why}; and ${holds.length - 1} more`
  const isSame = before?.code === first.code && before.why === why
  return { ...first, why, since: isSame ? before.since : at }
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

type Repair = NonNullable<WatchState['repair']>

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
