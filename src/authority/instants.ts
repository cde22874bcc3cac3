/** Moments that the times of policies tell apart. */
import { authorize, childrenOf, compilePolicy, type Expression } from '../policy/index.ts'

const MILLISECOND = 1_000_000n
const MINUTE = 60_000n * MILLISECOND
const MINUTES_IN = { d: 24 * 60, h: 60, m: 1 } as const
const DAY_MINUTES = MINUTES_IN.d
const DAY = BigInt(DAY_MINUTES) * MINUTE
const MS_OF_A_DAY = Number(DAY / MILLISECOND)

/** Whether a time is active at a moment; it errs at none of those that exist. */
export function timeReader(time: string): (now: bigint) => 'true' | 'false' | 'error' {
  const compiled = compilePolicy({ id: '', name: '', effect: 'EFFECT_ALLOW', time })
  return (now) => {
    const { outcome } = authorize([compiled], { now, activity: { type: '' }, approvers: [] }).policies[0]!
    return outcome === 'OUTCOME_ALLOW' ? 'true' : outcome === 'OUTCOME_ERROR' ? 'error' : 'false'
  }
}

/** Whether a time is active from a moment on: at each, at none, or at some, which is also said where there are too many to look at. */
export function whenActive(time: string, start: bigint): 'always' | 'never' | 'sometimes' {
  const { values, active, isCut } = instantsOf([time], start)
  const found = new Set(active.filter((_, index) => values[index]! >= start).map((now) => now.has(time)))
  if (isCut || found.size > 1) return 'sometimes'
  return found.has(true) ? 'always' : 'never'
}

/** Moments in nanoseconds since the epoch. */
export interface Instants {
  /** The first is the moment that was given; those before it are the last. */
  readonly values: readonly bigint[]
  /** Of each moment, the times that are active at it. */
  readonly active: readonly ReadonlySet<string>[]
  /** Whether no other moment is told apart from all of these, be it past or to come. */
  readonly isComplete: boolean
  /** Whether moments to come that might show another were not looked at, because there are too many. */
  readonly isCut: boolean
}

/** How often times are read at most in the days that are looked at after the first week. */
const MOST_READ = 20_000
/** When in a day times are read where windows open and close too often to be followed for a week. */
const QUARTERS = Array.from({ length: 96 }, (_, quarter) => BigInt(15 * quarter) * MINUTE)
const [WEEK, YEAR] = [7, 366]
/**
 * Within these every calendar comes again: that of a year of 365 days within 12 years, and that of a leap year within 28, or within 40 where
 * a year such as 2100 between has no 29th of February. Within one of them the 13th is a Friday and the clocks change on the 25th of March.
 */
const CALENDAR_YEARS = 40
/** Within these the clocks of two zones have changed as many days apart as they ever do: on Sundays of a month, which begins on each weekday once. */
const CLOCK_YEARS = 12

/**
 * Finds a moment for every combination of times that are active at once: at the start, at the instants that are written and beside them,
 * and wherever a window opens or closes after each of these. Of days on which the same windows are or stay open at the same hours, one is
 * looked at: in the two weeks that follow where windows are for days of the week alone, in the next year where the clocks of their zone
 * change, in 12 where several zones do, and in 40 where windows are for days of the month or for months.
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
const MOST_REMEMBERED = 256

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
  let [left, isCut] = [MOST_READ, false]
  const inDays = function* (): Generator<bigint> {
    if (windows.length === 0) return
    const every = edgesOf(windows, starts)
    isCut = every.length > QUARTERS.length && every.length * (WEEK + 1) * times.length > MOST_READ
    const edges = isCut ? QUARTERS : every
    for (const from of starts)
      for (const day of daysAfter(windows, from))
        for (const edge of edges) {
          if (left < times.length && day > from + BigInt(WEEK) * DAY) {
            isCut = true
            return
          }
          left -= times.length
          yield day + edge
        }
  }
  const isAll =
    [start, ...near.filter((at) => at > start)].some(isLast) ||
    someOf(inDays(), (at) => at > start && isLast(at)) ||
    near.filter((at) => at < start).some(isLast)
  const active = [...found.keys()].map((key) => {
    const states = key.split(' ')
    return new Set(times.filter((_, index) => states[index] === 'true'))
  })
  // Windows of the past are not looked for.
  const isOfPast = windows.length > 0 && written.some((at) => at < start)
  return { values: [...found.values()], active, isComplete: isAll || !(isCut || isOfPast), isCut: isCut && !isAll }
}

/** The first of each sort of days, from the one of a moment on: one that begins before the moment is no whole day, and stands beside its sort. */
function* daysAfter(windows: readonly Window[], from: bigint): Generator<bigint> {
  const first = Number(from / DAY)
  // Local days are those of UTC or beside them, and a window that opened days ago is open yet.
  const open = Math.max(...windows.map(([, duration]) => Math.ceil(minutesOf(duration) / DAY_MINUTES)))
  const around = Array.from({ length: open + 4 }, (_, at) => at - open - 2)
  const rules = [...new Map(windows.map((window) => [dayFieldsOf(window).join(' '), dayRuleOf(window)])).values()]
  const zones = [...new Set(windows.map(([, , zone]) => zone))].map(offsetReader)
  const isOfDates = windows.map(dayFieldsOf).some(([day, month]) => day !== '*' || month !== '*')
  const changing = zones.filter((offsetOf) =>
    Array.from({ length: YEAR / WEEK + 1 }, (_, week) => offsetOf(first + WEEK * week)).some(
      (one) => one !== offsetOf(first),
    ),
  )
  const years = isOfDates ? CALENDAR_YEARS : changing.length > 1 ? CLOCK_YEARS : changing.length
  const seen = new Set<string>()
  for (let day = first; day <= first + years * YEAR + 2 * WEEK; day++) {
    const matched = rules.map((isOf) => (isOfDates ? around.map((at) => Number(isOf(day + at))).join('') : day % WEEK))
    // No zone changes its clocks back within days.
    const offsets = changing.map((offsetOf) =>
      offsetOf(day + around[0]!) === offsetOf(day + 1) ? offsetOf(day) : around.map((at) => offsetOf(day + at)).join(),
    )
    const sort = [...matched, ...offsets].join(' ')
    if (seen.has(sort)) continue
    if (day > first) seen.add(sort)
    yield BigInt(day) * DAY
  }
}

