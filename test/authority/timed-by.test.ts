/** Policies whose times may change an answer, and at which moments. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { instantsOf, timedBy, whenActive } from '../../src/authority/index.ts'
import { authorize, compilePolicy, type PolicyContext, type PolicyText } from '../../src/policy/index.ts'
import { runs } from '../runs.ts'

const NIGHT = "CronSpan('0 20 * * *', '9h', 'UTC')"
const REQUEST: PolicyContext = {
  now: BigInt(Date.parse('2026-01-01T12:00:00Z')) * 1_000_000n,
  activity: { type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' },
  approvers: [{ id: 'u-ana', tags: [] }],
}

function named(...texts: readonly Partial<PolicyText>[]): readonly string[] {
  const policies = texts.map((text, index) =>
    compilePolicy({ id: `id${index}`, name: `p${index}`, effect: 'EFFECT_ALLOW', ...text }),
  )
  return timedBy(policies, REQUEST, (some) => authorize(some, REQUEST).outcome === 'OUTCOME_ALLOW')
}

test('authority: policies whose times may change what comes of a request are named', () => {
  expect(named({ time: NIGHT })).toEqual(['p0'])
  expect(named({ time: NIGHT, effect: 'EFFECT_DENY' }, {})).toEqual(['p0'])
  expect(named({ time: NIGHT }, {})).toEqual([])
  expect(named({ time: NIGHT, condition: "activity.action == 'EXPORT'" })).toEqual([])
  expect(named({ time: "time.now >= Timestamp('1970-01-01T00:00:00Z')" })).toEqual([])
  // They take turns, or somebody is always allowed.
  const day = "CronSpan('0 5 * * *', '15h', 'UTC')"
  expect(named({ time: NIGHT }, { time: day })).toEqual([])
  const spans = [1, 2, 3, 4, 5].map((hour) => ({ time: `CronSpan('0 ${hour} * * *', '1h', 'UTC')` }))
  expect(named({}, ...spans)).toEqual([])
  expect(named(...spans)).toEqual(['p0', 'p1', 'p2', 'p3', 'p4'])
  // Open together on the first night of a year alone.
  const deny = { effect: 'EFFECT_DENY', time: "CronSpan('0 3 1 1 *', '1m', 'UTC')" } as const
  expect(named({ time: NIGHT }, deny)).toEqual(['p0', 'p1'])
  expect(named({ time: day }, deny)).toEqual(['p0'])
})

test('authority: a policy that opens first after a year is named, and one that never opens is not', () => {
  const saturdays = { time: "CronSpan('0 0 * * 6', '1d', 'UTC')" }
  const closes = (cron: string, zone = 'UTC') =>
    ({ effect: 'EFFECT_DENY', time: `CronSpan('${cron}', '1h', '${zone}')` }) as const
  expect(named({}, closes('0 3 29 2 *'))).toEqual(['p1'])
  expect(named({}, closes('0 3 30 2 *'))).toEqual([])
  // New Year's Day is a Saturday in 2028, the 29th of February is one in 2048, and neither is before.
  expect(named(saturdays, closes('0 3 1 1 *'))).toEqual(['p0', 'p1'])
  expect(named(saturdays, closes('0 3 29 2 *', 'Asia/Tokyo'))).toEqual(['p0', 'p1'])
  // Sundays of February, too, where a date beside the weekday never comes.
  expect(named({}, closes('0 3 30 2 0'))).toEqual(['p1'])
  // By the clock of a zone this is a Saturday in one half of the year alone.
  expect(named(saturdays, closes('30 1 * * 0', 'Europe/Zurich'))).toEqual(['p0', 'p1'])
})

test('authority: where not every moment was looked at, each policy is named that takes part at some time', () => {
  const many = Array.from({ length: 6 }, (_, at) => ({ time: `CronSpan('${at} * * 12 *', '1m', 'Europe/Oslo')` }))
  expect(named({}, ...many, { time: NIGHT, condition: "activity.action == 'EXPORT'" })).toEqual(
    many.map((_, at) => `p${at + 1}`),
  )
})

const nanoseconds = (at: string) => BigInt(Date.parse(at)) * 1_000_000n
const span = (cron: string, duration: string, zone = 'UTC') => `CronSpan('${cron}', '${duration}', '${zone}')`

test('authority: when times are open together is found where they first are after years', () => {
  const together = (start: string, ...times: readonly string[]) => {
    const { values, active, isCut } = instantsOf(times, nanoseconds(start))
    const at = active.findIndex(({ size }) => size === times.length)
    const moment = at === -1 ? 'never' : new Date(Number(values[at]! / 1_000_000n)).toISOString()
    return isCut ? 'cut' : moment
  }
  const [fridays, thirteenths] = [span('0 0 * * 5', '1d'), span('0 3 13 * *', '1h')]
  expect(together('2029-07-14T00:00:00Z', fridays, thirteenths)).toBe('2030-09-13T03:00:00.000Z')
  expect(together('2026-07-01T00:00:00Z', fridays, thirteenths, span('0 0 * 6 *', '1d'))).toBe(
    '2031-06-13T03:00:00.000Z',
  )
  // The 13th begins at ten of the evening before in summer alone, by the clock of UTC.
  const byOslo = span('0 0 13 * *', '1h', 'Europe/Oslo')
  expect(together('2026-01-01T12:00:00Z', byOslo, span('0 22 * * 4', '1h'))).toBe('2027-08-12T22:00:00.000Z')
  // No hour is skipped or repeated but on Sundays: on the 25th of March, after years.
  const skipped = [span('30 2 25 * *', '10m', 'Europe/Oslo'), span('30 3 25 * *', '10m', 'Europe/Oslo')]
  expect(together('2026-01-01T12:00:00Z', ...skipped)).toBe('2029-03-25T01:30:00.000Z')
  expect(together('2080-03-01T00:00:00Z', span('0 0 29 2 *', '1d'), span('0 0 * * 6', '1d'))).toBe(
    '2116-02-29T00:00:00.000Z',
  )
  expect(together('2026-01-01T12:00:00Z', fridays, span('0 0 * * 4', '1d'))).toBe('never')
})

test('authority: a time that never opens, and one that never closes, is told as such', () => {
  const when = (time: string) => whenActive(time, REQUEST.now)
  expect(
    [
      span('0 0 30 2 *', '7d'),
      span('0 0 31 2,4,6,9,11 *', '1d', 'Europe/Oslo'),
      `${span('0 0 * * 5', '1d')} && ${span('0 0 * * 4', '1d')}`,
      `${span('0 0 13 * *', '1d')} && ${span('0 0 14 * *', '1d')}`,
      `${span('0 9 * * *', '8h')} && time.now < Timestamp('2025-01-01T00:00:00Z')`,
    ].map(when),
  ).toEqual(Array(5).fill('never'))
  expect([span('0 0 * * *', '1d'), span('* * * * *', '1m'), `!${span('0 0 30 2 *', '1d')}`].map(when)).toEqual(
    Array(3).fill('always'),
  )
  expect(
    [
      span('0 0 29 2 *', '1d'),
      span('0 0 30 2 0', '1d'),
      `${span('0 0 29 2 *', '1d')} && ${span('0 0 * * 6', '1d')}`,
      span('0 0 * * *', '23h'),
      // By the clock of the zone a day of 25 hours leaves one.
      span('0 0 * * *', '1d', 'Europe/Oslo'),
    ].map(when),
  ).toEqual(Array(5).fill('sometimes'))
})

test('authority: where windows open too often to be followed, it is said that not all was looked at', () => {
  const minutes = Array.from({ length: 8 }, (_, at) => span(`${2 * at}-${2 * at + 1} * * * *`, '1m'))
  const together = instantsOf(["time.now < Timestamp('2020-01-01T00:00:00Z')", ...minutes], REQUEST.now)
  expect([together.isCut, together.isComplete]).toEqual([true, false])
  // Each minute of one is followed.
  expect(instantsOf([span('1 * * * *', '1m')], REQUEST.now)).toMatchObject({ isCut: false, isComplete: true })
  expect(whenActive(`${span('7 * * * *', '1m')} && ${span('6 * * * *', '2m')}`, REQUEST.now)).toBe('sometimes')
})

/** Hours and days in which they are open, as a person would tell them. */
const OPENINGS: readonly (readonly [time: string, isOpen: (at: Date) => boolean])[] = [
  [NIGHT, (at) => at.getUTCHours() >= 20 || at.getUTCHours() < 5],
  ["CronSpan('0 5 * * *', '15h', 'UTC')", (at) => at.getUTCHours() >= 5 && at.getUTCHours() < 20],
  ["CronSpan('0 0 * * 6,0', '1d', 'UTC')", (at) => [0, 6].includes(at.getUTCDay())],
  ["!CronSpan('0 0 * * 6,0', '24h', 'UTC')", (at) => ![0, 6].includes(at.getUTCDay())],
  ["CronSpan('0 0 * * 5', '1d', 'UTC')", (at) => at.getUTCDay() === 5],
  ["CronSpan('0 0 13,14 * *', '1d', 'UTC')", (at) => [13, 14].includes(at.getUTCDate())],
  ["CronSpan('0 0 * 6 *', '1d', 'Asia/Tokyo')", (at) => new Date(at.getTime() + 9 * 3_600_000).getUTCMonth() === 5],
  ["CronSpan('0 21 1 1 *', '1h', 'Europe/Oslo')", (at) => at.toISOString().slice(5, 13) === '01-01T20'],
  ["time.now >= Timestamp('2026-01-04T00:00:00Z')", (at) => at.getTime() >= Date.parse('2026-01-04T00:00:00Z')],
  ["time.now < Timestamp('2025-12-24T00:00:00Z')", () => false],
]

