/** Undo, the difference between two states, and the comparison of sets of people, each with a mistake put into it: small trials find each. */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { accessBetween, planWithForecast } from '../../src/analysis/index.ts'
import * as sets from '../../src/analysis/same-coalitions.ts'
import { undoLines } from '../../src/plan/index.ts'
import type { Resource } from '../../src/resources/index.ts'
import { bootstrap, lockOfDeclared } from '../plan/organization.ts'
import { planInput } from '../plan/planning.ts'
import { remembered } from '../remembered.ts'
import { COLD, NOW, organizationIn, requestsOf, type Shape, shapes, TYPES, trials } from './generated.ts'
import { type Mutant, mutated } from './mutated.ts'
import { faultsOfSets } from './same-coalitions.ts'
import { CASES } from './undo-cases.ts'

const of = (file: string, mistakes: readonly (readonly [string, string, string])[]): readonly Mutant[] =>
  mistakes.map(([mistake, from, to]) => ({ mistake, file: `analysis/${file}`, from, to }))

describe('mistakes in undo', () => {
  const mutants = [
    ...of('undo.ts', [
      [
        'every activity is asked of the state that the plan leaves',
        "influenceOf(earlier.state, state, '') ? sideOf(state) : { ...earlier, state }",
        '{ ...earlier, state }',
      ],
      ['who gets the last activity suffices', 'each.map((other) => one | other)', 'each'],
      ['more people than are needed are told', '(one & set) === one', 'one === set'],
      ['moves count where nobody makes them', 'if (found.length === paths.length)', 'if (found.length >= 0)'],
      ['moves never count', 'if (found.length === paths.length)', 'if (paths.length < 0)'],
      [
        'of the orders the first is followed',
        'if (isNobody(asked)) halted.push(asked)',
        'if (isNobody(asked)) return { stuck: [asked], isCut: false }',
      ],
      [
        'of many activities the first order is the only one',
        'if (goOn(done | bit)) return true',
        'return goOn(done | bit)',
      ],
      [
        'the first way is the only one',
        'next.set(done | bit, least)',
        'if (!next.has(done | bit)) next.set(done | bit, leastKeys(more))',
      ],
      ['no other time is tried', 'if (size === 0) return false', 'if (size >= 0) return false'],
      ['of other times one moment is never tried', '...moments.slice(1).map((one) => walk.at([one])), ', ''],
      ['all activities are at one moment', '...(moments.length > 1 ? [atAny] : [])', ''],
      [
        'of many activities the time of none is looked at',
        '({ key }) => key)).size > 1',
        '({ key }) => key)).size > 9',
      ],
      ['who gets one of them at another time matters', 'if (walk.size > MOST_IN_EVERY_ORDER)', 'if (walk.size > 0)'],
      ['other times are told of whoever they matter to', 'if (size === 0) return false', 'return size > 0'],
    ]),
    ...of('inverse.ts', [
      [
        'what is deleted can always be made again',
        'if (why !== undefined) lose(one, why)',
        'if (why === "") lose(one, why)',
      ],
      [
        'who has no way in is made again',
        "lose(one, 'it has no way in but what only its user can register')",
        'lost.length.toString()',
      ],
      [
        'what names another id is left',
        'fields.length === 0 && one.name === now.name && !namesAgain',
        'fields.length === 0 && one.name === now.name',
      ],
    ]),
  ]
  const linesBy = (plan: typeof planWithForecast, { given }: (typeof CASES)[number]) => {
    const actual = (given.actual ?? bootstrap()) as readonly Resource[]
    const input = planInput({ lock: lockOfDeclared(actual, given.desired), allow: ['deletes=9'], ...given })
    return undoLines(plan(input).plan).map(({ sign, text }) => `${sign} ${text}`)
  }

  const isRight = (plan: typeof planWithForecast) => {
    try {
      return CASES.every((one) => isDeepStrictEqual(linesBy(plan, one), one.expected))
    } catch {
      // Nor does it stop working.
      return false
    }
  }

  test('none: the cases come out as they are written', () => {
    expect(CASES.map((one) => linesBy(planWithForecast, one))).toEqual(CASES.map(({ expected }) => expected))
  })

  test.each(mutants)('$mistake: found', async (mutant) => {
    const { planWithForecast: mistaken } = await mutated<{ planWithForecast: typeof planWithForecast }>(
      mutant,
      'analysis/index.ts',
    )
    expect(isRight(mistaken)).toBe(false)
  })
})

