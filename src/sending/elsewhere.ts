/**
 * Finds sends that another machine has submitted. The ledger of a data folder has only its own sends; the API has those of all machines.
 * So before a send is begun that the ledger does not have, the organization's activities are looked through. Of an activity only fields
 * that every service of this API gives are used.
 */
import {
  bodyTimeIn,
  listedFrom,
  MOST_ROUNDS,
  type PlanStore,
  readActivities,
  readTransactionState,
  roundIn,
  type SendOrder,
  STATUSES,
  sendStatusIdOf,
  toUnixMs,
} from '../../activities/index.ts'
import { readSolanaPayment, solanaSendBytes } from '../chain/index.ts'
import type { QueryClient } from '../client/index.ts'
import { EXIT, QuorateError } from '../diagnostics/index.ts'
import { canonicalJson } from '../encoding/index.ts'
import {
  type ActivityType,
  findActivity,
  isJsonObject,
  type Json,
  type JsonObject,
  type Wire,
} from '../protocol/index.ts'
import { isWithinCap } from './send-fee-ceiling.ts'

/** An activity that the ledger does not have, and because of which an order is not simply begun. */
export interface SentElsewhere {
  readonly activityId: string
  /** ISO 8601. */
  readonly createdAt: string
  /**
   * `same`: it is this send, under this reference. `other`: it is another send under this reference, or, once in a million times, under
   * a reference from which the same time follows. `equal`: it pays the same, with the same payer, receiver, asset and amount, under
   * another reference or an unknown one. `rejected`: it is this send, which was rejected and is to be submitted again.
   */
  readonly kind: 'same' | 'other' | 'equal' | 'rejected'
  /** How often the same send was submitted again after a rejection; of a `rejected` one, the round to submit it as now. */
  readonly round?: number
  /** The time in the body of the same send. */
  readonly bodyTimeMs?: number
  /** The intent of the activity. */
  readonly parameters: Json
}

/** How far back activities are looked through. */
export const LOOK_BACK_MS = 90 * 24 * 60 * 60 * 1000

const TYPES = [
  'ACTIVITY_TYPE_ETH_SEND_TRANSACTION',
  'ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2',
  'ACTIVITY_TYPE_SOL_SEND_TRANSACTION',
  'ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2',
] as const satisfies readonly ActivityType[]

/** Statuses of activities that never put anything on a chain. */
const NOTHING = new Set(['ACTIVITY_STATUS_FAILED', 'ACTIVITY_STATUS_REJECTED'])

/**
 * Finds the activities because of which orders are not simply begun. It waits, ten seconds at most, if another machine may have sent one
 * of the orders a moment ago with bytes of the hour before.
 */
export async function findElsewhere(
  client: QueryClient,
  orders: readonly SendOrder[],
  asking: Asking,
): Promise<ReadonlyMap<SendOrder, SentElsewhere>> {
  const { ledger, not, now, pause, again } = asking
  const found = new Map<SendOrder, SentElsewhere>()
  if (orders.length === 0) return found
  const wait = listedFrom(orders) - now()
  if (wait > 0) await pause(wait)
  const equals = Map.groupBy(orders, (order) => paymentOf(order))
  const under = new Map<SendOrder, Under[]>()
  const activities = await readSince(client, now() - LOOK_BACK_MS)
  // Read after the list, so that sends that this ledger submitted meanwhile count as its own.
  const isKnown = await ledger.knownBodies()
  for (const activity of activities) {
    const isOwn = isKnown(activity.fingerprint)
    const parameters = parametersOf(activity)
    const createdAt = new Date(toUnixMs(activity.createdAt)).toISOString()
    const facts = { activityId: activity.id, createdAt, parameters }
    const payment = paymentOf({ type: activity.type, parameters })
    const equal = payment === undefined ? [] : (equals.get(payment) ?? [])
    for (const order of orders) {
      // A send of this ledger matters only if it was rejected and is to be submitted again.
      if (isOwn && !again?.has(order)) continue
      const same = equal.includes(order) ? roundIn(withFeeOf(order, parameters), activity) : undefined
      const kind = same !== undefined ? 'same' : !isOwn && isUnder(order, activity) ? 'other' : undefined
      if (kind === undefined || (kind === 'other' && not.includes(activity.id))) continue
      under.set(order, [...(under.get(order) ?? []), { by: { ...facts, kind, ...same }, activity }])
    }
    if (isOwn) continue
    if (NOTHING.has(activity.status) || not.includes(activity.id)) continue
    for (const order of equal) {
      // A replacement pays the same as the send that it replaces, with the same nonce.
      const isUnderIt = under.get(order)?.some(({ by }) => by.activityId === activity.id)
      if (!isUnderIt && !found.has(order) && order.replaces === undefined) found.set(order, { ...facts, kind: 'equal' })
    }
  }
  const later: SendOrder[] = []
  for (const order of new Set([...under.keys(), ...(again?.keys() ?? [])])) {
    const activities = under.get(order) ?? []
    const by = await holderOf(client, order, activities)
    const holder = activities.find((one) => one.by === by)
    const isRejected = holder === undefined ? again?.has(order) : by?.kind === 'same' && isNo(holder.activity)
    if (again !== undefined && isRejected) {
      // If another activity pays the same, this one is refused as `equal`.
      if (found.has(order)) continue
      const round = 1 + Math.max(again.get(order) ?? 0, ...activities.map(({ by }) => by.round ?? 0))
      const facts = by ?? { activityId: '', createdAt: order.orderedAt, parameters: order.parameters }
      later.push({ ...order, round })
      found.set(order, { ...facts, kind: 'rejected', round })
    } else if (by !== undefined) found.set(order, by)
  }
  // The bytes of a later round change at another moment of the hour, so the wait is computed anew.
  const turns = later.length === 0 ? 0 : listedFrom(later) - now()
  if (turns <= 0) return found
  await pause(turns)
  return findElsewhere(client, orders, asking)
}

