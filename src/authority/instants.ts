/** Moments that the times of policies tell apart. */
import { authorize, childrenOf, compilePolicy, type Expression } from '../policy/index.ts'

const MILLISECOND = 1_000_000n
const MINUTE = 60_000n * MILLISECOND
const MINUTES_IN = { d: 24 * 60, h: 60, m: 1 } as const
const DAY_MINUTES = MINUTES_IN.d
const DAY = BigInt(DAY_MINUTES) * MINUTE
const MS_OF_A_DAY = Number(DAY / MILLISECOND)
const LAST = BigInt(Date.parse('9999-12-31T23:59:59Z')) * MILLISECOND

/** Whether a time is active at a moment; it errs at none of those that exist. */
export function timeReader(time: string): (now: bigint) => 'true' | 'false' | 'error' {
  const compiled = compilePolicy({ id: '', name: '', effect: 'EFFECT_ALLOW', time })
  return (now) => {
    const { outcome } = authorize([compiled], { now, activity: { type: '' }, approvers: [] }).policies[0]!
    return outcome === 'OUTCOME_ALLOW' ? 'true' : outcome === 'OUTCOME_ERROR' ? 'error' : 'false'
  }
}

/** Whether a time is active from a moment on: at each, at none, or at some, which is also said where windows come again. */
export function whenActive(time: string, start: bigint): 'always' | 'never' | 'sometimes' {
  const { written, windows } = momentsIn([time])
  if (windows.length > 0) return 'sometimes'
  const read = timeReader(time)
  const later = [...written.flatMap((at) => [at - MILLISECOND, at, at + MILLISECOND]), LAST].filter((at) => at > start)
  const found = new Set([start, ...later].map(read))
  return !found.has('true') ? 'never' : found.size === 1 ? 'always' : 'sometimes'
}

/** Moments in nanoseconds since the epoch. */
export interface Instants {
  /** The first is the moment that was given; those before it are the last. */
  readonly values: readonly bigint[]
  /** Of each moment, the times that are active at it. */
  readonly active: readonly ReadonlySet<string>[]
  /** Whether no other moment is told apart from all of these. */
  readonly isComplete: boolean
  /** Whether days that might show another were not looked at, because there are too many. */
  readonly isCut: boolean
}

/** How often times are read at most. */
const MOST_READ = 20_000
const [WEEK, YEAR] = [7, 366]
/** After these the calendar comes again: leap days fall on each weekday once, and so does every other date. */
const CALENDAR_YEARS = 28

/**
 * Finds a moment for every combination of times that are active at once: at the start, at the instants that are written and beside them,
 * and wherever a window opens or closes after each of these: in the days that follow, in those after the clocks of a zone change in the
 * next year, and in those beside the dates for which windows are written, in the next year and, for months and for the days from the 29th
 * on, in 28 years. Not looked for is which weekday another date and a change of clocks fall on together after the next year.
 */
export function instantsOf(times: readonly string[], start: bigint): Instants {
  const key = JSON.stringify([times, String(start)])
  const known = remembered.get(key) ?? findInstants(times, start)
  if (!remembered.has(key) && remembered.size >= MOST_REMEMBERED) remembered.delete(remembered.keys().next().value!)
  remembered.set(key, known)
  return known
}

/** Those that were found last: all requests of a plan are decided under the same times at the same moment. */
const remembered = new Map<string, Instants>()
const MOST_REMEMBERED = 64

function findInstants(times: readonly string[], start: bigint): Instants {
  const readers = times.map(timeReader)
  // A window that cannot be read is in a time that errs at every moment.
  const { written, windows } = momentsIn(times.filter((_, index) => readers[index]!(start) !== 'error'))
  const found = new Map<string, bigint>()
  const isLast = (at: bigint) => {
    const key = readers.map((read) => read(at)).join(' ')
    if (!found.has(key)) found.set(key, at)
    return found.size === 2 ** times.length
  }
  const near = written.flatMap((at) => [at, at - 1n, at + 1n, at + MILLISECOND])
  const starts = [start, ...written.filter((at) => at > start)]
  const edges = edgesOf(windows, start)
  const midnights = edges.length === 0 ? [] : starts.map((from) => daysAfter(windows, from))
  const most = Math.max(WEEK + 1, Math.floor(MOST_READ / Math.max(1, edges.length * starts.length * times.length)))
  const inDays = function* (): Generator<bigint> {
    for (const some of midnights) for (const at of some.slice(0, most)) for (const edge of edges) yield at + edge
  }
  const isAll =
    [start, ...near.filter((at) => at > start)].some(isLast) ||
    someOf(inDays(), (at) => at > start && isLast(at)) ||
    near.filter((at) => at < start).some(isLast)
  const active = [...found.keys()].map((key) => {
    const states = key.split(' ')
    return new Set(times.filter((_, index) => states[index] === 'true'))
  })
  const isCut = !isAll && midnights.some((some) => some.length > most)
  return { values: [...found.values()], active, isComplete: isAll || windows.length === 0, isCut }
}

