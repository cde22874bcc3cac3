import type { ApplyProgress } from '../../../activities/index.ts'
import { type Forecast, type Plan, renderApprovers, shortCode } from '../../plan/index.ts'
import type { Io, Style } from '../io.ts'
import { counted, oneRowEach, overLines, view } from '../screen.ts'
import type { Carrier, Patience } from '../waiting.ts'
import { ago } from './activity.ts'

type BatchProgress = ApplyProgress['batches'][number]

/** Word and colour of each state a batch can be in. A missing row does not compile. */
const states = {
  pending: { word: 'not started', colour: 'dim' },
  submitting: { word: 'submitting', colour: 'dim' },
  waiting: { word: 'waiting', colour: 'warning' },
  completed: { word: 'done', colour: 'good' },
  failed: { word: 'failed', colour: 'error' },
  rejected: { word: 'rejected', colour: 'error' },
  skipped: { word: 'skipped', colour: 'warning' },
} as const satisfies Record<BatchProgress['state'], { readonly word: string; readonly colour: keyof Style }>

/** One batch in one line: its changes, its state, whose approval it waits for, since when. */
export const renderBatch = view((batch: BatchProgress, style: Style, now: number): string => {
  const { word, colour } = states[batch.state]
  const parts = [style[colour](word.padEnd(11)), batch.summary]
  if (batch.state === 'waiting')
    parts.push(style.strong(batch.fingerprint ? shortCode(batch.fingerprint) : ''), ...votesText(batch, style, now))
  if (batch.error) parts.push(style.error(batch.error.message))
  return `${parts.filter(Boolean).join('  ')}\n`
})

/** Who has approved it, since when it waits, and who must vote again. */
function votesText({ votes, since }: BatchProgress, style: Style, now: number): readonly string[] {
  const { approved = [], lapsed = [] } = votes ?? {}
  const requested = since ? `; requested ${ago(now - Date.parse(since))}` : ''
  const again = lapsed.length > 0 ? [style.warning(`please vote again: ${lapsed.join(', ')}`)] : []
  return [style.dim(`approved by ${approved.join(', ') || 'nobody'}${requested}`), ...again]
}

/** The result table: every step and how it stands. Always shown at the end of an apply, whatever came of it. */
export const renderResult = view((progress: ApplyProgress, style: Style, now: number): string => {
  return rowsOf(progress.batches, style, now) + totalsOf(progress)
})

/** What goes on with an apply once nobody follows it. */
const WHAT_CARRIES_ON: Readonly<Record<Carrier, string>> = {
  background:
    'Then the background process of this machine goes on with the apply; where that is gone, as after a CI job, the next `quorate apply` does.',
  worker:
    'Then a worker of this Temporal server (`quorate worker`) goes on with the apply; where none runs, nothing goes on until one is started.',
}

/** How an apply is told that nobody follows further. */
export interface Rested {
  readonly style: Style
  readonly now: number
  readonly carrier: Carrier
}

/** What came of an apply that nobody follows further: the result table, with what waits last and once, by whom it needs. */
export const renderRest = view((progress: ApplyProgress, plan: Plan, rested: Rested): string => {
  const { style, now } = rested
  if (progress.state !== 'waiting') return renderResult(progress, style, now)
  const others = progress.batches.filter(({ state }) => state !== 'waiting')
  return rowsOf(others, style, now) + totalsOf(progress) + renderWaiting(progress, plan, rested)
})

function rowsOf(batches: readonly BatchProgress[], style: Style, now: number): string {
  return batches.map((batch) => `  ${renderBatch(batch, style, now)}`).join('')
}

function totalsOf(progress: ApplyProgress): string {
  const count = (state: BatchProgress['state']) => progress.batches.filter((batch) => batch.state === state).length
  const totals = (Object.keys(states) as BatchProgress['state'][])
    .map((state) => [count(state), states[state].word] as const)
    .filter(([number]) => number > 0)
    .map(([number, word]) => `${number} ${word}`)
  return `${totals.join(', ') || nothing(progress)}\n`
}

function nothing({ state, error }: ApplyProgress): string {
  if (state === 'done') return 'nothing to do'
  if (state === 'running') return 'nothing is applied yet'
  if (state === 'stale') return 'nothing was applied: the plan is stale'
  return error ? `nothing was applied by this run: ${error.message}` : 'nothing was applied'
}

/** Whether it is being tried, so that an error of it is the answer to the last try. */
function isTried({ state }: BatchProgress): boolean {
  return state === 'submitting' || state === 'pending'
}