/** Whether approvers have rejected an activity, which is final. */
function isNo({ status }: Wire.Activity): boolean {
  return status === 'ACTIVITY_STATUS_REJECTED'
}

/** An activity that was submitted under the reference of an order. */
interface Under {
  readonly by: SentElsewhere
  readonly activity: Wire.Activity
}

/**
 * Chooses which of the activities under a reference, newest first, holds it. A send that was given up leaves its reference free, as in a
 * ledger; the API is asked whether one was given up only if another send holds the reference. The same send is joined even if it was
 * given up: it ends as given up, and the same command sends it anew. A send that was submitted again after a rejection comes before the
 * rejected one.
 */
async function holderOf(
  client: QueryClient,
  order: SendOrder,
  under: readonly Under[],
): Promise<SentElsewhere | undefined> {
  const all = under.filter(({ by }) => by.kind === 'same')
  const same = (all.findLast(({ activity }) => !isNo(activity)) ?? all[0])?.by
  if (under.every(({ by }) => by.kind === 'same')) return same
  for (const { by, activity } of under) if (!(await isGivenUp(client, order, activity))) return by
  return same
}

async function isGivenUp(client: QueryClient, order: SendOrder, activity: Wire.Activity): Promise<boolean> {
  const sendTransactionStatusId = sendStatusIdOf(activity)
  if (sendTransactionStatusId === undefined) return false
  const sent = { ...order, parameters: parametersOf(activity) as SendOrder['parameters'] }
  const asked = { sendTransactionStatusId, withReceipt: false }
  return (await readTransactionState(client, sent, asked)).state === 'given up'
}

/** The ledger and answers of the user that the activities are compared with, and the clock. */
interface Asking {
  readonly ledger: Pick<PlanStore['sends'], 'knownBodies'>
  /** Activities of which the user said that they are other payments. */
  readonly not: readonly string[]
  readonly now: () => number
  readonly pause: (ms: number) => Promise<unknown>
  /**
   * Given if rejected sends are to be submitted again: the orders that this ledger has as rejected, with the round that was rejected.
   * @default a rejected send is joined, and ends as rejected
   */
  readonly again?: ReadonlyMap<SendOrder, number>
}

/** The sends of an organization, newest first, back to a time. */
export async function readSince(client: QueryClient, oldestMs: number): Promise<readonly Wire.Activity[]> {
  const read: Wire.Activity[] = []
  for await (const activity of readActivities(client, { types: TYPES, statuses: STATUSES })) {
    if (toUnixMs(activity.createdAt) < oldestMs) break
    read.push(activity)
  }
  return read
}

/**
 * Makes sure that orders may be begun, and returns them. An order that another machine has sent under its reference gets the time of that
 * body, so that its bytes, and with them the activity, are the same. Throws `cli/reference-taken` and `cli/sent-elsewhere`.
 */
