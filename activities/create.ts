import { ApplicationFailure } from '@temporalio/common'
import type { SubmitClient } from '../src/client/index.ts'
import { QuorateError } from '../src/diagnostics/index.ts'
import { readActual } from '../src/live/index.ts'
import { type Batch, checkFresh, kindsOf, type Plan, subOrganizationsOf } from '../src/plan/index.ts'
import { activities as catalogue } from '../src/protocol/index.ts'
import type { Logger } from '../src/telemetry/index.ts'
import { reduceActivity } from './activity-state.ts'
import { type BatchActivities, createBatchActivities } from './batches.ts'
import { makeBatchBody, makeVoteBody, outlineOf } from './body.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { ApplyError } from './error.ts'
import { toFailure } from './failure.ts'
import { findByIntent } from './intent.ts'
import type { ActivityState, ApplyProgress, Freshness, Ids, Outline, Prepared, Step } from './model.ts'
import { createSendActivities, type SendActivities } from './sends.ts'
import { isStale, staleBody } from './stale.ts'

/** Everything that the apply workflow may ask of the world. Each may run more than once; none minds. */
export interface ApplyActivities {
  /** Reads what the plan's batches are and what they need. */
  loadOutline(input: { readonly organizationId: string; readonly planDigest: string }): Promise<Outline>
  /** Looks whether the plan may be carried out: what came of it when it was before, or whether the world has moved. */
  checkPlanFresh(input: { readonly planDigest: string }): Promise<Freshness>
  /** Records that a run applies the plan, before anything is submitted. */
  spendPlan(input: { readonly planDigest: string; readonly run: string }): Promise<void>
  /** Finds a pending activity that asks for the same, or makes the body and stores it before anything is sent. */
  prepareRequest(input: Step & { readonly ids: Ids; readonly timestampMs: number }): Promise<Prepared>
  /** Sends the stored bytes; a repetition is answered with the same activity. */
  submitRequest(input: Step & { readonly fingerprint: string; readonly path: string }): Promise<ActivityState>
  /** Asks once where an activity stands. */
  pollActivity(input: Step & { readonly activityId: string }): Promise<ActivityState>
  /** Approves an activity as the acting user: again after its votes lapsed, or first when somebody else submitted it. */
  castVote(input: Step & { readonly fingerprint: string; readonly timestampMs: number }): Promise<ActivityState>
  /** Keeps what came of the plan, for whoever applies it again. */
  recordOutcome(input: { readonly outcome: ApplyProgress }): Promise<void>
}

/** Everything that workflows may ask of the world. */
export type Activities = ApplyActivities & SendActivities & BatchActivities

/** Builds the Temporal activities. They raise only `ApplicationFailure`, with `type` = our code. */
export function createActivities(deps: ActivityDependencies): Activities {
  const all = { ...createApplyActivities(deps), ...createSendActivities(deps), ...createBatchActivities(deps) }
  return raisingFailures(all, deps.logger)
}

