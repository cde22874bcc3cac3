import { setTimeout as pause } from 'node:timers/promises'
import { ClientError, type QueryClient, type SubmitClient } from '../src/client/index.ts'
import { makeBody } from '../src/plan/index.ts'
import { activities as catalogue, saysHeld, saysReplaced, type Wire } from '../src/protocol/index.ts'
import { assertActsAs } from './acting-user.ts'
import { type ActivityReader, describeActivity } from './activity-state.ts'
import { asksFor, makeVoteBody, type RequestedBody } from './body.ts'
import { applyCodes } from './codes.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { ApplyError } from './error.ts'
import type { Failure } from './model.ts'
import { readActivities, STATUSES } from './open-activities.ts'
import { isTokenTransfer, readReceipt } from './receipts.ts'
import type { OpenGate } from './send-gates.ts'
import { sendIdOf } from './send-ledger.ts'
import {
  isSendOver,
  progressIn,
  type SendActivityState,
  type SendOrder,
  type SendProgress,
  type TransactionState,
} from './send-model.ts'
import { bodyTimeIn, bodyTimeOf, fingerprintOf, HOUR_MS, listedFrom } from './send-times.ts'
import { isStale, staleBody } from './stale.ts'
import { toUnixMs } from './wire-time.ts'

/** The send of the ledger that a step is about. */
interface SendStep {
  readonly sendId: string
}

/**
 * The steps of the send workflow. Each may run several times without harm. What is sent, which activity it became and which transaction
 * that is, each step reads from the ledger and from the API: of the workflow it believes only which step is next.
 */
export interface SendActivities {
  /** Reads the reference of a send. */
  loadSend(input: SendStep & { readonly organizationId: string }): Promise<{ readonly reference: string }>
  /** Makes the body and stores it before anything is sent, or finds the body that the send has already. */
  prepareSend(input: SendStep & { readonly timestampMs: number }): Promise<{ readonly fingerprint: string }>
  /** Sends the stored bytes; a repetition is answered with the same activity. */
  submitSend(input: SendStep): Promise<SendActivityState>
  /** For a send of a batch: makes the body, submits it and records the progress, in one step. */
  submitBatched(
    input: SendStep & { readonly reference: string; readonly timestampMs: number },
  ): Promise<{ readonly progress: SendProgress; readonly needsVote: boolean }>
  /** Asks once where the activity stands. */
  pollSend(input: SendStep): Promise<SendActivityState>
  /** Approves the activity again as the acting user, after its votes have lapsed. */
  voteForSend(input: SendStep & { readonly timestampMs: number }): Promise<SendActivityState>
  /** Asks once where the transaction stands. */
  readTransaction(input: SendStep): Promise<TransactionState>
  /** Records the progress of the send in the ledger. */
  recordSend(input: { readonly progress: SendProgress }): Promise<void>
}

