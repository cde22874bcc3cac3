/** Policies whose times may change an answer, and at which moments. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { timedBy } from '../../src/authority/index.ts'
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

/** Hours and days in which they are open, as a person would tell them. */
const OPENINGS: readonly (readonly [time: string, isOpen: (at: Date) => boolean])[] = [
  [NIGHT, (at) => at.getUTCHours() >= 20 || at.getUTCHours() < 5],
  ["CronSpan('0 5 * * *', '15h', 'UTC')", (at) => at.getUTCHours() >= 5 && at.getUTCHours() < 20],
  ["CronSpan('0 0 * * 6,0', '1d', 'UTC')", (at) => [0, 6].includes(at.getUTCDay())],
  ["!CronSpan('0 0 * * 6,0', '24h', 'UTC')", (at) => ![0, 6].includes(at.getUTCDay())],
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