function createApplyActivities(deps: ActivityDependencies): ApplyActivities {
  const { planStore, logger, serviceAheadMs = () => 0 } = deps
  const clock = () => deps.clock() + serviceAheadMs()

  const open = async ({ planDigest, batch: index }: Step) => {
    const plan = await planStore.getPlan(planDigest)
    const batch = batchOf(plan, index)
    const client = await deps.clientFor(plan.organization)
    return { plan, batch, client }
  }
  const reduce = (activity: Parameters<typeof reduceActivity>[0], batch: Batch, client: SubmitClient) =>
    reduceActivity(activity, batch, { publicKey: client.publicKey.toLowerCase(), nowMs: clock() })

  return {
    async loadOutline({ organizationId, planDigest }) {
      const plan = await planStore.getPlan(planDigest)
      if (plan.organization.id !== organizationId) {
        throw new ApplyError('apply/other-organization', 'the plan was made for another organization', {
          facts: { 'of the plan': plan.organization.id, 'asked for': organizationId },
        })
      }
      return outlineOf(plan)
    },

    async checkPlanFresh({ planDigest }) {
      const plan = await planStore.getPlan(planDigest)
      const earlier = await planStore.getOutcome(plan)
      // Even when the world has come back to what it was: whoever applies a plan twice wants what it says once.
      if (earlier && isSpent(earlier)) return { fresh: false, earlier }
      const client = await deps.clientFor(plan.organization)
      const wanted = subOrganizationsOf(plan)
      const found = wanted.length > 0 ? { subOrganizations: wanted } : {}
      const actual = await readActual(client, { mentioned: kindsOf(plan), ...found })
      try {
        checkFresh(plan, actual)
        return { fresh: true }
      } catch (error) {
        if (!(error instanceof QuorateError) || error.code !== 'plan/stale') throw error
        const { code, message, next = 'plan again' } = error
        return earlier ? { fresh: false, earlier } : { fresh: false, error: { code, message, next } }
      }
    },

    async spendPlan({ planDigest, run }) {
      const first = await planStore.spend(planDigest, run)
      if (first !== run) logger.info('the plan was begun before', { planDigest, run: first })
    },

    async prepareRequest({ ids, timestampMs, ...step }) {
      const { plan, batch, client } = await open(step)
      const { body, parameters } = makeBatchBody(plan, batch, { ids, timestampMs: timestampMs + serviceAheadMs() })
      const pending = await findByIntent(client, batch.type, parameters)
      if (pending) {
        logger.info('an equal activity is pending', { activityId: pending.id, type: batch.type })
        return { kind: 'found', activity: reduce(pending, batch, client) }
      }
      // INVARIANT: the bytes are on disk before anything is sent, so that every retry has the same ones to send.
      const fingerprint = await planStore.putBody(body)
      return { kind: 'made', fingerprint, path: catalogue[batch.type as keyof typeof catalogue].path }
    },

    async submitRequest({ fingerprint, path, ...step }) {
      const { batch, client } = await open(step)
      const body = await planStore.getBody(fingerprint)
      const activity = await client.submit(path, body).catch((error: unknown) => {
        throw isStale(error, body, clock()) ? staleBody(error) : error
      })
      logger.info('submitted', { activityId: activity.id, type: activity.type, status: activity.status, fingerprint })
      return reduce(activity, batch, client)
    },

    async pollActivity({ activityId, ...step }) {
      const { batch, client } = await open(step)
      const { activity } = await client.query('get_activity', { activityId })
      return reduce(activity, batch, client)
    },

    async castVote({ fingerprint, timestampMs, ...step }) {
      const { plan, batch, client } = await open(step)
      const body = makeVoteBody(plan.organization.id, { fingerprint, timestampMs: timestampMs + serviceAheadMs() })
      const activity = await client.submit(catalogue.ACTIVITY_TYPE_APPROVE_ACTIVITY.path, body)
      logger.info('approved', { activityId: activity.id, type: activity.type, status: activity.status })
      return reduce(activity, batch, client)
    },

    async recordOutcome({ outcome }) {
      await planStore.putOutcome(await planStore.getPlan(outcome.planDigest), outcome)
    },
  }
}

/** Whether an apply came to an end that is one: a cancelled one may be taken up again. */
function isSpent({ state }: ApplyProgress): boolean {
  return state === 'done' || state === 'failed' || state === 'rejected'
}

function batchOf(plan: Plan, index: number): Batch {
  const batch = plan.batches.find((one) => one.index === index)
  if (batch) return batch
  throw new ApplyError('apply/plan-edited', `the plan has no batch ${index}`)
}

/** Wraps each function so that whatever it throws becomes the one kind of failure that workflows read. */
function raisingFailures(functions: Activities, logger: Logger): Activities {
  const wrapped = Object.entries(functions).map(([name, run]) => [
    name,
    async (input: never) => {
      try {
        return await run(input)
      } catch (error) {
        if (error instanceof ApplicationFailure) throw error
        const raised = toFailure(error)
        logger.warn('a step failed', { step: name, code: raised.type, message: raised.message })
        throw raised
      }
    },
  ])
  return Object.fromEntries(wrapped) as Activities
}