export function createSendActivities(deps: ActivityDependencies): SendActivities {
  const { planStore, logger, serviceAheadMs = () => 0 } = deps
  const { sends } = planStore
  const clock = () => deps.clock() + serviceAheadMs()
  const open = async ({ sendId }: SendStep) => {
    const entry = await sends.getEntry(sendId)
    return { ...entry, ...(await openSends(deps, entry.order.organization)) }
  }
  type Open = Awaited<ReturnType<typeof open>>
  const assertOwn = ({ client, order }: Open) =>
    assertActsAs(client, order.by, {
      what: `\`${order.reference}\` was ordered by`,
      async note(error) {
        const { reference } = order
        const sendId = sendIdOf(order)
        const before = (await sends.getProgress(sendId)) ?? { sendId, reference, state: 'submitting' }
        if (before.state === 'submitting' && before.activityId === undefined)
          await sends.putProgress({ ...before, error })
      },
    })
  /** The same before anything is made of it: bytes that are there may have been submitted. */
  const assertOwnSend = async (step: SendStep) => {
    const { order } = await sends.getEntry(step.sendId)
    if (order.by !== undefined) await assertOwn(await open(step))
  }
  const take = async (activity: Wire.Activity, { describe, ...entry }: Open) => {
    const state = describe(activity, entry.order)
    await sends.setMade(entry, state)
    return state
  }
  const readOwn = async (one: Open, sendId: string): Promise<Wire.Activity> => {
    const { activityId, wasLost } = await sends.getMade(one)
    if (activityId === undefined && !wasLost) throw notSubmitted(one.order)
    const known = activityId && (await ifKnown(one.client.query('get_activity', { activityId })))
    return known ? known.activity : submitAgain(sendId)
  }

  const prepare: SendActivities['prepareSend'] = async ({ timestampMs, sendId }) => {
    const entry = await sends.getEntry(sendId)
    const { order } = entry
    const asked = askedOf(order)
    const before = await sends.getBody(entry)
    if (before !== undefined) return { fingerprint: before }
    const now = timestampMs + serviceAheadMs()
    const first = order.bodyTimeMs ?? bodyTimeOf(order, Date.parse(order.orderedAt))
    const bodyAt = (time: number) => makeBody({ ...asked, timestampMs: time })
    const isOver =
      (order.bodyTimeMs === undefined && now - first >= HOUR_MS) ||
      (await sends.hasBody(entry, fingerprintOf(bodyAt(first))))
    const begin = isOver ? await timeOfLater(order, now) : first
    // Two sends of the same payment could have the same bytes, and would be one activity: the later send takes another time.
    for (let shift = 0; ; shift++) {
      const body = bodyAt(shift === 0 ? begin : bodyTimeOf(order, now, shift))
      // INVARIANT: the bytes are on disk before anything is sent, so that every retry has the same ones to send.
      const fingerprint = await sends.enterBody(entry, await planStore.putBody(body))
      if (fingerprint !== undefined) return { fingerprint }
    }
  }
  /**
   * Chooses the time of the body when the hour is over in which the activities of the organization were looked through. They are looked
   * through again: another machine may have sent this reference meanwhile, and then its time, and so its bytes, are used.
   */
  const timeOfLater = async (order: SendOrder, now: number) => {
    const { client } = await openSends(deps, order.organization)
    const from = listedFrom([{ ...order, orderedAt: new Date(now).toISOString() }])
    await pause(Math.max(0, from - clock()))
    return (await findBodyTime(client, order)) ?? bodyTimeOf(order, now)
  }

  const submit = async (step: SendStep) => {
    const one = await open(step)
    await assertOwn(one)
    const { client, order } = one
    const fingerprint = await sends.getBody(one)
    if (fingerprint === undefined) throw new ApplyError('apply/body-missing', 'no body was made for this send')
    const body = await planStore.getBody(fingerprint)
    if (!asksFor(body, askedOf(order))) {
      throw new ApplyError(
        'apply/body-refused',
        `body \`${fingerprint}\` does not say what \`${order.reference}\` does`,
      )
    }
    let gate: OpenGate | undefined
    // The client may hold the request back for long (its rate), and meanwhile the batch may be stopped.
    const beforeSending = async () => {
      gate = await sends.letOut(one, fingerprint)
    }
    const activity = await client
      .submit(catalogue[order.type].path, body, { beforeSending })
      .catch(async (error: unknown) => {
        if (isTriedAgain(error)) await gate?.giveBack()
        if (!isStale(error, body, clock(), MAY_BE_OVER_MS)) throw error
        await sends.refuseBody(one, fingerprint)
        throw staleBody(error)
      })
    logger.info('submitted', { activityId: activity.id, type: activity.type, status: activity.status, fingerprint })
    const { activityId: before } = await sends.getMade(one)
    // The same bytes are the same activity, as long as the API knows them.
    if (before !== undefined && before !== activity.id) await sends.lose(one, before)
    return { activity, state: await take(activity, one) }
  }

  /**
   * Submits a send whose activity the API does not know, as after the API's store was restored from a backup. The bytes are the same,
   * unless they are too old: then a new body is made, after a look at the activities. Whether the chain has the transaction already,
   * the API finds out.
   */
  const submitAgain = async (sendId: string): Promise<Wire.Activity> => {
    for (let stale = 0; ; stale++) {
      try {
        return (await submit({ sendId })).activity
      } catch (error) {
        const isOld = error instanceof ApplyError && error.code === 'apply/body-stale'
        if (!isOld || stale === MOST_STALE) throw error
        await prepare({ sendId, timestampMs: deps.clock() })
      }
    }
  }

  return {
    async loadSend({ sendId }) {
      const { order } = await sends.getEntry(sendId)
      return { reference: order.reference }
    },

    async prepareSend(step) {
      await assertOwnSend(step)
      return prepare(step)
    },
    submitSend: async (step) => (await submit(step)).state,

    async submitBatched({ reference, timestampMs, sendId }) {
      // A batch begins a send whose workflow does not answer, perhaps because it has ended. A send without an activity was stopped
      // before it was submitted, and can be begun.
      const before = await sends.getProgress(sendId)
      if (before?.activityId !== undefined && isSendOver(before.state)) return { progress: before, needsVote: false }
      await assertOwnSend({ sendId })
      await prepare({ sendId, timestampMs })
      const { state } = await submit({ sendId })
      const progress = { sendId, reference, ...progressIn(state) }
      await sends.putProgress(progress)
      return { progress, needsVote: state.needsVote }
    },

    async pollSend(step) {
      const one = await open(step)
      return take(await readOwn(one, step.sendId), one)
    },

    async voteForSend({ timestampMs, ...step }) {
      const one = await open(step)
      await assertOwn(one)
      const activity = await readOwn(one, step.sendId)
      const { id, fingerprint } = activity
      // INVARIANT: an approval is for bytes that were made for this send, and for no others.
      if (!(await sends.hasBody(one, fingerprint))) {
        throw new ApplyError(
          'apply/vote-refused',
          `activity ${id} is not what \`${one.order.reference}\` was submitted as`,
        )
      }
      const now = await take(activity, one)
      // A workflow that was reset to an older state asks for votes that exist already, or that are not needed.
      if (!now.needsVote) return now
      const time = timestampMs + serviceAheadMs()
      const body = makeVoteBody(one.order.organization.id, { fingerprint, timestampMs: time })
      return take(await one.client.submit(catalogue.ACTIVITY_TYPE_APPROVE_ACTIVITY.path, body), one)
    },

    async readTransaction(step) {
      const one = await open(step)
      const { order, client } = one
      const { sendTransactionStatusId: known, wasLost } = await sends.getMade(one)
      if (known === undefined && !wasLost) throw notSubmitted(order)
      const read = (sendTransactionStatusId: string) =>
        readTransactionState(client, order, { sendTransactionStatusId, withReceipt: true })
      const transaction = known && (await ifKnown(read(known)))
      if (transaction && !wasLost) return transaction
      // The API has given the transaction another id, which the answer tells the workflow.
      const { activityId, fingerprint, sendTransactionStatusId, error } = await take(
        await readOwn(one, step.sendId),
        one,
      )
      const named = { activityId, fingerprint }
      if (sendTransactionStatusId === undefined) {
        const why = 'the API has lost it, was given the same bytes again, and has not carried them out yet'
        const waits = {
          code: 'apply/transaction-waits',
          message: why,
          next: applyCodes['apply/transaction-waits'].solve,
        }
        return { state: 'broadcasting', ...named, error: error ?? waits }
      }
      return { ...named, sendTransactionStatusId, ...(await read(sendTransactionStatusId)) }
    },

    async recordSend({ progress }) {
      const entry = await sends.getEntry(progress.sendId)
      const made = await sends.getMade(entry)
      for (const name of ['activityId', 'sendTransactionStatusId'] as const) {
        // Where the API has lost the send, the workflow may have its old id; the ledger has the new one.
        if (progress[name] === undefined || progress[name] === made[name] || made.wasLost) continue
        throw new ApplyError(
          'apply/outcome-refused',
          `\`${entry.order.reference}\` is told of with a foreign \`${name}\``,
        )
      }
      if (progress.state === 'included' && made.sendTransactionStatusId === undefined) throw notSubmitted(entry.order)
      const { wasLost, ...now } = made
      await sends.putProgress(wasLost ? { ...progress, ...(now as Partial<SendProgress>) } : progress)
    },
  }
}