describe('mistakes in the difference between two states', () => {
  const mutants = of('access.ts', [
    ['people who are not as before are not looked at', '...(moved.length === 0 ? [] : has.filter(counts))', '...[]'],
    ['a policy that is gone touches nothing', '...surplus(had, has), ', ''],
    ['a policy that is new touches nothing', '...surplus(has, had), ', ''],
    ['what policies name does not differ', '|| touching.some((rule) => mayHoldFor(rule, pair))', ''],
    ['of two equal policies both are gone', 'return count <= 0', 'return count < 0'],
    ['a root quorum that changes is the old one', 'const isCentral = !sameQuorum || ', 'const isCentral = '],
    [
      'members of the root quorum are as everybody else',
      '|| moved.some(({ approver }) => members.has(approver.id))',
      '',
    ],
    [
      'as many lines are the same lines',
      'return known && sameCoalitions(line.people as Coalitions, other.people as Coalitions) === true',
      'return known',
    ],
  ])

  /** An organization, and what one hand would change of it. */
  const edited: fc.Arbitrary<readonly [Shape, Shape]> = fc
    .tuple(shapes, shapes, fc.nat(4))
    .map(([shape, other, how]) => [
      shape,
      {
        ...shape,
        ...(how === 0 && { policies: shape.policies.slice(1) }),
        ...(how === 1 && { policies: [...shape.policies, ...other.policies.slice(0, 1)] }),
        ...(how === 2 && { people: [other.people[0]!, ...shape.people.slice(1)] }),
        ...(how === 3 && { people: shape.people.with(2, other.people[2]!) }),
        ...(how === 4 && { threshold: other.threshold }),
      },
    ])

  /** The pairs in which every mistake is looked for; what differs in each is found once for all of them. */
  const PAIRS = fc.sample(edited, { numRuns: 600, seed: 20_261_124 })
  const differing = remembered(([one, other]: readonly [Shape, Shape]) => {
    const [before, after] = [organizationIn(one), organizationIn(other)]
    const decided = TYPES.flatMap((type) =>
      requestsOf(type, COLD).flatMap((request) => {
        const [had, has] = [before, after].map((resources) => leastOf(trials(resources, request)))
        return had === has ? [] : [{ power: type.includes('EXPORT') ? 'export' : 'sign', type, had, has }]
      }),
    )
    return { before, after, decided }
  })

  /** Requests for one wallet that are decided otherwise, and of which no change is told. */
  function missed(between: typeof accessBetween, pair: readonly [Shape, Shape]) {
    const { before, after, decided } = differing(pair)
    const told = between(before, after, { nowMs: NOW }).filter(({ wallet }) => wallet === 'wallet.cold')
    const powers = new Set<string>(told.map(({ power }) => power))
    return decided.filter(({ power }) => !powers.has(power))
  }
  const leastOf = (all: ReadonlySet<string>) =>
    [...all]
      .filter((set) => ![...all].some((one) => one !== set && one.split(' ').every((name) => set.includes(name))))
      .sort()
      .join()
  const isFound = (between: typeof accessBetween) => PAIRS.some((pair) => missed(between, pair).length > 0)

  test('none: nothing is missed', () => {
    for (const pair of PAIRS.slice(0, 150)) expect(missed(accessBetween, pair)).toEqual([])
  })

  test.each(mutants)('$mistake: found', async (mutant) => {
    const { accessBetween: mistaken } = await mutated<{ accessBetween: typeof accessBetween }>(
      mutant,
      'analysis/access.ts',
    )
    expect(isFound(mistaken)).toBe(true)
  })
})

describe('mistakes in comparing sets of people', () => {
  const mutants = of('same-coalitions.ts', [
    [
      'more of a class are taken than there are',
      'of === undefined ? 0 : Math.min(left[of]!, cell.names.length)',
      'of === undefined ? 0 : left[of]!',
    ],
    ['what the other has is left', 'count <= set[index]!', 'count < set[index]!'],
    ['fewer sets that are among the others are the same', 'a.length === b.length && ', ''],
    [
      'two classes are always one',
      'const isWhole = all.every(',
      'const isWhole = all.length < 0 || all.every(() => true) || all.every(',
    ],
    [
      'of two classes more are one than can be',
      'Math.min(sum, one.size) - Math.max',
      'Math.min(sum, one.size + 1) - Math.max',
    ],
    ['two classes are never one', 'return isWhole ?', 'return isWhole && all.length < 0 ?'],
    ['who is in no set stays', 'found.some((counts) => counts[index]! > 0)', 'found.length > 0 || index < 0'],
    ['sets come in any order', 'inOrder.sort(bySize)', 'inOrder'],
  ])

  test('none: all that is said is true', () => {
    expect([...faultsOfSets(sets, 1500)]).toEqual([])
  })

  test.each(mutants)('$mistake: found', async (mutant) => {
    const mistaken = await mutated<typeof sets>(mutant, 'analysis/same-coalitions.ts')
    const [fault] = faultsOfSets(mistaken, 1500)
    expect(fault).toBeDefined()
  })
})
