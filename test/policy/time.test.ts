import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isInSpan, parseCron, parseDuration } from '../../src/policy/cron.ts'
import { parseInstant } from '../../src/policy/instant.ts'
import { openZone, type Zone } from '../../src/policy/zone.ts'
import { evaluate } from './harness.ts'

function nanoseconds(text: string): bigint {
  const instant = parseInstant(text)
  if ('wrong' in instant) throw new Error(instant.wrong)
  return instant.nanoseconds
}

const at = (now: string, time: string) => evaluate('time', time, { now: nanoseconds(now) })

describe('time: timestamps', () => {
  test.each([
    ['1970-01-01T00:00:00Z', 0n],
    ['2026-01-31t12:00:00z', 1769860800_000_000_000n],
    ['2026-01-31T12:00:00+00:00', 1769860800_000_000_000n],
    ['2026-01-31T12:00:00.000000001-00:00', 1769860800_000_000_001n],
    ['1969-12-31T23:59:59.5Z', -500_000_000n],
    ['2024-02-29T00:00:00Z', 1709164800_000_000_000n],
  ])('time: %s', (text, expected) => {
    expect(nanoseconds(text)).toBe(expected)
  })

  test.each([
    '2026-01-31',
    '2026-01-31 12:00:00Z',
    '2026-01-31T12:00Z',
    '2026-01-31T12:00:00',
    '2026-01-31T12:00:60Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T12:00:00+01:00',
    '2026-01-31T12:00:00.Z',
    '2026-01-31T12:00:00.0000000001Z',
    '2026-13-01T00:00:00Z',
    '2025-02-29T00:00:00Z',
    ' 2026-01-31T12:00:00Z',
    '',
  ])('time: %j is refused', (text) => {
    expect(parseInstant(text)).toHaveProperty('wrong')
  })

  test('time: all six operators compare timestamps', () => {
    const t = (operator: string) => at('2026-01-31T12:00:00Z', `time.now ${operator} Timestamp('2026-01-31T12:00:00Z')`)
    expect(['==', '!=', '<', '<=', '>', '>='].map(t)).toEqual(['true', 'false', 'false', 'true', 'false', 'true'])
    expect(at('2026-01-31T12:00:00.000000001Z', "time.now > Timestamp('2026-01-31T12:00:00Z')")).toBe('true')
  })
})

describe('time: cron', () => {
  test.each(['* * * * *', '0,30 9-17 1-7,15 1,6-8 1-5', '59 23 31 12 6', '0 0 * * 0'])('time: %s is a cron', (text) => {
    expect(parseCron(text)).not.toHaveProperty('wrong')
  })

  test.each([
    '',
    '* * * *',
    '* * * * * *',
    '*  * * * *',
    ' * * * * *',
    '*/5 * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * 32 * *',
    '* * * 0 *',
    '* * * 13 *',
    '* * * JAN *',
    '* * * * 7',
    '* * * * MON',
    '5-1 * * * *',
    '1,,2 * * * *',
    '1, * * * *',
    '-1 * * * *',
    '1-2-3 * * * *',
    '*,1 * * * *',
    '@daily',
    '1.5 * * * *',
  ])('time: %j is no cron', (text) => {
    expect(parseCron(text)).toHaveProperty('wrong')
  })

  test.each([
    ['8h', 8 * 3_600_000],
    ['90m', 90 * 60_000],
    ['1d12h', 36 * 3_600_000],
    ['1d1h1m', 90_060_000],
    ['168h', 604_800_000],
    ['7d', 604_800_000],
  ])('time: %s lasts %i ms', (text, milliseconds) => {
    expect(parseDuration(text)).toEqual({ milliseconds })
  })

  test.each([
    '',
    '0m',
    '0d0h',
    '7d1m',
    '169h',
    '1.5h',
    '8H',
    '1h1d',
    '1h1h',
    '30s',
    '1 h',
    'h',
    '-1h',
    '99999999999999999999d',
  ])('time: %j is no duration', (text) => {
    expect(parseDuration(text)).toHaveProperty('wrong')
  })

  test.each(['UTC', 'Europe/Oslo', 'US/Pacific', 'Etc/GMT+5', 'Asia/Kolkata', 'America/Argentina/Buenos_Aires'])(
    'time: %s is a zone',
    (name) => {
      expect(openZone(name)).toHaveProperty('offsetAt')
    },
  )

  test.each(['', '+02:00', 'europe/oslo', 'utc', 'Mars/Olympus', 'Europe/Oslo ', '05:00'])(
    'time: %j is no zone',
    (name) => {
      expect(openZone(name)).toHaveProperty('wrong')
    },
  )
})

/** The night shift of the specification: eight hours from 22:00 in New York. */
const NIGHT = "CronSpan('0 22 * * *', '8h', 'America/New_York')"