/** The days at whose edges windows may come together as on no day before, those that come first before those of dates. */
function daysAfter(windows: readonly Window[], from: bigint): readonly bigint[] {
  const first = from / DAY
  const days = new Set<bigint>()
  const add = (start: bigint, count: number) => {
    for (let day = 0n; day < count; day++) if (start + day >= first) days.add(start + day)
  }
  // Windows are open for a week at most.
  add(first, 2 * WEEK + 1)
  for (const zone of new Set(windows.map(([, , name]) => name))) {
    const offsets = offsetsAfter(zone, from)
    for (const [week, offset] of offsets.entries())
      if (week > 0 && offset !== offsets[week - 1]) add(first + BigInt(WEEK * (week - 1)), 3 * WEEK + 1)
  }
  const dates = windows.flatMap(datesOf)
  if (dates.length > 0)
    for (let day = 0; day < CALENDAR_YEARS * YEAR; day++) {
      const at = first + BigInt(day)
      const date = new Date(Number(at) * MS_OF_A_DAY)
      for (const { isOf, isOfYears, days: open } of dates)
        if ((day < YEAR || isOfYears) && isOf(date)) add(at - 1n, open + 3)
    }
  return [...days].map((day) => day * DAY)
}

/** The dates for which a window is written, as far as its month and day of the month tell; of one for every day, or for weekdays, nothing. */
function datesOf([cron, duration]: Window) {
  const [, , dayField, monthField, weekdays] = cron.split(' ') as [string, string, string, string, string]
  if (dayField === '*' && monthField === '*') return []
  const [days, months] = [new Set(numbersOf(dayField, 32)), new Set(numbersOf(monthField, 13))]
  const isAnyDay = dayField === '*' || weekdays !== '*'
  return [
    {
      isOf: (date: Date) => months.has(date.getUTCMonth() + 1) && (isAnyDay || days.has(date.getUTCDate())),
      isOfYears: monthField !== '*' || Math.max(...days) > 28,
      /** How many days it lasts, rounded up. */
      days: Math.ceil(minutesOf(duration) / DAY_MINUTES),
    },
  ]
}

/** A window as it is written: `CronSpan(cron, duration, zone)`. */
type Window = readonly [cron: string, duration: string, zone: string]

/** Moments that are written in times, and their windows. */
function momentsIn(times: readonly string[]): {
  readonly written: readonly bigint[]
  readonly windows: readonly Window[]
} {
  const written: bigint[] = []
  const windows: Window[] = []
  const visit = (node: Expression): void => {
    if (node.kind === 'call') {
      const texts = node.args.map((arg) => (arg.kind === 'string' ? arg.value : ''))
      const at = texts.length === 1 ? Date.parse(texts[0]!) : Number.NaN
      if (texts.length === 3) windows.push(texts as unknown as Window)
      else if (!Number.isNaN(at)) written.push(BigInt(at) * MILLISECOND)
    }
    for (const child of childrenOf(node)) visit(child)
  }
  for (const time of times) {
    const tree = compilePolicy({ id: '', name: '', effect: 'EFFECT_ALLOW', time }).time?.tree
    if (tree) visit(tree)
  }
  return { written, windows }
}

/** When in a day of UTC windows open or close, in nanoseconds; where that is very often, each quarter of an hour. */
function edgesOf(windows: readonly Window[], start: bigint): readonly bigint[] {
  const edges = new Set<number>()
  for (const [cron, duration, zone] of windows) {
    const [minutes, hours] = cron.split(' ')
    const lasts = minutesOf(duration)
    for (const offset of new Set(offsetsAfter(zone, start)))
      for (const hour of numbersOf(hours!, 24))
        for (const minute of numbersOf(minutes!, 60)) {
          const opens = 60 * hour + minute - offset
          for (const edge of [opens, opens + lasts]) edges.add(((edge % DAY_MINUTES) + DAY_MINUTES) % DAY_MINUTES)
        }
  }
  const quarters = Array.from({ length: 96 }, (_, quarter) => 15 * quarter)
  return (edges.size > quarters.length ? quarters : [...edges].sort((a, b) => a - b)).map(
    (edge) => BigInt(edge) * MINUTE,
  )
}

/** The numbers of a field of a cron expression. */
function numbersOf(field: string, end: number): readonly number[] {
  if (field === '*') return Array.from({ length: end }, (_, number) => number)
  return field.split(',').flatMap((item) => {
    const [from, to = from] = item.split('-').map(Number) as [number, number?]
    return Array.from({ length: to - from + 1 }, (_, index) => from + index)
  })
}

function minutesOf(duration: string): number {
  return [...duration.matchAll(/(\d+)([dhm])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * MINUTES_IN[unit as 'd'],
    0,
  )
}

/** The offsets of a zone at a moment and after each week of the year that follows, in minutes. */
function offsetsAfter(timeZone: string, start: bigint): readonly number[] {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  const weeks = Array.from(
    { length: YEAR / WEEK + 1 },
    (_, week) => Number(start / MILLISECOND) + week * WEEK * MS_OF_A_DAY,
  )
  return weeks.map((at) => {
    const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')!.value
    const [, sign, hours, minutes] = /^GMT([+-])(\d\d):(\d\d)/.exec(name) ?? ['', '+', '0', '0']
    return Number(`${sign}1`) * (60 * Number(hours) + Number(minutes))
  })
}

function someOf(moments: Iterable<bigint>, isIt: (at: bigint) => boolean): boolean {
  for (const at of moments) if (isIt(at)) return true
  return false
}
