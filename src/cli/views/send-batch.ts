/** A batch of sends for people: its rows, its progress and its end. */
import type { RowState, SendBatch } from '../../../activities/index.ts'
import { chainName } from '../../chain/index.ts'
import { EXIT, type ExitCode, printable } from '../../diagnostics/index.ts'
import {
  type AlikeReference,
  alikeWords,
  type BatchReport,
  type BatchTotal,
  chainOf,
  countStates,
  type FollowedBatch,
  isDenied,
  type OrderedRow,
  type ReplacedBy,
  rowState,
  SEND_STATES,
  type SendState,
  type Simulation,
  type StandingRow,
} from '../../sending/index.ts'
import { type Io, type Style, writeJsonLine } from '../io.ts'
import { overLine, view } from '../screen.ts'
import { EVENTS_VERSION } from './events.ts'
import { forecastLine } from './explanation.ts'
import { COLOURS, renderNextOfMany, toSendJson } from './send.ts'
import { balanceRows } from './send-balances.ts'
import { named } from './send-words.ts'

/** A file whose rows can all be sent. */
export interface PreparedSendBatch extends Omit<SendBatch, 'rows'> {
  readonly rows: readonly PreparedRow[]
  /** Rows whose references look alike, of which one at least is still to be sent. */
  readonly alike: readonly AlikeReference[]
  /** Of what is still to be sent, without what would be denied. */
  readonly totals: readonly BatchTotal[]
  /** Of what would be denied: it is left out, or nothing is sent. */
  readonly deniedTotals: readonly BatchTotal[]
  /** What that would leave its senders and payees with. */
  readonly simulations: readonly Simulation[]
  /** When somebody stopped the batch of these rows, ISO 8601. */
  readonly stoppedAt?: string
}

interface PreparedRow extends OrderedRow {
  /** How the ledger has it before anything is done: what is done follows from that. */
  readonly state: RowState
  /** How it stands now, which is what is told. */
  readonly stands: StandingRow
  /** It was rejected in this round of its reference, and is asked for again. */
  readonly rejected?: number
}

/** Whether a row is still to be sent: what was begun before goes on by itself, whatever is forecast now. */
export function isOpen({ state, rejected }: Pick<PreparedRow, 'state' | 'rejected'>): boolean {
  return rejected !== undefined || state === 'not begun' || state === 'stopped' || state === 'given up'
}

/** Whether sending a row would only leave a denial behind. */
export function wouldBeDenied(row: PreparedRow): boolean {
  return isOpen(row) && isDenied(row.explanation)
}

/** What a batch will do: denied rows always, all rows where that is asked for, and the totals. */
export const renderSendBatch = view(
  (
    { batchId, file, rows, alike: references, totals, deniedTotals, simulations }: PreparedSendBatch,
    { style, rows: all, skipsDenied }: { readonly style: Style; readonly rows: boolean; readonly skipsDenied: boolean },
  ): string => {
    const shown = rows.filter((one) => all || wouldBeDenied(one))
    const lines = shown.map((one) => {
      const { row, order, description, stands } = one
      const { receiver, amount, call } = description
      const what = call === undefined ? '' : `, ${call.kind === 'decoded' ? call.function : call.selector}`
      const forecast = isOpen(one)
        ? forecastLine(one)
        : `${stateText(rowState(stands).state, stands.replacedBy)} already`
      const outcome = wouldBeDenied(one) ? style.error(forecast) : forecast
      return `  ${style.dim(`line ${row.line}`.padEnd(9))} ${printable(order.reference)}  ${printable(amount.text)}, ${amount.atomic} ${amount.atomicUnit}${printable(what)}  ${printable(order.from)} to ${named(receiver)} on ${chainName(chainOf(order))}  ${outcome}\n`
    })
    const sums = [...totalLines(totals, style), ...deniedLines(deniedTotals, { style, skipsDenied })]
    const before = rows.filter(({ state }) => state !== 'not begun').map(({ stands }) => stands)
    const already = countsInWords(countStates(before.map(rowState)))
    const beginning = already === '' ? [] : [`  ${style.dim('already'.padEnd(9))} ${already}${recordedOf(before)}\n`]
    const outcomes = new Map<string, number>()
    for (const row of rows.filter(isOpen)) {
      const text = forecastLine(row)
      outcomes.set(text, (outcomes.get(text) ?? 0) + 1)
    }
    const forecasts = [...outcomes].map(([text, count]) => `  ${style.dim('forecast'.padEnd(9))} ${count} × ${text}\n`)
    const balances = simulations
      .flatMap((one) => balanceRows(one, { style, isBatch: true }))
      .filter(([name]) => all || name === 'beware')
      .map(([name, text]) => `  ${style.dim(name.padEnd(9))} ${text}\n`)
    const head = `${printable(file)}: ${countOf(rows.length)}, batch ${batchId.slice(0, 12)}\n`
    const parties = rows.filter(isOpen).flatMap(({ description: { lookAlikes = [] } }) => lookAlikes)
    const alike = [...parties, ...references.map((one) => `${alikeWords(one)}${one.isEqual ? SAME : ''}`)]
    const beware = [...new Set(alike)].map((text) => `  ${style.dim('beware'.padEnd(9))} ${style.warning(text)}\n`)
    return [head, ...beginning, ...lines, ...beware, ...sums, ...balances, ...(all ? [] : forecasts)].join('')
  },
)

