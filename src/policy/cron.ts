/**
 * Cron spans (docs/protocol/policies.md#time): each time the expression fires at an instant *f*, the window [*f*, *f* +
 * duration) opens; overlapping windows unite. The duration is elapsed time, the fires are local times of the zone.
 */
import type { Zone } from './zone.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const NANOSECONDS = 1_000_000n

/** A window that opened up to seven days ago may still be open. */
export const MAX_DURATION_MS = 7 * DAY

/** The five fields in order; 0 of `day of week` is Sunday, and there is no 7 (U-cron-syntax). */
const fields = [
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day of month', least: 1, most: 31 },
  { name: 'month', least: 1, most: 12 },
  { name: 'day of week', least: 0, most: 6 },
] as const

export interface Cron {
  /** Ascending. */
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly matchesDay: (local: Date) => boolean
}

/** Reads a cron expression, or says what is wrong with it. Fields stand one blank apart (U-cron-syntax). */
export function parseCron(text: string): Cron | { readonly wrong: string } {
  const texts = text.split(' ')
  if (texts.length !== fields.length || texts.includes(''))
    return { wrong: `has ${texts.filter((part) => part !== '').length} fields, expected 5 with single blanks between` }
  const sets: (readonly number[] | '*')[] = []
  for (const [index, field] of fields.entries()) {
    const set = parseField(texts[index]!, field.least, field.most)
    if (set === undefined)
      return {
        wrong: `has \`${texts[index]}\` for the ${field.name}, expected \`*\`, numbers, ranges or lists of ${field.least} to ${field.most}`,
      }
    sets.push(set)
  }
  const [minutes, hours, days, months, weekdays] = sets as [
    FieldValues,
    FieldValues,
    FieldValues,
    FieldValues,
    FieldValues,
  ]
  const has = (set: FieldValues, value: number) => set === '*' || set.includes(value)
  return {
    minutes: minutes === '*' ? range(0, 59) : minutes,
    hours: hours === '*' ? range(0, 23) : hours,
    matchesDay: (local) => {
      if (!has(months, local.getUTCMonth() + 1)) return false
      const day = has(days, local.getUTCDate())
      const weekday = has(weekdays, local.getUTCDay())
      // With both restricted either suffices; with one `*` the other decides alone.
      return days === '*' || weekdays === '*' ? day && weekday : day || weekday
    },
  }
}

type FieldValues = readonly number[] | '*'

/** item = number | number "-" number ; field = "*" | item { "," item } */
function parseField(text: string, least: number, most: number): FieldValues | undefined {
  if (text === '*') return '*'
  const values = new Set<number>()
  for (const item of text.split(',')) {
    const match = /^(\d{1,2})(?:-(\d{1,2}))?$/.exec(item)
    if (match === null) return undefined
    const from = Number(match[1])
    const to = Number(match[2] ?? match[1])
    if (from < least || to > most || from > to) return undefined
    for (const value of range(from, to)) values.add(value)
  }
  return [...values].sort((a, b) => a - b)
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

/** Reads a duration such as `8h`, `90m` or `1d12h` in milliseconds, or says what is wrong with it (U-duration). */
export function parseDuration(text: string): { readonly milliseconds: number } | { readonly wrong: string } {
  const match = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?$/.exec(text)
  if (match === null || text === '')
    return { wrong: 'is not a duration in whole days, hours and minutes, like `1d12h` or `90m`' }
  const [days = 0, hours = 0, minutes = 0] = match.slice(1).map((digits) => Number(digits ?? 0))
  const milliseconds = days * DAY + hours * HOUR + minutes * MINUTE
  if (milliseconds === 0) return { wrong: 'is zero, expected more' }
  if (milliseconds > MAX_DURATION_MS) return { wrong: 'is longer than 7 days' }
  return { milliseconds }
}

/** Whether an instant, in nanoseconds, lies in a window of the span. */
export function isInSpan(nowNanoseconds: bigint, cron: Cron, durationMs: number, zone: Zone): boolean {
  // Fires are whole milliseconds, so [f, f + d) holds the instant exactly when it holds its floor.
  let now = Number(nowNanoseconds / NANOSECONDS)
  if (nowNanoseconds < 0n && nowNanoseconds % NANOSECONDS !== 0n) now -= 1
  const { leastOffset, mostOffset, toInstant } = zone.clock(now - durationMs, now)
  const lastDay = startOfDay(now + mostOffset)
  for (let day = lastDay; day >= startOfDay(now - durationMs + leastOffset); day -= DAY) {
    if (!cron.matchesDay(new Date(day))) continue
    for (const hour of cron.hours) {
      for (const minute of cron.minutes) {
        const local = day + hour * HOUR + minute * MINUTE
        // The bounds spare the conversion of fires that cannot open a window around this instant.
        if (local - mostOffset > now || local - leastOffset + durationMs <= now) continue
        const fire = toInstant(local)
        if (fire <= now && now < fire + durationMs) return true
      }
    }
  }
  return false
}

function startOfDay(local: number): number {
  return Math.floor(local / DAY) * DAY
}
