/** The rows of a batch as its approver reads them, and what came of the votes. */
import { chainName } from '../../chain/index.ts'
import { printable } from '../../diagnostics/index.ts'
import { shortCode } from '../../plan/index.ts'
import { isWaiting, type Wire } from '../../protocol/index.ts'
import { type AskedRow, type BatchTotal, chainOf, describeSend, type SendDescription } from '../../sending/index.ts'
import type { Style } from '../io.ts'
import { view } from '../screen.ts'
import { statusWord } from './activity.ts'
import { totalLines } from './send-batch.ts'
import { feeForApprover, named } from './send-words.ts'

type VoteOutcome<Done extends string> = Done | `${Done} before` | `not ${Done}` | `perhaps ${Done}`

/** What came of one row. */
export interface RowVote {
  readonly row: AskedRow
  /** What was voted on; with several that wait under one reference, each of them. */
  readonly activity?: Wire.Activity
  readonly outcome: 'ended' | 'absent' | VoteOutcome<'approved'> | VoteOutcome<'rejected'>
  readonly status?: string
  readonly error?: string
}

/**
 * Each row: who is paid, how much in both units, under which reference, for which fee at most, and by which activity; and what
 * those that wait come to.
 */
export const renderApprovalRows = view(
  (
    {
      file,
      rows,
      totals,
      alike,
    }: {
      readonly file: string
      readonly rows: readonly AskedRow[]
      readonly totals: readonly BatchTotal[]
      readonly alike: readonly string[]
    },
    style: Style,
  ): string => {
    const lines = rows.map((row) => {
      const { order, description } = row
      const { receiver, amount } = description
      const code = 'activity' in row ? style.strong(shortCode(row.activity.fingerprint)) : '-'.padEnd(9)
      const what = `${printable(amount.text)}, ${amount.atomic} ${amount.atomicUnit}`
      const parties = `${printable(order.from)} to ${named(receiver)} on ${chainName(chainOf(order))}`
      const parts = [code, printable(order.reference), what, parties, `fee ${feeForApprover(feeOf(row))}`]
      return `  ${style.dim(`line ${row.row.line}`.padEnd(9))} ${parts.join('  ')}${standing(row, style)}\n`
    })
    const beware = alike.map((text) => `  ${style.dim('beware'.padEnd(9))} ${style.warning(printable(text))}\n`)
    return `${printable(file)}: ${rows.length} ${rows.length === 1 ? 'row' : 'rows'}\n${[...lines, ...totalLines(totals, style), ...beware].join('')}`
  },
)

/** Of the activity itself, where there is one: the row says what was meant, the activity what is signed. */
function feeOf(row: AskedRow): SendDescription['fee'] {
  if (!('activity' in row)) return row.description.fee
  const { ethSendTransactionIntent, solSendTransactionIntentV2 } = row.activity.intent
  const intent = ethSendTransactionIntent ?? solSendTransactionIntentV2
  if (!intent) return row.description.fee
  const directory = { addressBook: {}, assets: {}, wallets: [], privateKeys: [] }
  return describeSend({ type: row.order.type, parameters: intent, to: '' }, { directory, interfaces: [] }).fee
}

function standing(row: AskedRow, style: Style): string {
  if (row.kind === 'absent') return `  ${style.warning('nothing was submitted under this reference')}`
  if (row.kind === 'refused') return `  ${style.error(printable(row.why))}`
  return row.kind === 'ended' ? `  ${style.dim(`ended as ${statusWord(row.activity.status)}`)}` : ''
}

/** What came of each row that was voted on now or could not be, and how many of each there are. */
export const renderRowVotes = view((votes: readonly RowVote[], style: Style): string => {
  const lines = votes.flatMap(({ row, outcome, status, error }) => {
    // What was not submitted is said beside its row already.
    if (outcome === 'ended' || outcome === 'absent' || outcome.endsWith(' before')) return []
    const now = status === undefined ? '' : `: ${nowText(row, status)}`
    const colour = outcome === 'approved' || outcome === 'rejected' ? style.good : style.warning
    const why = error === undefined ? '' : `: ${printable(error)}`
    return [`  ${`line ${row.row.line}`.padEnd(9)} ${printable(row.order.reference)}  ${colour(outcome)}${now}${why}\n`]
  })
  const counts = new Map<string, number>()
  for (const { outcome } of votes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  const sum = [...counts]
    .map(([outcome, count]) => `${count} ${outcome === 'absent' ? 'not submitted' : outcome}`)
    .join(', ')
  const rows = new Set(votes.map(({ row }) => row.row.line)).size
  return `${lines.join('')}${rows} ${rows === 1 ? 'row' : 'rows'}: ${sum}\n`
})

export function toRowVoteJson({
  row,
  activity = 'activity' in row ? row.activity : undefined,
  ...vote
}: RowVote): Readonly<Record<string, unknown>> {
  const { order, description } = row
  const { reference, from } = order
  const ofActivity = activity ? { activityId: activity.id, code: shortCode(activity.fingerprint) } : {}
  const { receiver, amount } = description
  return { row: row.row.line, reference, from, receiver, amount, fee: feeOf(row), ...ofActivity, ...vote }
}

/** A row that still waits is not read again: who is needed, a review says. */
function nowText(row: AskedRow, status: string): string {
  if (!isWaiting(status)) return `now ${statusWord(status)}`
  const code = 'activity' in row ? ` ${shortCode(row.activity.fingerprint)}` : ''
  return `still waits for others; \`quorate review${code}\` says for whom`
}