/** Of how many of them only the ledger is known, and since when. */
function recordedOf(stands: readonly StandingRow[]): string {
  const [oldest, ...others] = stands.flatMap(({ recordedAt }) => recordedAt ?? []).toSorted()
  return oldest === undefined ? '' : `; ${others.length + 1} of them as last recorded, at ${oldest} or later`
}

/** A state, and by which send of the ledger its nonce was taken. */
function stateText(state: SendState, by: ReplacedBy | undefined): string {
  return by === undefined ? state : `${state} by ${printable(by.reference)}`
}

const SAME = ', as this one is: refused unless --not names that one'

/** What the rows of each sender come to, in each currency or token. */
export function totalLines(totals: readonly BatchTotal[], style: Style): readonly string[] {
  return totals.map(({ from, chain, rows: count, amount, funds }) => {
    const held = funds === undefined ? '' : `, of ${funds.text}`
    const short = funds !== undefined && BigInt(funds.atomic) < BigInt(amount.atomic)
    return `  ${style.dim('total'.padEnd(9))} ${printable(`${amount.text} from ${from}`)} on ${chainName(chain)} in ${countOf(count)}${short ? style.warning(`${held}: too little`) : held}\n`
  })
}

/** What of each sender would be denied: no total counts it. */
function deniedLines(
  totals: readonly BatchTotal[],
  { style, skipsDenied }: { readonly style: Style; readonly skipsDenied: boolean },
): readonly string[] {
  const word = skipsDenied ? 'left out' : 'denied'
  const why = skipsDenied ? 'denied' : 'nothing is sent unless --skip-denied leaves it out'
  return totals.map(
    ({ from, chain, rows: count, amount }) =>
      `  ${style.dim(word.padEnd(9))} ${printable(`${amount.text} from ${from}`)} on ${chainName(chain)} in ${countOf(count)}: ${style.warning(why)}\n`,
  )
}

/** The JSON form of a batch that is only looked at. */
export function toPreparedJson({ rows, alike, ...batch }: PreparedSendBatch) {
  const references = alike.map(({ order, like, isEqual, lines }) => {
    return {
      row: lines?.[0],
      reference: order.reference,
      like: { row: lines?.[1], reference: like.reference },
      isEqual,
    }
  })
  return {
    ...batch,
    alike: references,
    rows: rows.map(({ row, state: _, stands, ...one }) => {
      const { progress, isAsked, replacedBy, finality, recordedAt } = stands
      const known = { progress, isAsked, replacedBy, finality, recordedAt }
      return { row: row.line, ...toSendJson({ ...one, ...known }), ...rowState(stands) }
    }),
  }
}

/** Shows how far a batch is. */
export interface SendBatchView {
  progress(progress: FollowedBatch): void
  ended(): void
}

/** How often a log hears of it. */
const LOG_MS = 5_000

/** One line that is written over on a terminal; elsewhere a line when something has changed, and not too often. */
export function createSendBatchView(io: Pick<Io, 'say' | 'live'>, rows: number): SendBatchView {
  let before = ''
  let sayNextAt = 0
  return {
    progress({ counts }) {
      const text = `${countOf(rows)}: ${countsInWords(counts)}`
      if (text === before || Object.keys(counts).length === 0 || (!io.live && Date.now() < sayNextAt)) return
      before = text
      sayNextAt = Date.now() + LOG_MS
      io.say(io.live ? `${overLine}${text}` : `${text}\n`)
    },
    ended() {
      if (io.live && before !== '') io.say(overLine)
    },
  }
}

/** In the order in which a row goes through them. */
const ORDER = Object.keys(SEND_STATES) as readonly SendState[]

export function countsInWords(counts: Readonly<Partial<Record<SendState, number>>>): string {
  return ORDER.flatMap((state) => (counts[state] === undefined ? [] : [`${counts[state]} ${state}`])).join(', ')
}

