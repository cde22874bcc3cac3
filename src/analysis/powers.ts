/**
 * Who can do what, as an organization is: for each power, and each wallet or private key that it is about, the sets of people
 * who get such an activity executed among themselves and from which nobody can be left out. All versions of all activities that
 * lead to funds are asked; those with the same answer are told together. Powers are direct ones: that somebody could first
 * change policies or tags shows as that power.
 */
import { type Coalitions, type SetsOfPeople, writeByTeam } from '../policy/index.ts'
import { type Actual, organizationOf } from '../resources/index.ts'
import { computing } from './computing.ts'
import { createPolicyCompiler } from './policies.ts'
import { conditionText, createAnswers, denialOf } from './power-lines.ts'
import { activitiesOf, holdersOf, POWER_NAMES, POWER_WORDS, type PowerName, worldsOf } from './power-table.ts'
import { createQuestions, createRuleReader, type PowerQuestion } from './questions.ts'
import { startState } from './state.ts'

/** Who has a power over these wallets and private keys. */
export interface PowerRow {
  readonly power: PowerName
  /** The types of activity, sorted; where not all requests of a type have the same answer, with which: `… (TRANSACTION_TYPE_SOLANA)`. */
  readonly activities: readonly string[]
  /** Addresses such as `wallet.treasury`; none for a power that is about no wallet. */
  readonly over: readonly string[]
  readonly lines: readonly PowerLine[]
}

/** Sets of people, and under which condition. */
export interface PowerLine {
  /** Open parts of ALLOW policies, one of which must hold as the policy was written; absent: whatever is asked. */
  readonly condition?: string
  /** Conditions of DENY policies: the power is there unless one of these policies applies. */
  readonly unless?: readonly string[]
  /** Names of these DENY policies. */
  readonly deniedBy?: readonly string[]
  /** Names of the policies by which they have it; none where the root quorum, or the right to one's own, gives it. */
  readonly policies: readonly string[]
  /** By name; `unknown` where there are too many sets of people to try them all. */
  readonly people: Coalitions | 'unknown'
}

/** The sets of a line as plans write them, an entry for each size, and for each team of which any so many suffice. */
export function waysOf({ people }: PowerLine): readonly SetsOfPeople[] | 'unknown' {
  return people === 'unknown' ? people : writeByTeam(people)
}

/** The sets that somebody is in, of the same people or fewer classes; undefined where there is none. */
export function lineWith(line: PowerLine, name: string): PowerLine | undefined {
  if (line.people === 'unknown') return line
  const { classes, found } = line.people
  const of = classes.findIndex((names) => names.includes(name))
  const sets = found.filter((counts) => (counts[of] ?? 0) > 0)
  if (sets.length === 0) return undefined
  const others = classes.map((names, index) => (index === of ? names.filter((one) => one !== name) : names))
  const chosen = sets.map((counts) => [...counts.map((count, index) => (index === of ? count - 1 : count)), 1])
  return { ...line, people: { classes: [...others, [name]], found: chosen } }
}

/** Answers for an organization as it was read, at a moment in milliseconds since the epoch. */
export function powersOf(
  actual: Actual,
  { nowMs, powers = POWER_NAMES }: { readonly nowMs: number; readonly powers?: readonly PowerName[] },
): readonly PowerRow[] {
  const state = startState(actual)
  const holders = holdersOf(state)
  const linesOf = createLines(actual, nowMs)
  const ask = createQuestions(state, createRuleReader(createPolicyCompiler(), nowMs))
  const rowsOf = (power: PowerName): readonly PowerRow[] => {
    const worlds = worldsOf(power, holders).map((world) => ({ ...world, lines: linesOf(ask(world)) }))
    // Requests with one answer for each wallet or key, then those that have the same requests and answer.
    const byHolder = Map.groupBy(worlds, ({ holder, lines }) => `${holder?.address ?? ''} ${lines.key}`)
    const alike = Map.groupBy(byHolder.values(), (group) =>
      JSON.stringify([group.map(({ index }) => index), group[0]!.lines.key]),
    )
    const rows = [...alike.values()].map((groups): PowerRow => {
      const over = groups.flatMap(([world]) => world?.holder?.address ?? []).sort()
      return { power, activities: activitiesOf(groups[0]!), over, lines: groups[0]![0]!.lines.lines }
    })
    return rows.filter(({ lines }) => lines.length > 0)
  }
  return powers.flatMap((power) => computing(`who can ${POWER_WORDS[power]}`, () => rowsOf(power)))
}

/** Lines of a question, and a key that is equal for equal ones. */
function createLines(actual: Actual, nowMs: number) {
  const { linesOf, named } = createAnswers(organizationOf(actual.resources), nowMs)
  const namesById = new Map(actual.resources.map(({ id, address }) => [id!, address]))
  const known = new Map<string, { readonly lines: readonly PowerLine[]; readonly key: string }>()
  return (question: PowerQuestion) => {
    const found = known.get(question.key)
    if (found) return found
    const lines = linesOf(question).map((line): PowerLine => {
      const { people } = line
      const condition = conditionText(line.conditions, namesById)
      return {
        ...(condition === undefined ? {} : { condition }),
        ...denialOf(line, namesById),
        policies: line.policies(),
        people: people === 'unknown' ? people : named(people),
      }
    })
    const made = { lines, key: JSON.stringify(lines) }
    known.set(question.key, made)
    return made
  }
}
