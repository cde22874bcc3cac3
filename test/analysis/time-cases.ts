/** A policy with a time, and how those are told whom it lets or denies: `powers.test.ts` checks the analysis by it, `mutants.long.ts` that it finds mistakes. */
import type { powersOf } from '../../src/analysis/index.ts'
import { actualOf } from '../plan/organization.ts'
import { COLD, ids, linesFor, NAMES, NOW, organizationIn, setsOf, TYPES } from './generated.ts'

type Told = 'always' | 'never' | 'under it'

export const TIME_CASES: readonly (readonly [time: string, told: Told])[] = [
  ["CronSpan('0 8 * * 1-5', '10h', 'Europe/Zurich')", 'under it'],
  ["time.now >= Timestamp('2030-01-01T00:00:00Z')", 'under it'],
  ["time.now < Timestamp('2030-01-01T00:00:00Z')", 'under it'],
  ["time.now >= Timestamp('2020-01-01T00:00:00Z')", 'always'],
  ["time.now < Timestamp('2020-01-01T00:00:00Z') || time.now < Timestamp('2021-01-01T00:00:00Z')", 'never'],
]

/** On a Tuesday and on a Sunday: the condition and the denials of the lines that name Bob, whom the policy lets or denies. */
export function toldOfTime(powers: typeof powersOf, time: string) {
  const people = NAMES.map(() => ({ ops: false, second: false, isMember: false }))
  const consensus = `approvers.any(u, u.id == '${ids['bob']}')` as never
  const policy = { effect: 'allow', condition: "activity.action == 'SIGN'", consensus } as const
  const lets = organizationIn({ people, threshold: 1, policies: [{ ...policy, time }] })
  const denies = organizationIn({ people, threshold: 1, policies: [policy, { ...policy, effect: 'deny', time }] })
  return [NOW, NOW - 2 * 86_400_000].map((nowMs) => {
    const [allowed, denied] = [lets, denies].map((resources) =>
      linesFor(powers(actualOf(resources), { nowMs, powers: ['sign'] }), TYPES[1]!, COLD)
        .filter((line) => setsOf(line).includes('bob'))
        .map(({ condition, unless }) => [condition, unless]),
    )
    return { allowed, denied }
  })
}

export function expectedOfTime(time: string, told: Told): ReturnType<typeof toldOfTime> {
  const surely = [[undefined, undefined]]
  const one = {
    always: { allowed: surely, denied: [] },
    never: { allowed: [], denied: surely },
    'under it': { allowed: [[time, undefined]], denied: [[undefined, [time]]] },
  }[told] as ReturnType<typeof toldOfTime>[number]
  return [one, one]
}
