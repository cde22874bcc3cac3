/**
 * Local times of an IANA time zone, from the time zone data of `Intl`. A local time that is skipped is moved later by
 * the length of the gap; one that is repeated means its first occurrence: the "compatible" rule (U-cron-dst).
 *
 * Times are milliseconds: an *instant* since the epoch, a *local* time as if the zone were UTC.
 */
export interface Zone {
  readonly offsetAt: (instant: number) => number
  /** The clock of the zone between two instants. */
  readonly clock: (from: number, to: number) => Clock
}

export interface Clock {
  /** The least and the greatest offset in force: `local - instant` always lies between them. */
  readonly leastOffset: number
  readonly mostOffset: number
  readonly toInstant: (local: number) => number
}

const DAY = 86_400_000

/**
 * The zones that were opened last: a text may name one in each line, and the platform takes a hundred times as long to
 * open one as to read the text. Nothing but the time zone database is remembered in it.
 */
const opened = new Map<string, Zone>()
const MOST_OPENED = 64

/** Opens a time zone, or says why not. Names are as the time zone database writes them. */
export function openZone(name: string): Zone | { readonly wrong: string; readonly help?: string } {
  const known = opened.get(name)
  if (known !== undefined) return known
  const zone = open(name)
  if ('wrong' in zone) return zone
  if (opened.size >= MOST_OPENED) opened.delete(opened.keys().next().value!)
  opened.set(name, zone)
  return zone
}

function open(name: string): Zone | { readonly wrong: string; readonly help?: string } {
  const wrong = 'is not an IANA time zone'
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return { wrong }
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return { wrong }
  }
  const resolved = format.resolvedOptions().timeZone
  if (resolved !== name && resolved.toLowerCase() === name.toLowerCase())
    return { wrong, help: `did you mean \`${resolved}\`?` }

  const offsetAt = (instant: number): number => {
    const whole = Math.floor(instant / 1000) * 1000
    const part: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(whole)) part[type] = Number(value)
    return Date.UTC(part.year!, part.month! - 1, part.day!, part.hour!, part.minute!, part.second!) - whole
  }

  const convert = (local: number): number => {
    // No zone is further than a day from UTC, and none changes its offset twice in two days.
    const before = offsetAt(local - DAY)
    const after = offsetAt(local + DAY)
    const exact = [local - before, local - after].filter((instant) => instant + offsetAt(instant) === local)
    return exact.length > 0 ? Math.min(...exact) : local - before
  }

  let last: (Clock & { readonly from: number; readonly to: number }) | undefined
  const clock = (start: number, end: number): Clock => {
    // In whole days, and the clock of a longer stretch is right for a shorter one: most requests of a day share one.
    const from = Math.floor(start / DAY)
    const to = Math.ceil(end / DAY)
    if (last !== undefined && last.from <= from && last.to >= to) return last
    const offsets: number[] = []
    for (let day = from - 2; day <= to + 2; day++) offsets.push(offsetAt(day * DAY))
    const leastOffset = Math.min(...offsets)
    const mostOffset = Math.max(...offsets)
    // Most weeks have no transition in them, and then there is nothing to look up.
    const toInstant = leastOffset === mostOffset ? (local: number) => local - leastOffset : convert
    last = { leastOffset, mostOffset, toInstant, from, to }
    return last
  }
  return { offsetAt, clock }
}