/** The fields of a window for the day of the month, the month and the day of the week. */
function dayFieldsOf([cron]: Window): readonly [day: string, month: string, weekday: string] {
  return cron.split(' ').slice(2) as [string, string, string]
}

/** Whether a window opens on a day, counted from the epoch by the clock of its zone. */
function dayRuleOf(window: Window): (day: number) => boolean {
  const fields = dayFieldsOf(window)
  const [days, months, weekdays] = fields.map((field) => new Set(numbersOf(field, 32)))
  const known = new Map<number, boolean>()
  const isOf = (day: number): boolean => {
    const date = new Date(day * MS_OF_A_DAY)
    if (!months!.has(date.getUTCMonth() + 1)) return false
    const [isOfDays, isOfWeekdays] = [days!.has(date.getUTCDate()), weekdays!.has(date.getUTCDay())]
    // With both restricted either suffices.
    return fields[0] === '*' || fields[2] === '*' ? isOfDays && isOfWeekdays : isOfDays || isOfWeekdays
  }
  return (day) => {
    const found = known.get(day) ?? isOf(day)
    known.set(day, found)
    return found
  }
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

/** When in a day of UTC windows open or close, in nanoseconds, by each offset that their zone has within a year after one of the moments. */
function edgesOf(windows: readonly Window[], starts: readonly bigint[]): readonly bigint[] {
  const edges = new Set<number>()
  for (const [cron, duration, zone] of windows) {
    const [minutes, hours] = cron.split(' ')
    const lasts = minutesOf(duration)
    for (const offset of new Set(starts.flatMap((start) => offsetsAfter(zone, start))))
      for (const hour of numbersOf(hours!, 24))
        for (const minute of numbersOf(minutes!, 60)) {
          const opens = 60 * hour + minute - offset
          for (const edge of [opens, opens + lasts]) edges.add(((edge % DAY_MINUTES) + DAY_MINUTES) % DAY_MINUTES)
        }
  }
  return [...edges].sort((a, b) => a - b).map((edge) => BigInt(edge) * MINUTE)
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

/** The offsets of a zone on the day of a moment and after each week of the year that follows, in minutes. */
function offsetsAfter(zone: string, start: bigint): readonly number[] {
  const offsetOf = offsetReader(zone)
  return Array.from({ length: YEAR / WEEK + 1 }, (_, week) => offsetOf(Number(start / DAY) + WEEK * week))
}

const offsetReaders = new Map<string, (day: number) => number>()

/** Reads the offsets of a zone at the beginnings of days of UTC, in minutes; a change is looked for in weeks that end with another offset. */
function offsetReader(timeZone: string): (day: number) => number {
  const known = offsetReaders.get(timeZone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  const read = new Map<number, number>()
  const readAt = (day: number): number => {
    const found = read.get(day)
    if (found !== undefined) return found
    const name = format.formatToParts(day * MS_OF_A_DAY).find(({ type }) => type === 'timeZoneName')!.value
    const [, sign, hours, minutes] = /^GMT([+-])(\d\d):(\d\d)/.exec(name) ?? ['', '+', '0', '0']
    const offset = Number(`${sign}1`) * (60 * Number(hours) + Number(minutes))
    read.set(day, offset)
    return offset
  }
  const offsetOf = (day: number): number => {
    const week = day - (day % WEEK)
    const offset = readAt(week)
    return readAt(week + WEEK) === offset ? offset : readAt(day)
  }
  if (offsetReaders.size >= MOST_ZONES) offsetReaders.delete(offsetReaders.keys().next().value!)
  offsetReaders.set(timeZone, offsetOf)
  return offsetOf
}

/** Of which offsets are remembered. */
const MOST_ZONES = 64

function someOf(moments: Iterable<bigint>, isIt: (at: bigint) => boolean): boolean {
  for (const at of moments) if (isIt(at)) return true
  return false
}
