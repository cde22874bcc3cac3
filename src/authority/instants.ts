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
}

/** Of many times that open often, fewer days are looked at than the days of a year. */
const MOST_READ = 20_000
const [WEEK, YEAR] = [7, 366]

/**
 * Finds a moment for every combination of times that are active at once: at the start, at the instants that are written and beside them,
 * and wherever a window opens or closes in the year after each of these.
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
  const reads = edges.length * starts.length * Math.max(1, times.length)
  const days = edges.length === 0 ? 0 : Math.min(YEAR, Math.max(WEEK + 1, Math.floor(MOST_READ / reads)))
  const inDays = function* (): Generator<bigint> {
    for (const from of starts) {
      const midnight = from - (from % DAY)
      for (let day = 0n; day < days; day++) for (const edge of edges) yield midnight + day * DAY + edge
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
  return { values: [...found.values()], active, isComplete: isAll || windows.length === 0 }
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
    const lasts = [...duration.matchAll(/(\d+)([dhm])/g)].reduce(
      (sum, [, count, unit]) => sum + Number(count) * MINUTES_IN[unit as 'd'],
      0,
    )
    for (const offset of offsetsOf(zone, start))
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

/** The offsets of a zone in the year after a moment, in minutes. */
function offsetsOf(timeZone: string, start: bigint): ReadonlySet<number> {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  const months = Array.from({ length: 12 }, (_, month) => Number(start / MILLISECOND) + month * 30 * MS_OF_A_DAY)
  return new Set(
    months.map((at) => {
      const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')!.value
      const [, sign, hours, minutes] = /^GMT([+-])(\d\d):(\d\d)/.exec(name) ?? ['', '+', '0', '0']
      return Number(`${sign}1`) * (60 * Number(hours) + Number(minutes))
    }),
  )
}

function someOf(moments: Iterable<bigint>, isIt: (at: bigint) => boolean): boolean {
  for (const at of moments) if (isIt(at)) return true
  return false
}
