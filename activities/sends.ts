import { ClientError, type SubmitClient } from '../src/client/index.ts'
import { makeBody } from '../src/plan/index.ts'
import { activities as catalogue, type Wire } from '../src/protocol/index.ts'
import { describeActivity } from './activity-state.ts'
import { makeVoteBody } from './body.ts'
import type { ActivityDependencies } from './dependencies.ts'
import type { Failure } from './model.ts'
import { readReceipt } from './receipts.ts'
import type { OpenGate } from './send-gates.ts'
import type { SendActivityState, SendOrder, SendProgress, TransactionState } from './send-model.ts'
import { isStale, staleBody } from './stale.ts'

/** A send in the ledger. */
interface SendStep {
  readonly sendId: string
}

/** What the send workflow may ask of the world. Each may run more than once; none minds. */
export interface SendActivities {
  /** Reads the reference of a send. */
  loadSend(input: SendStep & { readonly organizationId: string }): Promise<{ readonly reference: string }>
  /** Makes the body and stores it before anything is sent, or finds the one that this attempt has already. */
  prepareSend(
    input: SendStep & { readonly timestampMs: number; readonly attempt: number },
  ): Promise<{ readonly fingerprint: string; readonly path: string }>
  /** Sends the stored bytes; a repetition is answered with the same activity. */
  submitSend(input: SendStep & { readonly fingerprint: string; readonly path: string }): Promise<SendActivityState>
  /** Both in one for a send of a batch, and keeps where it stands: of hundreds, each step counts. */
  submitBatched(
    input: SendStep & { readonly reference: string; readonly timestampMs: number; readonly attempt: number },
  ): Promise<{ readonly progress: SendProgress; readonly needsVote: boolean }>
  /** Asks once where the activity stands. */
  pollSend(input: SendStep & { readonly activityId: string }): Promise<SendActivityState>
  /** Approves the activity again as the acting user, after its votes have lapsed. */
  voteForSend(
    input: SendStep & { readonly fingerprint: string; readonly timestampMs: number },
  ): Promise<SendActivityState>
  /** Asks once where the transaction stands. */
  readTransaction(input: SendStep & { readonly sendTransactionStatusId: string }): Promise<TransactionState>
  /** Keeps where the send stands, in the ledger. */
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

  const prepare: SendActivities['prepareSend'] = async ({ timestampMs, attempt, ...step }) => {
    const entry = await sends.getEntry(step.sendId)
    const { type, parameters, organization } = entry.order
    // Two that pay the same to the same in one millisecond would have the same bytes: the later one takes an earlier time.
    for (let time = timestampMs + serviceAheadMs(); ; time--) {
      const body = makeBody({ type, organizationId: organization.id, parameters, timestampMs: time })
      // INVARIANT: the bytes are on disk before anything is sent, so that every retry has the same ones to send.
      const fingerprint = await sends.enterBody(entry, attempt, await planStore.putBody(body))
      if (fingerprint !== undefined) return { fingerprint, path: catalogue[type].path }
    }
  }

  const submit: SendActivities['submitSend'] = async ({ fingerprint, path, ...step }) => {
    const { client, describe, ...entry } = await open(step)
    const body = await planStore.getBody(fingerprint)
    let gate: OpenGate | undefined
    // Its turn may be long in coming, and its batch be stopped meanwhile.
    const beforeSending = async () => {
      gate = await sends.letOut(entry, fingerprint)
    }
    const activity = await client.submit(path, body, { beforeSending }).catch(async (error: unknown) => {
      if (isTriedAgain(error)) await gate?.giveBack()
      throw isStale(error, body, clock()) ? staleBody(error) : error
    })
    logger.info('submitted', { activityId: activity.id, type: activity.type, status: activity.status, fingerprint })
    return describe(activity)
  }