/** A body of a send may be almost an hour old when it is first sent; a younger one that is refused means a wrong clock. */
const MAY_BE_OVER_MS = HOUR_MS - 5 * 60 * 1000

/** How often a body may grow too old while it waits to be sent. */
const MOST_STALE = 3

/** The API's answer; undefined if it does not have the thing that the query names. */
async function ifKnown<Answer>(asking: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asking
  } catch (error) {
    if (error instanceof ClientError && error.code === 'client/not-found') return undefined
    throw error
  }
}

/** The time in the body of an activity that has the reference of an order, submitted since it was ordered. */
async function findBodyTime(client: SubmitClient, order: SendOrder): Promise<number | undefined> {
  for await (const activity of readActivities(client, { types: [order.type], statuses: STATUSES })) {
    if (toUnixMs(activity.createdAt) < Date.parse(order.orderedAt) - HOUR_MS) return undefined
    const time = bodyTimeIn(order, activity)
    if (time !== undefined) return time
  }
  return undefined
}

function askedOf({ type, parameters, organization }: SendOrder): RequestedBody {
  return { type, organizationId: organization.id, parameters }
}

function notSubmitted({ reference }: SendOrder): ApplyError {
  return new ApplyError(
    'apply/outcome-refused',
    `\`${reference}\` is asked about, and was not submitted from this ledger`,
  )
}

/** Whether a request is sent again: the API has certainly not accepted it, and has not refused it for good. */
function isTriedAgain(error: unknown): boolean {
  return error instanceof ClientError && error.submitted === 'no' && error.retryable
}

/** The advice for a send that was rejected. */
const ASK_AGAIN = 'ask them why; the same command with --ask-again asks for it once more, under the same reference'
/** The advice for a send whose activity or transaction failed. */
const SENT_ONCE = 'nothing is sent again by itself; correct the cause and send under a new reference'

