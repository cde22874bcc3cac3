import { QuorateError } from '../src/diagnostics/index.ts'
import { readActual } from '../src/live/index.ts'
import { checkFresh, kindsOf, makeBody, type Plan, subOrganizationsOf } from '../src/plan/index.ts'
import { activities as catalogue, type Wire } from '../src/protocol/index.ts'
import { assertActsAs } from './acting-user.ts'
import { reduceActivity } from './activity-state.ts'
import { type BatchInRun, openBatch } from './batch-in-run.ts'
import { asksFor, makeVoteBody, outlineOf } from './body.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { ApplyError } from './error.ts'
import { assertUnguarded } from './guarded.ts'
import { findByIntent, isIntent } from './intent.ts'
import type { ActivityState, ApplyProgress, Freshness, Outline, Prepared, Step } from './model.ts'
import { noteOutcome } from './notify.ts'
import { insideTokenOf, type RunOfPlan } from './run-ledger.ts'
import { isStale, staleBody } from './stale.ts'

/**
 * The steps of the apply workflow. Each may run several times without harm. Each checks by itself that it may run: the plan by its
 * digest, the run and what it has done by the plan store, and activities by the API. Of the workflow it believes only which step is next.
 */
export interface ApplyActivities {
  /** Reads what the plan's batches are and what they need. */
  loadOutline(input: RunOfPlan & { readonly organizationId: string }): Promise<Outline>
  /**
   * Checks whether the plan may be carried out: gives its earlier outcome if it was applied before, and compares the
   * organization.
   */
  checkPlanFresh(input: RunOfPlan): Promise<Freshness>
  /** Records that a run applies the plan, before anything is submitted. */
  spendPlan(input: RunOfPlan): Promise<void>
  /** Finds an activity that asks for the same and waits, or was rejected for good, or makes the body and stores it before anything is sent. */
  prepareRequest(input: Step & { readonly timestampMs: number }): Promise<Prepared>
  /** Sends the stored bytes; a repetition is answered with the same activity. */
  submitRequest(input: Step): Promise<ActivityState>
  /** Asks once where the batch's activity stands. */
  pollActivity(input: Step): Promise<ActivityState>
  /** Approves the batch's activity as the acting user: again after its votes lapsed, or first when somebody else submitted it. */
  castVote(input: Step & { readonly timestampMs: number }): Promise<ActivityState>
  /** Keeps the outcome of the plan, for a later apply of it, and ends the run. */
  recordOutcome(input: { readonly run: string; readonly outcome: ApplyProgress }): Promise<void>
}

/** How long the API takes a body that it does not know. */
const TAKEN_MS = 60 * 60 * 1000