test('authority: no policy is named but those by which an answer is another at some one time', () => {
  const noon = Date.parse('2026-01-01T12:00:00Z')
  // Until the calendar comes again.
  const hours = Array.from({ length: 28 * 366 * 24 }, (_, hour) => new Date(noon + hour * 3_600_000))
  const opens = [...new Set(hours.map((at) => OPENINGS.map(([, isOpen]) => Number(isOpen(at))).join('')))]
  const states = fc.array(fc.constantFrom('carol', 'bob', 'nobody'), { minLength: 16, maxLength: 16 })
  const made = fc.tuple(fc.array(fc.nat(OPENINGS.length - 1), { minLength: 1, maxLength: 4 }), states, fc.boolean())
  fc.assert(
    fc.property(made, ([openings, needed, isByPolicy]) => {
      // What is needed hangs on which are active: on each in any way, or on whom each of them, on its own, asks.
      const answerOf = (active: readonly number[]) =>
        isByPolicy
          ? [...new Set(active.map((one) => needed[one]!))]
              .filter((who) => who !== 'nobody')
              .sort()
              .join()
          : needed[active.reduce((sum, one) => sum + 2 ** one, 0)]!
      const policies = openings.map((one, index) =>
        compilePolicy({ id: `${index}`, name: `p${index}`, effect: 'EFFECT_ALLOW', time: OPENINGS[one]![0] }),
      )
      const told = timedBy(policies, REQUEST, (some) =>
        answerOf(some.flatMap(({ policy: { id }, time }) => (time ? [] : [Number(id)]))),
      )
      const moments = opens.map((open) => openings.flatMap((one, index) => (open[one] === '1' ? [index] : [])))
      expect(told).toEqual(changersOf(moments, answerOf).map((index) => `p${index}`))
    }),
    { numRuns: runs(200) },
  )
})