describe('time: daylight saving', () => {
  test.each([
    // An ordinary night ends at 06:00 local.
    ['2026-01-15T02:59:59Z', NIGHT, 'false'],
    ['2026-01-15T03:00:00Z', NIGHT, 'true'],
    ['2026-01-15T10:59:59.999999999Z', NIGHT, 'true'],
    ['2026-01-15T11:00:00Z', NIGHT, 'false'],
    // Clocks go forward on 8 March 2026: the window that opened at 03:00Z ends at 11:00Z, 07:00 local.
    ['2026-03-08T10:59:59Z', NIGHT, 'true'],
    ['2026-03-08T11:00:00Z', NIGHT, 'false'],
    // Clocks go back on 1 November 2026: it opened at 02:00Z and ends at 10:00Z, 05:00 local.
    ['2026-11-01T09:59:59Z', NIGHT, 'true'],
    ['2026-11-01T10:00:00Z', NIGHT, 'false'],
    // 02:30 is skipped on 8 March: it fires later by the gap, at 03:30 local, 07:30Z.
    ['2026-03-08T07:29:59Z', "CronSpan('30 2 * * *', '1h', 'America/New_York')", 'false'],
    ['2026-03-08T07:30:00Z', "CronSpan('30 2 * * *', '1h', 'America/New_York')", 'true'],
    ['2026-03-08T08:30:00Z', "CronSpan('30 2 * * *', '1h', 'America/New_York')", 'false'],
    // 01:30 comes twice on 1 November: it fires at the first, 05:30Z, not at 06:30Z.
    ['2026-11-01T05:30:00Z', "CronSpan('30 1 * * *', '10m', 'America/New_York')", 'true'],
    ['2026-11-01T06:30:00Z', "CronSpan('30 1 * * *', '10m', 'America/New_York')", 'false'],
    // Lord Howe moves by half an hour: 02:15 is skipped on 4 October 2026 and fires at 02:45 local, 15:45Z.
    ['2026-10-03T15:44:59Z', "CronSpan('15 2 * * *', '5m', 'Australia/Lord_Howe')", 'false'],
    ['2026-10-03T15:45:00Z', "CronSpan('15 2 * * *', '5m', 'Australia/Lord_Howe')", 'true'],
    // Samoa had no 30 December 2011: its noon fires a day later, at noon of the 31st, 22:00Z on the 30th.
    ['2011-12-30T22:00:00Z', "CronSpan('0 12 30 12 *', '1h', 'Pacific/Apia')", 'true'],
    ['2011-12-30T21:59:59Z', "CronSpan('0 12 30 12 *', '1h', 'Pacific/Apia')", 'false'],
    // Half-hour zones and the far east of the date line.
    ['2026-01-15T03:30:00Z', "CronSpan('0 9 15 1 *', '1m', 'Asia/Kolkata')", 'true'],
    ['2026-01-14T10:00:00Z', "CronSpan('0 0 15 1 *', '1m', 'Pacific/Kiritimati')", 'true'],
    // A week may still be open.
    ['2026-01-11T23:59:59Z', "CronSpan('0 0 5 * *', '7d', 'UTC')", 'true'],
    ['2026-01-12T00:00:00Z', "CronSpan('0 0 5 * *', '7d', 'UTC')", 'false'],
    // Nine windows a day, not one.
    ['2026-01-15T09:05:00Z', "CronSpan('0 9-17 * * 1-5', '10m', 'UTC')", 'true'],
    ['2026-01-15T09:10:00Z', "CronSpan('0 9-17 * * 1-5', '10m', 'UTC')", 'false'],
    // One of the two day fields alone decides, both together either.
    ['2026-01-16T00:00:00Z', "CronSpan('0 0 * * 5', '1m', 'UTC')", 'true'],
    ['2026-01-16T00:00:00Z', "CronSpan('0 0 17 * *', '1m', 'UTC')", 'false'],
    ['2026-01-16T00:00:00Z', "CronSpan('0 0 17 * 5', '1m', 'UTC')", 'true'],
    ['2026-01-16T00:00:00Z', "CronSpan('0 0 17 2 5', '1m', 'UTC')", 'false'],
  ])('time: at %s, %s is %s', (now, span, expected) => {
    expect(at(now, span)).toBe(expected)
  })

  test('time: a span agrees with trying every minute of the zone', () => {
    const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Apia']
    const opened = new Map(zones.map((name) => [name, openZone(name) as Zone]))
    // None of these changes its offset within a quarter of an hour.
    const offsets = new Map<string, number>()
    const offsetAt = (name: string, instant: number) => {
      const quarter = Math.floor(instant / 900_000)
      const key = `${name} ${quarter}`
      const known = offsets.get(key) ?? opened.get(name)!.offsetAt(quarter * 900_000)
      offsets.set(key, known)
      return known
    }
    const start = Date.UTC(2026, 2, 1)
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: 0, max: 59 }),
        fc.integer({ min: 0, max: 23 }),
        fc.constantFrom('*', '1', '8', '29'),
        fc.constantFrom('*', '0', '1-5'),
        fc.integer({ min: 1, max: 3000 }),
        fc.integer({ min: 0, max: 60 * 24 * 45 }),
        (zoneName, minute, hour, day, weekday, durationMinutes, offsetMinutes) => {
          const zone = opened.get(zoneName)!
          const cron = parseCron(`${minute} ${hour} ${day} * ${weekday}`)
          if ('wrong' in cron) throw new Error(cron.wrong)
          const now = start + offsetMinutes * 60_000
          // Every minute of elapsed time whose local reading matches; skipped and repeated readings are left to the table.
          let open = false
          let ambiguous = false
          for (let instant = now; instant > now - durationMinutes * 60_000; instant -= 60_000) {
            const offset = offsetAt(zoneName, instant)
            if (offset !== offsetAt(zoneName, instant - 10_800_000)) ambiguous = true
            const local = new Date(instant + offset)
            open ||= local.getUTCMinutes() === minute && local.getUTCHours() === hour && cron.matchesDay(local)
          }
          fc.pre(!ambiguous)
          expect(isInSpan(BigInt(now) * 1_000_000n, cron, durationMinutes * 60_000, zone)).toBe(open)
        },
      ),
      { numRuns: 60 },
    )
  })
})