export function createApplyActivities(deps: ActivityDependencies): ApplyActivities {
  const { planStore, logger, serviceAheadMs = () => 0 } = deps
  const { runs } = planStore
  const clock = () => deps.clock() + serviceAheadMs()

  const open = async (step: Step) => {
    const one = await openBatch(planStore, step)
    return { ...one, client: await deps.clientFor(one.plan.organization) }
  }
  /** The same for a step that acts with the key: what a plan says that its user may do, another may not, or may do alone. */
  const openToAct = async (step: Step) => {
    const one = await open(step)
    await assertActsAs(one.client, one.plan.actor, { what: 'the plan was made for' })
    return one
  }
  /** Reduces the batch's activity to what a walk needs, and keeps what later batches build on. */
  const take = async (activity: Wire.Activity, { plan, batch, records, client }: Awaited<ReturnType<typeof open>>) => {
    const { publicKey } = client
    const state = reduceActivity(activity, batch, { publicKey, userId: plan.actor.userId, nowMs: clock() })
    await records.setActivity(activity.id)
    if (state.state === 'completed') await records.setDone(state.produced ?? {})
    const { produced: _, ...shown } = state
    return shown
  }
  const readOwn = async (one: Awaited<ReturnType<typeof open>>): Promise<Wire.Activity> => {
    const activityId = await one.records.activityId()
    if (activityId === undefined) throw new ApplyError('apply/run-refused', 'the batch was not submitted by this run')
    return (await one.client.query('get_activity', { activityId })).activity
  }

  return {
    async loadOutline({ organizationId, ...run }) {
      const plan = await planStore.getPlan(run.planDigest)
      const ended = await endOf(run, plan)
      if (ended === undefined) await runs.assertOpen(run)
      if (plan.organization.id !== organizationId) {
        throw new ApplyError('apply/other-organization', 'the plan was made for another organization', {
          facts: { 'of the plan': plan.organization.id, 'asked for': organizationId },
        })
      }
      return ended === undefined ? outlineOf(plan) : { ...outlineOf(plan), ended }
    },

    async checkPlanFresh(run) {
      const plan = await planStore.getPlan(run.planDigest)
      await runs.assertOpen(run)
      const earlier = await planStore.getOutcome(plan)
      // Even when the world has come back to what it was: a plan that is applied twice does what it says once.
      if (earlier && isSpent(earlier)) {
        await runs.end(run)
        return { fresh: false, earlier }
      }
      try {
        assertUnguarded(plan)
        await assertFresh(plan, deps)
      } catch (error) {
        if (!(error instanceof QuorateError) || error.code !== 'plan/stale') throw error
        // Or an attacker who kept the start of this run could begin it again when the world has come back.
        await endBoth(run)
        const { code, message, next = 'plan again' } = error
        return earlier ? { fresh: false, earlier } : { fresh: false, error: { code, message, next } }
      }
      await runs.setFresh(run)
      return { fresh: true }
    },

    async spendPlan(run) {
      const name = await runs.begin(run)
      const first = await planStore.spend(run.planDigest, name)
      if (first !== name) logger.info('the plan was begun before', { planDigest: run.planDigest, run: first })
    },

    async prepareRequest({ timestampMs, ...step }) {
      const one = await openToAct(step)
      const { asked, records, client } = one
      const own = await records.activityId()
      const { askAgain } = one.plan
      const pending =
        own === undefined ? await findByIntent(client, asked.type, asked.parameters, askAgain) : await readOwn(one)
      if (pending) {
        logger.info('an equal activity is there', { activityId: pending.id, type: asked.type, status: pending.status })
        return { kind: 'found', activity: await take(pending, one) }
      }
      const before = (await records.body()) ?? (await inherited(one))
      // INVARIANT: the bytes are on disk before anything is sent, so that every retry has the same ones to send.
      const made =
        before ?? (await planStore.putBody(makeBody({ ...asked, timestampMs: timestampMs + serviceAheadMs() })))
      return { kind: 'made', fingerprint: await records.enterBody(made) }
    },

    async submitRequest(step) {
      const one = await openToAct(step)
      const { asked, records, client } = one
      const fingerprint = await records.body()
      if (fingerprint === undefined) throw new ApplyError('apply/body-missing', 'no body was made for this batch')
      const body = await planStore.getBody(fingerprint)
      if (!asksFor(body, asked)) {
        throw new ApplyError(
          'apply/body-refused',
          `body \`${fingerprint}\` does not say what batch ${step.batch + 1} does`,
        )
      }
      const activity = await client.submit(pathOf(asked.type), body).catch(async (error: unknown) => {
        if (!isStale(error, body, clock())) throw error
        await records.refuseBody(fingerprint)
        throw staleBody(error)
      })
      logger.info('submitted', { activityId: activity.id, type: activity.type, status: activity.status, fingerprint })
      return take(activity, one)
    },

    async pollActivity(step) {
      const one = await open(step)
      return take(await readOwn(one), one)
    },

    async castVote({ timestampMs, ...step }) {
      const one = await openToAct(step)
      const { plan, asked, records, client } = one
      const activity = await readOwn(one)
      const { id, fingerprint } = activity
      // INVARIANT: an approval is for bytes that were made for this batch, or for an intent that is this batch's to the letter.
      if (!(await records.hasBody(fingerprint)) && !isIntent(activity, asked)) {
        throw new ApplyError('apply/vote-refused', `activity ${id} does not ask for what batch ${step.batch + 1} does`)
      }
      const now = await take(activity, one)
      // A workflow that was reset to an older state asks for votes that exist already, or that are not needed.
      if (!now.needsVote) return now
      const body = makeVoteBody(plan.organization.id, { fingerprint, timestampMs: timestampMs + serviceAheadMs() })
      const after = await client.submit(catalogue.ACTIVITY_TYPE_APPROVE_ACTIVITY.path, body)
      logger.info('approved', { activityId: id, type: after.type, status: after.status })
      return take(after, one)
    },

    async recordOutcome({ run, outcome }) {
      const { planDigest, batches } = outcome
      await runs.assertOpen({ planDigest, run })
      const plan = await planStore.getPlan(planDigest)
      if (batches.some(({ activityId }) => activityId !== undefined)) {
        for (const { index, state } of batches) {
          if (state !== 'completed') continue
          const { records } = await openBatch(planStore, { planDigest, run, batch: index })
          if ((await records.produced()) !== undefined) continue
          throw new ApplyError(
            'apply/outcome-refused',
            `batch ${index + 1} is called completed, and the API never said so`,
          )
        }
        await planStore.putOutcome(plan, outcome)
      }
      await noteOutcome(deps, { organizationId: plan.organization.id, run, outcome })
      await runs.end({ planDigest, run })
      deps.onApply?.({ outcome: outcome.state, ms: deps.clock() - Date.parse(outcome.startedAt) })
    },
  }

  /** How a run came to its end, where nobody carries the plan out since. */
  async function endOf({ planDigest, run }: RunOfPlan, plan: Plan): Promise<ApplyProgress | undefined> {
    const found = await runs.find(run)
    const isOver = found?.planDigest === planDigest && found.isOver && (await runs.isOver(planDigest))
    return isOver ? planStore.getOutcome(plan) : undefined
  }

  /** Ends a run, and the one that would begin the applies inside after it. */
  async function endBoth({ planDigest, run }: RunOfPlan): Promise<void> {
    await runs.end({ planDigest, run })
    await runs.end({ planDigest, run: insideTokenOf(run) })
  }

  /** The body that the previous run made, if it is the same request and the API may still accept or already know it. */
  async function inherited({ records, asked }: BatchInRun): Promise<string | undefined> {
    const fingerprint = await records.inherited()
    if (fingerprint === undefined) return undefined
    const body = await planStore.getBody(fingerprint)
    const { timestampMs } = JSON.parse(body) as { readonly timestampMs: string }
    return clock() - Number(timestampMs) < TAKEN_MS && asksFor(body, asked) ? fingerprint : undefined
  }
}

/** Reads the organization and compares it with what the plan was made from. Throws `plan/stale`. */
async function assertFresh(plan: Plan, { clientFor }: Pick<ActivityDependencies, 'clientFor'>): Promise<void> {
  const client = await clientFor(plan.organization)
  const wanted = subOrganizationsOf(plan)
  const found = wanted.length > 0 ? { subOrganizations: wanted } : {}
  checkFresh(plan, await readActual(client, { mentioned: kindsOf(plan), ...found }))
}

/** Whether an apply has ended for good; a cancelled one may be applied again. */
function isSpent({ state }: ApplyProgress): boolean {
  return state === 'done' || state === 'failed' || state === 'rejected'
}

function pathOf(type: string): string {
  return catalogue[type as keyof typeof catalogue].path
}
