/** A batch of sends for people: what is in it, how far it is, and what came of it. */
import type { RowState, SendBatch, SendBatchProgress } from '../../../activities/index.ts'
import { type ExitCode, printable } from '../../diagnostics/index.ts'
import type { Io, Style } from '../io.ts'
import type { OrderedRow } from '../sending/batch-orders.ts'
import type { BatchTotal } from '../sending/batch-totals.ts'
import { isDenied } from '../sending/carry-out.ts'
import type { BatchReport } from './batch-report.ts'
import { EVENTS_VERSION } from './events.ts'
import { headline } from './explanation.ts'
import { named, toSendJson } from './send.ts'

/** A file whose rows can all be sent. */
export interface PreparedBatch extends Omit<SendBatch, 'rows'> {
  readonly rows: readonly OrderedRow[]
  readonly totals: readonly BatchTotal[]
}

/** What a batch will do: each row where they are asked for, what is denied in any case, and what it comes to. */
export function renderBatch(
  { batchId, file, rows, totals }: PreparedBatch,
  { style, rows: all }: { readonly style: Style; readonly rows: boolean },
): string {
  const shown = rows.filter(({ explanation }) => all || isDenied(explanation))
  const lines = shown.map(({ row, order, description, explanation }) => {
    const { receiver, amount, call } = description
    const what = call === undefined ? '' : `, ${call.kind === 'decoded' ? call.function : call.selector}`
    const { caip2 } = order.parameters as { readonly caip2: string }
    const forecast = headline(explanation)
    const outcome = isDenied(explanation) ? style.error(forecast) : forecast
    return `  ${style.dim(`line ${row.line}`.padEnd(9))} ${printable(order.reference)}  ${amount.text}, ${amount.atomic} ${amount.atomicUnit}${what}  ${order.from} to ${named(receiver)} on ${caip2}  ${outcome}\n`
  })
  const sums = totals.map(({ from, chain, rows: count, amount, funds }) => {
    const held = funds === undefined ? '' : `, of ${funds.text}`
    const short = funds !== undefined && BigInt(funds.atomic) < BigInt(amount.atomic)
    return `  ${style.dim('total'.padEnd(9))} ${amount.text} from ${from} on ${chain} in ${count} ${count === 1 ? 'row' : 'rows'}${short ? style.warning(`${held}: too little`) : held}\n`
  })
  const outcomes = new Map<string, number>()
  for (const { explanation } of rows) {
    const text = headline(explanation)
    outcomes.set(text, (outcomes.get(text) ?? 0) + 1)
  }
  const forecasts = [...outcomes].map(([text, count]) => `  ${style.dim('forecast'.padEnd(9))} ${count} × ${text}\n`)
  const head = `${file}: ${rows.length} ${rows.length === 1 ? 'row' : 'rows'}, batch ${batchId.slice(0, 12)}\n`
  return [head, ...lines, ...sums, ...(all ? [] : forecasts)].join('')
}

/** The JSON form of a batch that is only looked at. */
export function toPreparedJson({ rows, ...batch }: PreparedBatch) {
  return { ...batch, rows: rows.map(({ row, ...one }) => ({ row: row.line, ...toSendJson(one) })) }
}

/** Shows how far a batch is. */
export interface BatchView {
  progress(progress: SendBatchProgress): void
  ended(): void
}

/** How often a log hears of it. */
const LOG_MS = 5_000

/** One line that is written over on a terminal; elsewhere a line when something has changed, and not too often. */
export function createBatchView(io: Pick<Io, 'say' | 'live'>, rows: number): BatchView {
  let before = ''
  let sayNextAt = 0
  return {
    progress({ counts }) {
      const text = `${rows} rows: ${renderCounts(counts)}`
      if (text === before || Object.keys(counts).length === 0 || (!io.live && Date.now() < sayNextAt)) return
      before = text
      sayNextAt = Date.now() + LOG_MS
      // To the start of the line, which is erased (ECMA-48: CR, EL).
      io.say(io.live ? `\r\u001b[K${text}` : `${text}\n`)
    },
    ended() {
      if (io.live && before !== '') io.say('\r\u001b[K')
    },
  }
}

/** In the order in which a row goes through them. */
const ORDER: readonly RowState[] = [
  'not begun',
  'submitting',
  'waiting',
  'broadcasting',
  'included',
  'failed',
  'rejected',
  'taken',
  'left out',
]

function renderCounts(counts: Readonly<Partial<Record<RowState, number>>>): string {
  return ORDER.flatMap((state) => (counts[state] === undefined ? [] : [`${counts[state]} ${state}`])).join(', ')
}

/** What came of a batch: every row that is not included, and how many are in which state. */
export function renderBatchEnd({ file, batchId, rows, counts }: BatchReport, style: Style): string {
  const colours = { failed: style.error, rejected: style.error, taken: style.error } as const
  const lines = rows
    .filter(({ state }) => state !== 'included' && state !== 'not begun')
    .map(({ row, reference, state, transactionHash, reason }) => {
      const colour = colours[state as keyof typeof colours] ?? style.warning
      const why = reason === undefined ? undefined : printable(reason)
      const parts = [`${file}:${row}`, printable(reference), colour(state), transactionHash, why]
      return `  ${parts.filter(Boolean).join('  ')}\n`
    })
  return `${lines.join('')}${rows.length} rows: ${renderCounts(counts)}; batch ${batchId.slice(0, 12)}\n`
}

/** A batch as events for machines, one JSON object a line. */
export function createBatchEvents(io: Pick<Io, 'out'>, clock: () => number) {
  const emit = (event: string, members: object) =>
    io.out(`${JSON.stringify({ event, at: new Date(clock()).toISOString(), ...members })}\n`)
  let before = ''
  emit('version', { version: EVENTS_VERSION })
  return {
    begun: ({ batchId, organization, file, rows }: SendBatch) =>
      emit('batch', { batchId, organizationId: organization.id, file, rows: rows.length }),
    progress({ counts, submitted }: SendBatchProgress) {
      const text = JSON.stringify([counts, submitted])
      if (text !== before) emit('progress', { counts, submitted })
      before = text
    },
    ended() {},
    reported({ rows, counts }: BatchReport, exit: ExitCode) {
      for (const row of rows) emit('row', row)
      emit('end', { counts, exit })
    },
  }
}