/**
 * Those of each smallest set that, active at one moment just as at another, leaves the answer of the other, where no moment is more like
 * both: by trying all sets.
 */
function changersOf(moments: readonly (readonly number[])[], answerOf: (active: readonly number[]) => string) {
  const every = [0, 1, 2, 3]
  const sets = Array.from({ length: 16 }, (_, bits) => every.filter((one) => (bits >> one) & 1))
  const distinct = [...new Map(moments.map((one) => [one.join(), one])).values()]
  const found = new Set<number>()
  for (const before of distinct)
    for (const after of distinct) {
      if (answerOf(before) === answerOf(after)) continue
      const isBetween = (one: readonly number[]) =>
        every.every((item) => [before, after].some((end) => end.includes(item) === one.includes(item)))
      if (distinct.some((one) => one !== before && one !== after && isBetween(one))) continue
      const leaves = sets.filter(
        (set) =>
          answerOf(every.filter((one) => (set.includes(one) ? before : after).includes(one))) === answerOf(before),
      )
      const smallest = leaves.filter(
        (set) => !leaves.some((one) => one.length < set.length && one.every((item) => set.includes(item))),
      )
      for (const one of smallest.flat()) if (before.includes(one) !== after.includes(one)) found.add(one)
    }
  return [...found].sort()
}
