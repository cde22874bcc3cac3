/** The analysis with a mistake put into it: the trials over generated organizations find each. */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { powersOf } from '../../src/analysis/index.ts'
import { actualOf } from '../plan/organization.ts'
import { remembered } from '../remembered.ts'
import { allFaults, LATER, NOW, organizationIn, type Shape, shapes, timedShapes } from './generated.ts'
import { type Mutant, mutated } from './mutated.ts'
import { expectedOfTime, TIME_CASES, toldOfTime } from './time-cases.ts'

const MUTANTS: readonly Mutant[] = [
  {
    mistake: 'a policy that denies is read as one that allows',
    file: 'analysis/policies.ts',
    from: "effect: effect === 'deny' ? 'EFFECT_DENY' : 'EFFECT_ALLOW',",
    to: "effect: 'EFFECT_ALLOW',",
  },
  {
    mistake: 'the consensus of a policy is not read',
    file: 'analysis/policies.ts',
    from: 'consensus: expression(consensus),',
    to: 'consensus: undefined,',
  },
  {
    mistake: 'a negation is dropped',
    file: 'analysis/possible.ts',
    from: 'values: new Set([...values].map(negated)), tree',
    to: 'values, tree',
  },
  {
    mistake: 'what errs is taken to be false',
    file: 'analysis/possible.ts',
    from: "return holds === undefined ? 'error' : holds",
    to: "return holds === undefined ? 'false' : holds",
  },
  {
    mistake: 'a person has one credential',
    file: 'policy/who-else.ts',
    from: '(credentials[0] ? credentials : [undefined])',
    to: '(credentials[0] ? credentials.slice(0, 1) : [undefined])',
  },
  {
    mistake: 'a vote that is denied is gone on from',
    file: 'policy/who-else.ts',
    from: "return outcome === 'OUTCOME_REQUIRES_CONSENSUS' ? { waits: joined } : 'denied'",
    to: 'return { waits: joined }',
  },
  {
    mistake: 'nobody is asked whether they may vote',
    file: 'policy/who-else.ts',
    from: 'if (!isVote)',
    to: 'if (false)',
  },
  {
    mistake: 'members of the quorum are as everybody else',
    file: 'policy/who-else.ts',
    from: 'key: [members.has(approver.id), ...',
    to: 'key: [...',
  },
  {
    mistake: 'people are told apart only by what they are compared with',
    file: 'policy/who-else.ts',
    from: "one == null || use === 'otherwise' || use.has",
    to: "use !== 'otherwise' && use.has",
  },
  {
    mistake: 'one fewer of each sort of people is tried',
    file: 'policy/coalitions.ts',
    from: 'const member = members[used[of]!]',
    to: 'const member = members.slice(0, -1)[used[of]!]',
  },
  {
    mistake: 'one vote fewer of one sort is counted than policies count to',
    file: 'policy/who-else.ts',
    from: 'Math.max(reads.largestCount + 1, ',
    to: 'Math.max(reads.largestCount - 1, ',
  },
  {
    mistake: 'the order of votes is never looked at',
    file: 'policy/coalitions.ts',
    from: 'const more = ordered ?',
    to: 'const more = !ordered && ordered ?',
  },
  {
    mistake: 'of the sets of one size one is kept',
    file: 'policy/coalitions.ts',
    from: 'found.push(...here.sort(byCounts))',
    to: 'found.push(...here.sort(byCounts).slice(0, 1))',
  },
  {
    mistake: 'a DENY that may apply is taken not to',
    file: 'analysis/power-lines.ts',
    from: 'add([...closed, ...denials], {})',
    to: 'add(closed, {})',
  },
  {
    mistake: 'two conditions together are never asked',
    file: 'analysis/power-lines.ts',
    from: 'if (groups.length < 2 || eachByItself(question)) return lines',
    to: 'if (groups.length >= 0) return lines',
  },
  {
    mistake: 'nobody ever needs two conditions together',
    file: 'analysis/power-lines.ts',
    from: 'if (policy.consensus === undefined) return true',
    to: 'if (policy.effect !== undefined) return true',
  },
]