export async function assertNotElsewhere(
  client: QueryClient,
  orders: readonly SendOrder[],
  asking: Asking,
): Promise<readonly SendOrder[]> {
  const found = await findElsewhere(client, orders, asking)
  const refused = (kind: SentElsewhere['kind']) =>
    orders.flatMap((order) => (found.get(order)?.kind === kind ? [{ order, by: found.get(order)! }] : []))
  const other = refused('other')
  if (other.length > 0) throw takenElsewhere(other)
  const equal = refused('equal')
  if (equal.length > 0) throw sentElsewhere(equal)
  return orders.map((order) => {
    const { kind, bodyTimeMs, round = 0, parameters } = found.get(order) ?? {}
    if (kind === 'rejected') return assertRounds({ ...withFeeOf(order, parameters!), round })
    if (bodyTimeMs === undefined) return order
    return { ...withFeeOf(order, parameters!), bodyTimeMs, ...(round === 0 ? {} : { round }) }
  })
}

/** Refuses a round above `MOST_ROUNDS`: other machines look for no more, and would take it for another payment. */
function assertRounds(order: SendOrder): SendOrder {
  if (order.round! <= MOST_ROUNDS) return order
  throw new QuorateError('cli/reference-taken', `\`${order.reference}\` was rejected ${order.round} times`, {
    exit: EXIT.refused,
    facts: { submitted: 'nothing' },
    next: 'give this send a reference of its own',
  })
}

/** Gives an order the fee that another machine has offered for it, unless the user has set a fee or that one is above the cap here. */
export function withFeeOf(order: SendOrder, sent: Json): SendOrder {
  if (!isJsonObject(sent) || !isWithinCap(order, sent)) return order
  const { maxFeePerGas, unsignedTransaction } = sent
  const { maxFeePerGas: _, ...asked } = order.parameters as JsonObject
  const offered = typeof asked['unsignedTransaction'] === 'string' ? { unsignedTransaction } : { maxFeePerGas }
  const parameters = inOrder({ ...asked, ...offered } as JsonObject)
  return { ...order, parameters: parameters as SendOrder['parameters'] }
}

/** How many activities an error names; a reader compares no more at once. */
const MOST_SHOWN = 5

type Refused = readonly { readonly order: SendOrder; readonly by: SentElsewhere }[]

function takenElsewhere(taken: Refused): QuorateError {
  const [{ order, by }] = taken as readonly [Refused[number]]
  const { which, ids, rest } = summaryOf(taken)
  const sent = { type: order.type, parameters: by.parameters as SendOrder['parameters'] }
  const { why, facts, next } = takenBy(sent, order)
  return new QuorateError('cli/reference-taken', `reference \`${order.reference}\` ${why}${rest}`, {
    exit: EXIT.refused,
    facts: {
      'that send': canonicalJson(by.parameters),
      activity: by.activityId,
      ...which,
      ...facts,
      'how this is known':
        'the time in its request is one that follows from this reference; from another reference it follows once in a million times',
      submitted: 'nothing',
    },
    next: `${next}; if that send has another reference in your records, say so with --not ${ids}`,
  })
}

function sentElsewhere(equal: Refused): QuorateError {
  const [{ order, by }] = equal as readonly [Refused[number]]
  const { amount, from, to, reference } = order
  const { which, ids, rest } = summaryOf(equal)
  return new QuorateError(
    'cli/sent-elsewhere',
    `${amount} from ${from} to ${to} was sent before, and not from this ledger: activity ${by.activityId}${rest}`,
    {
      exit: EXIT.refused,
      facts: { reference, ...which, submitted: 'nothing' },
      next: `if this is another payment, say so with --not ${ids}`,
    },
  )
}

/** Which activities decide about the refused orders, their ids as `--not` takes them, and how many more there are than the first. */
function summaryOf(refused: Refused) {
  const shown = refused
    .slice(0, MOST_SHOWN)
    .map(({ order, by }) => [order.reference, `${by.activityId}, ${by.createdAt}`])
  return {
    which: refused.length === 1 ? { since: refused[0]!.by.createdAt } : Object.fromEntries(shown),
    ids: [...new Set(refused.map(({ by }) => by.activityId))].join(','),
    rest: refused.length === 1 ? '' : `, and ${refused.length - 1} more like it`,
  }
}

