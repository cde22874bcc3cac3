import type { BacktestRow, PolicyUsage, RecordedDecision, RecordedOutcome } from '../../analysis/index.ts'
import { waysText } from '../../plan/index.ts'
import type { Style } from '../io.ts'
import { counted, view } from '../screen.ts'

/** Which activities were read. */
export interface Recording {
  /** ISO 8601. */
  readonly since: string
  readonly activities: number
  /** Whether there are older ones in that time, which were not read. */
  readonly isCut: boolean
}

/** The answer of `quorate policy backtest`, and its JSON. */
export interface BacktestView extends Recording {
  /** Whose policies they were decided by. */
  readonly definitions: string
  /** Newest first. */
  readonly rows: readonly BacktestRow[]
}

/** The answer of `quorate policy usage`, and its JSON. */
export interface UsageView extends Recording {
  readonly policies: readonly PolicyUsage[]
  /** Decided by today's policies and people as it was recorded. */
  readonly counted: number
  readonly changed: number
  readonly unknown: number
}

const TITLES: Readonly<Record<RecordedOutcome, string>> = {
  denied: 'would be denied',
  waits: 'would wait for approvals',
  executed: 'would be executed',
  unknown: 'cannot be told',
}

/** Whether an activity would come out otherwise. */
export function differs({ before, after }: Pick<BacktestRow, 'before' | 'after'>): boolean {
  return before.outcome !== 'unknown' && after.outcome !== 'unknown' && before.outcome !== after.outcome
}

/** Whether it cannot be told how an activity would come out. */
export function isUntold({ before, after }: Pick<BacktestRow, 'before' | 'after'>): boolean {
  return before.outcome === 'unknown' || after.outcome === 'unknown'
}

/** What would come out otherwise, alike activities on one line, then how many would not. */
export const renderBacktest = view((report: BacktestView, style: Style): string => {
  const { rows, definitions } = report
  const differing = rows.filter(differs)
  const untold = rows.filter(isUntold)
  const sections = (['denied', 'waits', 'executed'] as const).map((outcome) =>
    section(
      TITLES[outcome],
      differing.filter(({ after }) => after.outcome === outcome),
      style,
    ),
  )
  const moved = rows.filter((one) => !isUntold(one) && one.before.outcome !== one.recorded).length
  return [
    `${style.strong(`${recordingText(report)}, decided again by ${definitions}`)}\n`,
    ...sections,
    section(TITLES.unknown, untold, style),
    `\n${rows.length - differing.length - untold.length} come out as by the policies that live\n`,
    moved === 0
      ? ''
      : style.dim(
          `${moved} came out otherwise when ${moved === 1 ? 'it was' : 'they were'} asked: policies or people have changed since\n`,
        ),
  ].join('')
})

/** A line a policy: how often it was decisive, and when it last was. */
export const renderUsage = view((report: UsageView, style: Style): string => {
  const { policies, counted: known, changed, unknown } = report
  const width = Math.max(0, ...policies.map(({ policy }) => policy.length))
  const lines = policies.map(({ policy, effect, tookPart, decisive, last }) => {
    const times = decisive === 0 ? 'never decisive' : `decisive ${decisive} ${decisive === 1 ? 'time' : 'times'}`
    const more = tookPart > decisive ? `, took part ${tookPart} ${tookPart === 1 ? 'time' : 'times'}` : ''
    const newest = last ? `; last ${last.at} ${kindOf(last.type)} by ${last.by.join(' and ')}` : ''
    return `  ${policy.padEnd(width)}  ${effect.padEnd(5)}  ${decisive === 0 ? style.warning(times) : times}${more}${style.dim(newest)}\n`
  })
  const left = [
    ...(changed > 0 ? [`${changed} that would come out otherwise today: policies or people have changed since`] : []),
    ...(unknown > 0 ? [`${unknown} that cannot be decided again: not all that they were decided by is on record`] : []),
  ]
  return [
    `${style.strong(recordingText(report))}\n`,
    ...lines,
    `\n${counted(known, 'activity', 'activities')} counted\n`,
    left.length === 0 ? '' : style.warning(`not counted: ${left.join('; ')}\n`),
  ].join('')
})

function recordingText({ activities, since, isCut }: Recording): string {
  return `${isCut ? 'the newest ' : ''}${counted(activities, 'activity', 'activities')} since ${since}`
}

function section(title: string, rows: readonly BacktestRow[], style: Style): string {
  if (rows.length === 0) return ''
  const alike = Map.groupBy(
    rows,
    ({ type, by, before, after }) =>
      `${kindOf(type)} by ${by.join(' and ')}: ${whyText(after.outcome === 'unknown' ? after : before.outcome === 'unknown' ? before : after)}`,
  )
  const lines = [...alike].map(([text, [newest, ...others]]) => {
    const times = others.length === 0 ? '' : `${others.length + 1} × `
    return `  ${times}${text} ${style.dim(`${others.length === 0 ? '' : 'newest '}${newest!.activityId} at ${newest!.at}`)}\n`
  })
  return `\n${style.strong(`${title}: ${rows.length}`)}\n${lines.join('')}`
}

/** Why a decision is as it is. */
function whyText({ outcome, reason, needed, policies }: RecordedDecision): string {
  if (outcome === 'executed')
    return policies.length === 0
      ? 'the root quorum has approved it'
      : `${policies.join(', ')} ${policies.length === 1 ? 'allows' : 'allow'} it`
  if (outcome !== 'waits') return `${reason}`
  if (needed === undefined || needed === 'nobody') return 'nobody who has a credential could approve it'
  return needed === 'too-many' ? 'there are too many ways to approve it to try them all' : waysText([needed])
}

function kindOf(type: string): string {
  return type.replace(/^ACTIVITY_TYPE_/, '')
}