/** Of what policies say of the time. */
const TIMED: readonly Mutant[] = [
  {
    mistake: 'the time of a policy is not looked at',
    file: 'analysis/questions.ts',
    from: "time ? whenActive(time, BigInt(nowMs) * 1_000_000n) : 'always'",
    to: "time === '' ? whenActive(time, BigInt(nowMs) * 1_000_000n) : 'always'",
  },
  {
    mistake: 'what holds at times is told as if at all times',
    file: 'analysis/questions.ts',
    from: 'return { canHold, canFail: true, text: canFail',
    to: 'return { canHold, canFail, text: canFail',
  },
  {
    mistake: 'beside a condition the time is left out',
    file: 'analysis/questions.ts',
    from: 'canFail ? `(${text}) && (${time})` : time!',
    to: 'canFail ? text : time!',
  },
  {
    mistake: 'beside a time the condition is left out',
    file: 'analysis/questions.ts',
    from: 'canFail ? `(${text}) && (${time})` : time!',
    to: 'time!',
  },
  {
    mistake: 'what holds at no time more is told under its time',
    file: 'analysis/questions.ts',
    from: "if (when === 'never') return",
    to: "if (when === ('none' as string)) return",
  },
  {
    mistake: 'policies that differ in their times are one',
    file: 'analysis/questions.ts',
    from: 'serialOf(effect, consensus, time, policy.condition)',
    to: 'serialOf(effect, consensus, policy.condition)',
  },
  {
    mistake: 'who votes is asked at the moment of the question',
    file: 'analysis/questions.ts',
    from: 'policy: text, time: undefined,',
    to: 'policy: text, time: arguments[0].time,',
  },
  {
    mistake: 'windows that come again are not looked for',
    file: 'authority/instants.ts',
    from: 'if (windows.length === 0) return',
    to: 'return',
  },
  {
    mistake: 'the moment of the question is the only one',
    file: 'authority/instants.ts',
    from: 'values[index]! >= start',
    to: 'values[index]! === start',
  },
  {
    mistake: 'moments that are past count',
    file: 'authority/instants.ts',
    from: '.filter((_, index) => values[index]! >= start)',
    to: '',
  },
  {
    mistake: 'the moments that are written are not tried, nor those after them',
    file: 'authority/instants.ts',
    from: '[at, at - 1n, at + 1n, at + MILLISECOND]',
    to: '[at - 1n]',
  },
]

const ASKED = { nowMs: NOW, powers: ['sign', 'export'] } as const

/** The organizations in which every mistake is looked for; each is generated, and asked of the analysis, once for all of them. */
const SHAPES = fc.sample(shapes, { numRuns: 2000, seed: 20_261_124 })
const generated = remembered((shape: Shape) => {
  const resources = organizationIn(shape)
  return { resources, right: powersOf(actualOf(resources), ASKED) }
})

/** Whether one of the organizations shows a fault in the answers; only other answers than the analysis gives are tried. */
function isFound(mistaken: typeof powersOf): boolean {
  return SHAPES.some((shape) => {
    const { resources, right } = generated(shape)
    const rows = mistaken(actualOf(resources), ASKED)
    return !isDeepStrictEqual(rows, right) && allFaults(resources, rows).length > 0
  })
}

const TIMED_SHAPES = fc.sample(timedShapes, { numRuns: 300, seed: 20_261_124 })
const rightAt = remembered((shape: Shape) => {
  const resources = organizationIn(shape)
  return { resources, right: [NOW, LATER].map((nowMs) => powersOf(actualOf(resources), { ...ASKED, nowMs })) }
})

/** Whether one of the organizations whose policies have times, asked at either moment, or one of the cases shows a fault. */
function isFoundAtTimes(mistaken: typeof powersOf): boolean {
  return (
    TIMED_SHAPES.some((shape) => {
      const { resources, right } = rightAt(shape)
      return [NOW, LATER].some((nowMs, at) => {
        const rows = mistaken(actualOf(resources), { ...ASKED, nowMs })
        const later = [NOW, LATER].slice(at)
        return !isDeepStrictEqual(rows, right[at]) && allFaults(resources, rows, later).length > 0
      })
    }) || TIME_CASES.some(([time, told]) => !isDeepStrictEqual(toldOfTime(mistaken, time), expectedOfTime(time, told)))
  )
}

describe('mistakes in the analysis', () => {
  test.each(MUTANTS)('$mistake: found', async (mutant) => {
    const { powersOf: mistaken } = await mutated<{ powersOf: typeof powersOf }>(mutant, 'analysis/powers.ts')
    expect(isFound(mistaken)).toBe(true)
  })

  test.each(TIMED)('of times, $mistake: found', async (mutant) => {
    const { powersOf: mistaken } = await mutated<{ powersOf: typeof powersOf }>(mutant, 'analysis/powers.ts')
    expect(isFoundAtTimes(mistaken)).toBe(true)
  })
})