/** The end of a batch: rows that are not included, and how many are in which state. */
export const renderSendBatchEnd = view((report: BatchReport, style: Style): string => {
  const { file, rows } = report
  const lines = rows
    .filter(({ state }) => !UNLISTED.has(state))
    .map(({ row, reference, state, transactionHash, reason, replacedBy, recordedAt }) => {
      const colour = style[COLOURS[state]]
      const why = reason === undefined ? undefined : printable(reason)
      const parts = [
        `${printable(file)}:${row}`,
        printable(reference),
        colour(stateText(state, replacedBy)),
        transactionHash,
        why,
        recordedAt === undefined ? undefined : style.dim(`as last recorded at ${recordedAt}`),
      ]
      return `  ${parts.filter(Boolean).join('  ')}\n`
    })
  const heldBack = rows.some(({ state }) => state === 'stopped') ? renderHeldBack(report, style) : ''
  // How approvers vote on all rows at once, and how held back ones are sent, is said beside it.
  const steps = rows
    .filter(({ state }) => !UNLISTED.has(state) && state !== 'waiting')
    .map(({ reference, next }) => ({ name: reference, next }))
  return `${lines.join('')}${heldBack}${renderNextOfMany(steps, style)}${renderSum(report)}`
})

/** There may be hundreds of them, and nothing is to be said of each. */
const UNLISTED: ReadonlySet<SendState> = new Set(['included', 'final', 'not begun', 'stopped'])

function renderSum({ rows, counts, batchId }: BatchReport): string {
  return `${countOf(rows.length)}: ${countsInWords(counts)}; batch ${batchId.slice(0, 12)}\n`
}

function renderHeldBack({ stoppedAt, rows }: BatchReport, style: Style): string {
  const held = rows.filter(({ state }) => state === 'stopped')
  return `  ${style.warning('stopped')}  ${stoppedAt}: ${countOf(held.length)} not submitted, ${renderLines(held.map(({ row }) => row))}; --resume sends them\n`
}

/** The rows that a stop held back, and the rows that were submitted before it. */
export const renderStopped = view((report: BatchReport, style: Style): string => {
  const { file, batchId, rows, counts } = report
  const of = (wanted: (state: SendState) => boolean) => rows.filter(({ state }) => wanted(state))
  const held = of((state) => state === 'stopped')
  const unknown = of((state) => state === 'submitting' || state === 'unknown')
  const submitted = of((state) => state !== 'stopped' && !UNTOLD.has(state) && !NEVER_BEGUN.has(state))
  const others = countStates(submitted)
  const word = (text: string) => style.dim(text.padEnd(14))
  const lines = [
    ...(held.length === 0
      ? []
      : [
          `  ${word('not submitted')} ${countOf(held.length)}, ${renderLines(held.map(({ row }) => row))}; none of them will be\n`,
        ]),
    ...(unknown.length === 0
      ? []
      : [
          `  ${word('unknown')} ${countOf(unknown.length)}, ${renderLines(unknown.map(({ row }) => row))}: asked for, and no answer has come; they are followed\n`,
        ]),
    ...(submitted.length === 0
      ? []
      : [
          `  ${word('submitted')} ${countOf(submitted.length)}: ${countsInWords(others)}${submitted.every(({ state }) => SEND_STATES[state].exit !== EXIT.waiting) ? '' : '; followed to their end'}\n`,
        ]),
    ...(counts.waiting === undefined
      ? []
      : [`  ${word('next')} end what waits for approval with \`quorate reject CODE\`\n`]),
    ...(held.length === 0
      ? []
      : [`  ${word('next')} correct ${file} and send it, or send it as it is with --resume\n`]),
  ]
  const batch = `batch ${batchId.slice(0, 12)} of ${file}`
  const head = held.length === 0 ? `Nothing of ${batch} was left to stop.` : `${style.warning('Stopped')} ${batch}.`
  return `${head}\n${lines.join('')}`
})

const UNTOLD: ReadonlySet<SendState> = new Set(['submitting', 'unknown'])
const NEVER_BEGUN: ReadonlySet<SendState> = new Set(['not begun', 'left out', 'taken'])

function countOf(rows: number): string {
  return `${rows} ${rows === 1 ? 'row' : 'rows'}`
}

/** `lines 3, 5 to 9`: of many, which are next to each other. */
function renderLines(lines: readonly number[]): string {
  const runs: [number, number][] = []
  for (const line of lines) {
    const last = runs.at(-1)
    if (last?.[1] === line - 1) last[1] = line
    else runs.push([line, line])
  }
  const shown = runs.slice(0, MOST_RUNS).map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`))
  const more = runs.length > MOST_RUNS ? ' and more' : ''
  return `${lines.length === 1 ? 'line' : 'lines'} ${shown.join(', ')}${more}`
}

const MOST_RUNS = 8

/** A batch as events for machines, one JSON object a line. */
export function createSendBatchEvents(io: Pick<Io, 'out'>, clock: () => number) {
  const emit = (event: string, members: object) =>
    writeJsonLine(io, { event, at: new Date(clock()).toISOString(), ...members })
  let before = ''
  emit('version', { version: EVENTS_VERSION })
  return {
    begun: ({ batchId, organization, file, rows }: SendBatch) =>
      emit('batch', { batchId, organizationId: organization.id, file, rows: rows.length }),
    progress({ counts, submitted }: FollowedBatch) {
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