/** Whether a try was answered by an error that was not shown yet. */
function isTriedAgain(old: BatchProgress | undefined, batch: BatchProgress): boolean {
  return isTried(batch) && batch.error !== undefined && old?.error?.message !== batch.error.message
}

/** The changes between two looks, one line for each batch; for output that only grows. */
export const renderNews = view(
  (progress: ApplyProgress, before: ApplyProgress | undefined, style: Style, now: number): string => {
    const news = progress.batches.filter((batch, index) => {
      const old = before?.batches[index]
      return (
        (old?.state ?? 'pending') !== batch.state ||
        (old?.votes?.approved.length ?? 0) !== (batch.votes?.approved.length ?? 0) ||
        (old?.votes?.lapsed ?? []).join() !== (batch.votes?.lapsed ?? []).join() ||
        isTriedAgain(old, batch)
      )
    })
    const error =
      progress.error && progress.error.message !== before?.error?.message
        ? `${style.error(progress.error.message)}\n`
        : ''
    const told = news.filter(({ state, error: why }) => state !== 'submitting' || why !== undefined)
    // What is asked for at once is often refused at once, as where a rate is over: that is one piece of news.
    const alike = Map.groupBy(told, (batch) => (isTried(batch) && batch.error?.message) || batch)
    const lines = [...alike.values()].map(([first, ...others]) => {
      const more = others.length > 0 ? ` and ${counted(others.length, 'other activity', 'other activities')}` : ''
      return renderBatch({ ...first!, summary: first!.summary + more }, style, now)
    })
    return lines.join('') + error
  },
)

/** What an apply is at, in one line: the activities that are being submitted or wait, and what the last try was answered. */
export function openInWords({ batches, error }: ApplyProgress): string {
  const open = batches.filter(
    ({ state, error: why }) =>
      state === 'submitting' || state === 'waiting' || (state === 'pending' && why !== undefined),
  )
  const alike = Map.groupBy(open, (batch) => batch.error?.message)
  const said = [...alike].map(([answer, some]) => {
    const steps = some.map(({ state, fingerprint, summary }) => {
      const code = fingerprint ? ` ${shortCode(fingerprint)}` : ''
      return `${states[state].word}${code} ${summary}`
    })
    return steps.join('; ') + (answer === undefined ? '' : `, last answer: ${answer}`)
  })
  const parts = [...said, ...(error ? [error.message] : [])]
  return parts.length > 0 ? parts.join('; ') : 'its next step is being prepared'
}

/**
 * Shows progress as it comes: redrawn in place on a terminal, with who may vote on what waits; otherwise one line for each thing
 * that changed, and one every ten seconds while nothing does. Throws `cli/still-runs` after `--wait`.
 * @param now the time as the API has it, whose activities wait
 */
export function createProgressView(
  io: Io,
  { now, patience }: { readonly now: () => number; readonly patience?: Patience },
): (progress: ApplyProgress, before: ApplyProgress | undefined, plan: Plan | undefined) => void {
  let drawn = 0
  return (progress, before, plan) => {
    const news = renderNews(progress, before, io.style, now())
    patience?.look(() => openInWords(progress), news !== '')
    if (!io.live) return io.say(news)
    if (patience?.hasSpoken()) drawn = 0
    const drawing = renderLive(progress, plan, io.style, now())
    io.say(overLines(drawn) + oneRowEach(drawing))
    drawn = drawing.split('\n').length - 1
  }
}

/** Who may still vote: the smallest sets of users, of which any one suffices. */
interface Needs {
  /** At most 20 sets; `any` says all of them where they are those of `count` people out of `of`. */
  readonly needed: Waits['needed']
  readonly any?: Waits['any']
}

/** The progress as data: each activity that waits with who may still vote, as the plan foresaw it; those who have are left out. */
export function withNeeds(progress: ApplyProgress, plan: Plan | undefined): object {
  const batches = progress.batches.map((batch): BatchProgress & { readonly needs?: Needs } => {
    const needs = needsOf(batch, plan, progress)
    return needs ? { ...batch, needs } : batch
  })
  return { ...progress, batches }
}

type Waits = Extract<Forecast, { readonly outcome: 'waits' }>

