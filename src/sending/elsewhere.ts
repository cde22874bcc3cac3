/**
 * What was sent from elsewhere: the ledger of a data folder knows its own sends alone, and the API those of all machines. Before
 * a send is begun that the ledger does not know, the organization's activities are asked; only what every service publishes of
 * them is used.
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
import { isWithinCap } from './fee-ceiling.ts'

/** An activity that decides about an order, and that the ledger does not know. */
export interface SentElsewhere {
  readonly activityId: string
  /** ISO 8601. */
  readonly createdAt: string
  /**
   * `same`: it is this send, under this reference; `other`: the reference stands for another send, or, once in a million
   * times, another reference has the same time; `equal`: another reference, or none that can be known, and the same payer,
   * receiver, asset and amount; `rejected`: it is this send, and it is to be asked for again.
   */
  readonly kind: 'same' | 'other' | 'equal' | 'rejected'
  /** Of the same send, how often it was asked for again; of a rejected one, what it is asked for as now. */
  readonly round?: number
  /** Of the same send, the time in its body. */
  readonly bodyTimeMs?: number
  /** What it asks for. */
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

/** Of these, nothing was or will be on a chain. */
const NOTHING = new Set(['ACTIVITY_STATUS_FAILED', 'ACTIVITY_STATUS_REJECTED'])

/**
 * Finds what decides about orders that the ledger does not have. It waits, ten seconds at most, where another machine may have
 * sent one of them a moment ago with bytes of the hour before.
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
  // After the list: what was sent from this ledger meanwhile is known to it.
  const isKnown = await ledger.knownBodies()
  for (const activity of activities) {
    const isOwn = isKnown(activity.fingerprint)
    const parameters = parametersOf(activity)
    const createdAt = new Date(toUnixMs(activity.createdAt)).toISOString()
    const facts = { activityId: activity.id, createdAt, parameters }
    const payment = paymentOf({ type: activity.type, parameters })
    const equal = payment === undefined ? [] : (equals.get(payment) ?? [])
    for (const order of orders) {
      // What this ledger knows counts where it was rejected, and is asked for again.
      if (isOwn && !again?.has(order)) continue
      const same = equal.includes(order) ? roundIn(withFeeOf(order, parameters), activity) : undefined
      const kind = same !== undefined ? 'same' : !isOwn && isUnder(order, activity) ? 'other' : undefined
      if (kind === undefined || (kind === 'other' && not.includes(activity.id))) continue
      under.set(order, [...(under.get(order) ?? []), { by: { ...facts, kind, ...same }, activity }])
    }
    if (isOwn) continue
    if (NOTHING.has(activity.status) || not.includes(activity.id)) continue
    for (const order of equal) {
      // What replaces a send asks for what that did, with its nonce.
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
      // Beside another of the same payment it is refused, as any other send.
      if (found.has(order)) continue
      const round = 1 + Math.max(again.get(order) ?? 0, ...activities.map(({ by }) => by.round ?? 0))
      const facts = by ?? { activityId: '', createdAt: order.orderedAt, parameters: order.parameters }
      later.push({ ...order, round })
      found.set(order, { ...facts, kind: 'rejected', round })
    } else if (by !== undefined) found.set(order, by)
  }
  // The hour of a later round turns at a time of its own.
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
 * What has a reference of those that were submitted under it, newest first. One that was given up has left it free, as it
 * does in a ledger; the API is asked, and only where another send stands under the reference. The same send is joined even
 * then: it ends as given up, and the same command sends it anew. What was asked for again after a rejection comes before what was
 * rejected.
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

/** What the activities are compared with, and how time passes. */
interface Asking {
  readonly ledger: Pick<PlanStore['sends'], 'knownBodies'>
  /** Activities of which the user said that they are other payments. */
  readonly not: readonly string[]
  readonly now: () => number
  readonly pause: (ms: number) => Promise<unknown>
  /**
   * What was rejected is asked for again: here are those orders that this ledger has as rejected, with the round that was.
   * @default what was rejected is joined, and ends as rejected
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
 * Makes sure that orders were not sent from elsewhere, and gives them to begin: one that was sent under its reference with the
 * time of its body, so that it is joined. Throws `cli/reference-taken` and `cli/sent-elsewhere`.
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

/** Others look for so many rounds, and would take one above for another payment. */
function assertRounds(order: SendOrder): SendOrder {
  if (order.round! <= MOST_ROUNDS) return order
  throw new QuorateError('cli/reference-taken', `\`${order.reference}\` was rejected ${order.round} times`, {
    exit: EXIT.refused,
    facts: { submitted: 'nothing' },
    next: 'give this send a reference of its own',
  })
}

/** Where nobody said the fee, what another machine has offered is joined, unless that is above the cap of this one. */
export function withFeeOf(order: SendOrder, sent: Json): SendOrder {
  if (!isJsonObject(sent) || !isWithinCap(order, sent)) return order
  const { maxFeePerGas, unsignedTransaction } = sent
  const { maxFeePerGas: _, ...asked } = order.parameters as JsonObject
  const offered = typeof asked['unsignedTransaction'] === 'string' ? { unsignedTransaction } : { maxFeePerGas }
  const parameters = inOrder({ ...asked, ...offered } as JsonObject)
  return { ...order, parameters: parameters as SendOrder['parameters'] }
}

/** As many as a reader compares at once. */
const MOST_SHOWN = 5

type Refused = readonly { readonly order: SendOrder; readonly by: SentElsewhere }[]

function takenElsewhere(taken: Refused): QuorateError {
  const [{ order, by }] = taken as readonly [Refused[number]]
  const { which, ids, rest } = summaryOf(taken)
  return new QuorateError('cli/reference-taken', `reference \`${order.reference}\` stands for another send${rest}`, {
    exit: EXIT.refused,
    facts: {
      'that send': canonicalJson(by.parameters),
      activity: by.activityId,
      ...which,
      'how this is known':
        'the time in its request is one that follows from this reference; from another reference it follows once in a million times',
      submitted: 'nothing',
    },
    next: `give this send a reference of its own; if that send has another reference in your records, say so with --not ${ids}`,
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