  return {
    async loadSend({ sendId }) {
      const { order } = await sends.getEntry(sendId)
      return { reference: order.reference }
    },

    prepareSend: prepare,
    submitSend: submit,

    async submitBatched({ reference, timestampMs, attempt, sendId }) {
      const prepared = await prepare({ sendId, timestampMs, attempt })
      const { state, needsVote, produced: _, ...known } = await submit({ sendId, ...prepared })
      const progress = { sendId, reference, ...known, state: state === 'completed' ? 'broadcasting' : state } as const
      await sends.putProgress(progress)
      return { progress, needsVote }
    },

    async pollSend({ activityId, ...step }) {
      const { client, describe } = await open(step)
      return describe((await client.query('get_activity', { activityId })).activity)
    },

    async voteForSend({ fingerprint, timestampMs, ...step }) {
      const { order, client, describe } = await open(step)
      const time = timestampMs + serviceAheadMs()
      const body = makeVoteBody(order.organization.id, { fingerprint, timestampMs: time })
      return describe(await client.submit(catalogue.ACTIVITY_TYPE_APPROVE_ACTIVITY.path, body))
    },

    async readTransaction({ sendTransactionStatusId, ...step }) {
      const { order, client } = await open(step)
      const transaction = await readTransactionState(client, sendTransactionStatusId)
      const receipt = transaction.state === 'broadcasting' ? undefined : await readReceipt(client, order, transaction)
      return receipt === undefined ? transaction : { ...transaction, receipt }
    },

    recordSend: ({ progress }) => sends.putProgress(progress),
  }
}

/** Whether the API has certainly not taken a request up, and is asked again. What it has refused for good is over. */
function isTriedAgain(error: unknown): boolean {
  return error instanceof ClientError && error.submitted === 'no' && error.retryable
}

/** What was asked for and came to nothing. */
const SENT_ONCE = 'nothing is sent again by itself; correct the cause and send under a new reference'

/** Asks for sends in an organization, and reduces what the API says of their activities. */
export interface SendReader {
  readonly client: SubmitClient
  readonly describe: (activity: Wire.Activity) => SendActivityState
}

export async function openSends(
  { clientFor, sendClientFor = clientFor, clock, serviceAheadMs = () => 0 }: ActivityDependencies,
  organization: SendOrder['organization'],
): Promise<SendReader> {
  const client = await sendClientFor(organization)
  const publicKey = client.publicKey.toLowerCase()
  const describe = (activity: Wire.Activity): SendActivityState => {
    const { ethSendTransactionResult, solSendTransactionResultV2 } = activity.result ?? {}
    const { sendTransactionStatusId } = ethSendTransactionResult ?? solSendTransactionResultV2 ?? {}
    const { error, ...described } = describeActivity(activity, { publicKey, nowMs: clock() + serviceAheadMs() })
    return {
      ...described,
      ...(error === undefined ? {} : { error: { ...error, next: SENT_ONCE } }),
      ...(sendTransactionStatusId === undefined ? {} : { sendTransactionStatusId }),
    }
  }
  return { client, describe }
}

/** Asks where a transaction stands. */
export async function readTransactionState(
  client: SubmitClient,
  sendTransactionStatusId: string,
): Promise<TransactionState> {
  return toTransactionState(await client.query('get_send_transaction_status', { sendTransactionStatusId }))
}

/** A transaction that was mined and reverted has failed: it moved nothing but its fee (story S4). */
function toTransactionState(status: Wire.GetSendTransactionStatusResponse): TransactionState {
  const { txStatus, eth, solana, error } = status
  const transactionHash = eth?.txHash ?? solana?.signature
  const hash = transactionHash === undefined ? {} : { transactionHash }
  if (txStatus === 'INCLUDED' && error === undefined) return { state: 'included', ...hash }
  if (txStatus !== 'FAILED' && txStatus !== 'INCLUDED') return { state: 'broadcasting', ...hash }
  const failure: Failure = {
    code: 'apply/transaction-failed',
    message: error?.message ?? status.txError ?? 'the API does not say why',
    next: SENT_ONCE,
  }
  return { state: 'failed', ...hash, error: failure }
}