/** Whose approvals one that waits still needs, as the plan foresaw it, without those who have approved; undefined where it foresaw another outcome. */
function waitsOf(batch: BatchProgress, plan: Plan | undefined, { planDigest }: ApplyProgress): Waits | undefined {
  // The apply of an earlier plan may be what waits; its batches have other numbers.
  const found = plan?.waiting?.find(({ fingerprint }) => fingerprint === batch.fingerprint)
  const index = found?.batch ?? (plan?.digest === planDigest ? batch.index : undefined)
  const forecast = index === undefined ? undefined : plan?.batches[index]?.forecast
  if (batch.state !== 'waiting' || forecast?.outcome !== 'waits') return undefined
  const approved = new Set(batch.votes?.approved)
  const others = (names: readonly string[]) => names.filter((name) => !approved.has(name))
  const left = forecast.needed.map(others)
  const fewest = Math.min(...left.map(({ length }) => length))
  // Those who were foreseen have approved, and it waits all the same: for whom, the plan does not say.
  if (fewest === 0) return undefined
  const { any } = forecast
  const of = others(any?.of ?? [])
  return {
    ...forecast,
    needed: left.filter(({ length }) => length === fewest),
    ...(any ? { any: { count: any.count - (any.of.length - of.length), of } } : {}),
  }
}

function needsOf(batch: BatchProgress, plan: Plan | undefined, progress: ApplyProgress): Needs | undefined {
  const waits = waitsOf(batch, plan, progress)
  return waits && { needed: waits.needed, ...(waits.any ? { any: waits.any } : {}) }
}

/** What to do about an apply, or a step of it, that ended otherwise than done; nothing while it is tried again. */
export const renderAdvice = view(nextText)

function nextText({ batches, error, state }: ApplyProgress): string {
  const ended = batches.flatMap((batch) => {
    const next = batch.state === 'submitting' ? undefined : batch.error?.next
    if (next === undefined) return []
    // Whom to ask, and for what, is another thing of each.
    return [batch.state === 'rejected' ? `${nameOf(batch)}: ${next}` : next]
  })
  const next = new Set([...ended, ...(state === 'running' || !error?.next ? [] : [error.next])])
  return [...next].map((one) => `next: ${one}\n`).join('')
}

/** `create tag ops (515a-e7d6)`. */
function nameOf({ summary, fingerprint }: BatchProgress): string {
  return fingerprint === undefined ? summary : `${summary} (${shortCode(fingerprint)})`
}

/** What is redrawn while somebody follows. */
const renderLive = view(
  (progress: ApplyProgress, plan: Plan | undefined, style: Style, now: number): string =>
    rowsOf(progress.batches, style, now) + votersText(progress, plan, style),
)

/** Whom each activity that waits is for, and how they vote, one line each. */
function votersText(progress: ApplyProgress, plan: Plan | undefined, style: Style): string {
  const lines = progress.batches.flatMap((batch) => {
    if (batch.state !== 'waiting') return []
    const code = shortCode(batch.fingerprint ?? '')
    if (progress.state === 'cancelled')
      return [
        `${style.strong(code)} may still be approved, and is then carried out; \`quorate reject ${code}\` ends it\n`,
      ]
    const waits = waitsOf(batch, plan, progress)
    const who = waits ? renderApprovers(waits) : 'an approver'
    return [`${style.strong(code)} waits for ${who}, who votes with \`quorate approve ${code}\`\n`]
  })
  return lines.join('')
}

/** How an apply stands: what came of each step, whom those that wait are for and how they vote, and what to do about one that ended otherwise. */
export const renderStanding = view(
  (progress: ApplyProgress, plan: Plan | undefined, style: Style, now: number): string => {
    const result = renderResult(progress, style, now)
    const why = progress.error && !result.includes(progress.error.message) ? `${progress.error.message}\n` : ''
    return `${result}${why}${votersText(progress, plan, style)}${nextText(progress)}`
  },
)

/** The activities that wait, whose approvals they need, how to vote, and what carries the apply on after that. */
export const renderWaiting = view((progress: ApplyProgress, plan: Plan, { style, now, carrier }: Rested): string => {
  const lines = progress.batches
    .filter(({ state }) => state === 'waiting')
    .map((batch) => {
      const { summary, activityId, fingerprint } = batch
      const waits = waitsOf(batch, plan, progress)
      const who = waits ? renderApprovers(waits) : 'an approver'
      const more = [...votesText(batch, style, now), style.dim(`activity ${activityId}, fingerprint ${fingerprint}`)]
      return `  ${style.strong(shortCode(fingerprint ?? ''))}  ${summary}, waits for ${who}\n             ${more.join('; ')}\n`
    })
  return `Waiting for approval:\n${lines.join('')}Each of them votes with \`quorate approve CODE\`. ${WHAT_CARRIES_ON[carrier]}\n`
})