/** Whether an activity that asks for something else was submitted under the reference of an order. */
export function isUnder(order: SendOrder, activity: Wire.Activity): boolean {
  const { type } = activity
  if (type !== order.type) return false
  return bodyTimeIn({ ...order, parameters: inOrder(parametersOf(activity)) }, activity) !== undefined
}

/** The members that an order may have, as they follow each other in its body. */
const MEMBERS = [
  'from',
  'unsignedTransaction',
  'signWiths',
  'caip2',
  'to',
  'value',
  'data',
  'nonce',
  'maxFeePerGas',
  'maxPriorityFeePerGas',
  'gasLimit',
]

function inOrder(value: Json): Json {
  if (!isJsonObject(value)) return value
  return Object.fromEntries(MEMBERS.flatMap((name) => (value[name] == null ? [] : [[name, value[name]]])))
}

export function parametersOf({ type, intent }: Wire.Activity): Json {
  const key = findActivity(type)?.row.intentKey
  const member = key !== undefined && isJsonObject(intent) ? (intent as JsonObject)[key] : undefined
  return member ?? {}
}

/** The payer, the receiver, the asset and the amount as text; undefined for what cannot be read. Fees and nonces are none of it. */
export function paymentOf({
  type,
  parameters,
}: {
  readonly type: string
  readonly parameters: Json
}): string | undefined {
  if (!isJsonObject(parameters)) return undefined
  try {
    return canonicalJson(/_SOL_/.test(type) ? solanaPaymentOf(parameters) : ethereumPaymentOf(parameters))
  } catch {
    return undefined
  }
}

/** Why an order is not what its reference was begun with, and what to do: the same payment under another reference would be paid twice. */
export function takenBy(
  entered: Pick<SendOrder, 'type' | 'parameters'>,
  order: Pick<SendOrder, 'type' | 'parameters'>,
): { readonly why: string; readonly facts: Readonly<Record<string, string>>; readonly next: string } {
  const options = otherOptions(entered, order)
  if (options === undefined)
    return { why: 'stands for another send', facts: {}, next: 'give this send a reference of its own' }
  return {
    why: 'is this payment, begun with other options',
    facts: { 'with other': options },
    next: 'give the command as it was given then, or leave --max-fee out; what is broadcast is offered for more with `quorate sends replace`',
  }
}

/** In what an order differs from the same payment that its reference was begun with, such as `maxFeePerGas`; undefined for another payment. */
function otherOptions(
  entered: Pick<SendOrder, 'type' | 'parameters'>,
  order: Pick<SendOrder, 'type' | 'parameters'>,
): string | undefined {
  const payment = paymentOf(entered)
  if (payment === undefined || payment !== paymentOf(order)) return undefined
  const [then, now] = [entered.parameters as JsonObject, order.parameters as JsonObject]
  const names = [...new Set([...Object.keys(then), ...Object.keys(now)])]
  const others = names.filter((name) => canonicalJson(then[name] ?? null) !== canonicalJson(now[name] ?? null))
  const words = (name: string) =>
    name === 'unsignedTransaction' ? 'its fee' : `${name}, then ${told(then[name])} and now ${told(now[name])}`
  return others.map(words).join('; ')
}

const told = (value: Json | undefined) => (value === undefined ? 'not said' : String(value))

function ethereumPaymentOf({ from, caip2, calls, ...call }: JsonObject): Json {
  const all = Array.isArray(calls) && calls.length > 0 ? calls : [call]
  return {
    from: lower(from),
    caip2: caip2 ?? null,
    calls: all.map((one) => {
      const { to, value, data } = one as JsonObject
      return { to: lower(to), value: BigInt(String(value || '0')).toString(), data: lower(data).replace(/^0x$/, '') }
    }),
  }
}

function solanaPaymentOf(parameters: JsonObject): Json {
  const bytes = solanaSendBytes(parameters as Parameters<typeof solanaSendBytes>[0])
  const payment = readSolanaPayment(bytes)
  const caip2 = parameters['caip2'] ?? null
  if (payment === undefined) return { caip2, transaction: String(parameters['unsignedTransaction']) }
  const { from, to, amount, token } = payment
  return { caip2, from, to, amount: amount.toString(), mint: token?.mint ?? null }
}

function lower(text: Json | undefined): string {
  return String(text ?? '').toLowerCase()
}
