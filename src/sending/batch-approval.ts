/**
 * What is voted on by the file of a batch: for each row of the file the activity that was submitted under its reference, which must ask for
 * what the row says. The file is the approver's own; nothing that the sender says of an activity counts.
 */
import { roundIn } from '../../activities/index.ts'
import { readSolanaDraft, solanaSendBytes } from '../chain/index.ts'
import type { QueryClient } from '../client/index.ts'
import { isJsonObject, isWaiting, type Wire } from '../protocol/index.ts'
import { alikeWords, findAlikeRows } from './alike-references.ts'
import type { OrderedRow } from './batch-orders.ts'
import { isUnder, LOOK_BACK_MS, parametersOf, paymentOf, readSince, withFeeOf } from './elsewhere.ts'

/** A row of the file, and the activity that has its reference. */
export type AskedRow = OrderedRow &
  (
    | { readonly kind: 'waits' | 'ended'; readonly activity: Wire.Activity }
    /** It asks for something else than the row, or another waits beside it; `why` says which, and `beside` are the others. */
    | {
        readonly kind: 'refused'
        readonly activity: Wire.Activity
        readonly why: string
        readonly beside: readonly Wire.Activity[]
      }
    | { readonly kind: 'absent' }
  )

/** Finds the activities of the rows of a file among the organization's, 90 days back. */
export async function findAskedRows(
  client: QueryClient,
  rows: readonly OrderedRow[],
  now: () => number,
): Promise<readonly AskedRow[]> {
  const activities = await readSince(client, now() - LOOK_BACK_MS)
  const payments = Map.groupBy(rows, ({ order }) => paymentOf(order))
  const same = new Map<OrderedRow, Wire.Activity[]>()
  const other = new Map<OrderedRow, Wire.Activity[]>()
  const add = (to: typeof same, row: OrderedRow, activity: Wire.Activity) =>
    to.set(row, [...(to.get(row) ?? []), activity])
  for (const activity of activities) {
    const parameters = parametersOf(activity)
    const equal = payments.get(paymentOf({ type: activity.type, parameters })) ?? []
    const row = equal.find(({ order }) => roundIn(withFeeOf(order, parameters), activity) !== undefined)
    if (row !== undefined) {
      add(same, row, activity)
      continue
    }
    // What has ended is not voted on: whatever it asked for, it hides no row.
    if (!isWaiting(activity.status)) continue
    const under = rows.find(({ order }) => isUnder(order, activity))
    if (under !== undefined) add(other, under, activity)
  }
  return rows.map((row) => askedRow(row, same.get(row) ?? [], other.get(row) ?? []))
}

function askedRow(row: OrderedRow, same: readonly Wire.Activity[], other: readonly Wire.Activity[]): AskedRow {
  const [differs, ...others] = other
  const [waits, ...more] = same.filter(({ status }) => isWaiting(status))
  if (differs !== undefined) {
    const beside = [...others, ...(waits === undefined ? [] : [waits, ...more])]
    return { ...row, kind: 'refused', activity: differs, why: differenceOf(row, differs), beside }
  }
  if (more.length > 0) {
    const why = `${more.length + 1} activities wait under this reference: ${more.length === 1 ? 'both' : 'all'} would pay`
    return { ...row, kind: 'refused', activity: waits!, why, beside: more }
  }
  if (waits !== undefined) {
    const missing = withoutCeiling(waits)
    return missing === undefined
      ? { ...row, kind: 'waits', activity: waits }
      : { ...row, kind: 'refused', activity: waits, why: missing, beside: [] }
  }
  const [ended] = same
  return ended === undefined ? { ...row, kind: 'absent' } : { ...row, kind: 'ended', activity: ended }
}

/** On Solana the fee is in the transaction. */
function withoutCeiling(activity: Wire.Activity): string | undefined {
  const parameters = parametersOf(activity)
  if (!isJsonObject(parameters)) return undefined
  if (/_SOL_/.test(activity.type)) {
    const isSaid = readSolanaDraft(solanaSendBytes(parameters as never)).budget.unitPrice !== undefined
    return isSaid ? undefined : 'it has no fee ceiling: the service would choose the price of a compute unit'
  }
  if (parameters['maxFeePerGas'] != null) return undefined
  return 'it has no fee ceiling: the service would choose the price of a unit of gas'
}

/** The members in which an activity differs from its row, as both have them. */
function differenceOf({ order }: OrderedRow, activity: Wire.Activity): string {
  const [planned, asked] = [order.parameters, parametersOf(activity)]
  if (!isJsonObject(planned) || !isJsonObject(asked)) return 'it asks for something else'
  const names = [...new Set([...Object.keys(planned), ...Object.keys(asked)])]
  const shown = names.flatMap((name) => {
    const [one, two] = [planned[name] ?? 'nothing', asked[name] ?? 'nothing'].map(String)
    return one === two ? [] : [`${name} is ${two}, and the row says ${one}`]
  })
  return shown.join('; ') || 'it asks for something else'
}

/** In words: what in the rows may be taken for something else, names and addresses of payees and references. */
export function lookAlikesIn(rows: readonly OrderedRow[]): readonly string[] {
  const parties = rows.flatMap(({ description: { lookAlikes = [] } }) => lookAlikes)
  return [...new Set([...parties, ...findAlikeRows(rows).map(alikeWords)])]
}