/** Queries and submits sends in an organization, and reduces the API's activities to what a workflow needs. */
export interface SendReader {
  readonly client: SubmitClient
  readonly describe: (activity: Wire.Activity, order: Pick<SendOrder, 'by'>) => SendActivityState
}

export async function openSends(
  { clientFor, sendClientFor = clientFor, clock, serviceAheadMs = () => 0 }: ActivityDependencies,
  organization: SendOrder['organization'],
): Promise<SendReader> {
  const client = await sendClientFor(organization)
  const { publicKey } = client
  const describe: SendReader['describe'] = (activity, { by }) =>
    describeSendActivity(activity, { publicKey, userId: by?.userId, nowMs: clock() + serviceAheadMs() })
  return { client, describe }
}

/** The state of a send's activity, as somebody with a key sees it at a time. */
export function describeSendActivity(activity: Wire.Activity, reader: ActivityReader): SendActivityState {
  const sendTransactionStatusId = sendStatusIdOf(activity)
  const { error, ...described } = describeActivity(activity, reader)
  return {
    ...described,
    ...(error === undefined
      ? {}
      : { error: { ...error, next: described.state === 'rejected' ? ASK_AGAIN : SENT_ONCE } }),
    ...(sendTransactionStatusId === undefined ? {} : { sendTransactionStatusId }),
  }
}

/** What asks for the transaction of an activity that sends; undefined before it was carried out. */
export function sendStatusIdOf({ result }: Pick<Wire.Activity, 'result'>): string | undefined {
  const { ethSendTransactionResult, solSendTransactionResultV2 } = result ?? {}
  return (ethSendTransactionResult ?? solSendTransactionResultV2)?.sendTransactionStatusId
}

/**
 * Asks where a transaction stands. One that was to transfer a token is included when the token has moved.
 * @param withReceipt whether the receipt is wanted, which takes another question
 */
export async function readTransactionState(
  client: QueryClient,
  order: SendOrder,
  asked: { readonly sendTransactionStatusId: string; readonly withReceipt: boolean },
): Promise<TransactionState> {
  const { sendTransactionStatusId, withReceipt } = asked
  const status = await client.query('get_send_transaction_status', { sendTransactionStatusId })
  const transaction = toTransactionState(status)
  if (transaction.state === 'broadcasting' || !(withReceipt || isTokenTransfer(order))) return transaction
  const { receipt, movesNothing } = await readReceipt(client, order, transaction)
  const ended = receipt === undefined ? transaction : { ...transaction, receipt }
  if (transaction.state !== 'included' || !movesNothing) return ended
  const error: Failure = {
    code: 'apply/nothing-moved',
    message: 'the transaction is in a block, and the token that it was to move has not moved',
    next: applyCodes['apply/nothing-moved'].solve,
  }
  return { ...ended, state: 'failed', error }
}

/**
 * A transaction that was mined and reverted has failed: it moved nothing but its fee
 * (docs/protocol/sends.md#status-of-a-send).
 */
function toTransactionState(status: Wire.GetSendTransactionStatusResponse): TransactionState {
  const { txStatus, eth, solana, error } = status
  const transactionHash = eth?.txHash ?? solana?.signature
  const hash = transactionHash === undefined ? {} : { transactionHash }
  if (txStatus === 'INCLUDED' && error === undefined) return { state: 'included', ...hash }
  if (txStatus !== 'FAILED' && txStatus !== 'INCLUDED') return { state: 'broadcasting', ...hash, ...waitOf(error) }
  const message = error?.message ?? status.txError ?? 'the API does not say why'
  // What has no transaction has none that could be in a block later.
  if (txStatus === 'FAILED' && transactionHash === undefined) {
    const code = 'apply/transaction-given-up'
    return { state: 'given up', error: { code, message, next: applyCodes[code].solve } }
  }
  const isReplaced = txStatus === 'FAILED' && saysReplaced(message)
  const failure: Failure = isReplaced
    ? { code: 'apply/transaction-replaced', message, next: applyCodes['apply/transaction-replaced'].solve }
    : {
        code: txStatus === 'INCLUDED' ? 'apply/transaction-reverted' : 'apply/transaction-failed',
        message,
        next: SENT_ONCE,
      }
  return { state: 'failed', ...hash, error: failure }
}

/** What a transaction waits for that is not at its end, where the API says it. */
function waitOf(error: Wire.TxError | undefined): Pick<TransactionState, 'error'> {
  if (error?.message === undefined) return {}
  const code = saysHeld(error.message) ? 'apply/transaction-held' : 'apply/transaction-waits'
  return { error: { code, message: error.message, next: applyCodes[code].solve } }
}
