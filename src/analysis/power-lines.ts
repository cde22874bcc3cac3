/**
 * The answer to a question: the sets of people who get such a request executed among themselves and from which nobody can be left
 * out, without a condition and under each. People are told apart by their ids, and named last.
 */
import type { Organization } from '../authority/index.ts'
import { type Coalitions, type PolicyContext, type Voter, whoCan } from '../policy/index.ts'
import { nameValue } from '../resources/index.ts'
import { breathe } from './computing.ts'
import { votersIn } from './everybody.ts'
import type { Applying, PowerQuestion } from './questions.ts'
import { simplest, without } from './same-coalitions.ts'
import { restsOnIncluded } from './separable.ts'

/** Sets of people by their ids, and what must hold of the request. */
export interface AnswerLine {
  /** Open parts of ALLOW policies, all of which must hold. */
  readonly conditions: readonly string[]
  /** Conditions of DENY policies: told of a request to which none of these policies applies. */
  readonly unless: readonly string[]
  /** Names of these DENY policies, sorted. */
  readonly deniedBy: readonly string[]
  readonly people: Coalitions | 'unknown'
  /** Names of the policies by which they have it, sorted: found when asked for. */
  readonly policies: () => readonly string[]
}

/** Finds answers about the people of one organization at one moment. */
export interface Answers {
  readonly people: readonly Voter[]
  readonly organization: Organization
  readonly linesOf: (question: PowerQuestion) => readonly AnswerLine[]
  /** The sets whom these policies let through, whichever of the open ones is taken to hold. */
  readonly find: Find
  /** The people of sets by their names. */
  readonly named: (sets: Coalitions) => Coalitions
}

/** Without a root quorum, those sets whom the policies let through by themselves. */
type Find = (applying: readonly Applying[], isRootOnly: boolean, hasQuorum?: boolean) => Coalitions | 'gave-up'

/** `people` are those who may vote; by default whoever has a credential. */
export function createAnswers(
  organization: Organization,
  nowMs: number,
  people: readonly Voter[] = votersIn(organization, nowMs),
): Answers {
  const names = new Map(people.map(({ name, approver }) => [approver.id, name]))
  const byId = people.map((one): Voter => ({ ...one, name: one.approver.id }))
  const places = new Map(byId.map(({ name }, at) => [name, at]))
  const placeOf = (id: string) => places.get(id)!
  const found = new Map<string, Coalitions | 'gave-up'>()
  const find: Find = (applying, isRootOnly, hasQuorum = true) => {
    // Policies that apply to other requests and ask the same of those who vote have the same answer.
    const distinct = new Map(applying.map(({ rule }) => [rule.consensusSerial, rule.consensus]))
    const key = `${isRootOnly} ${hasQuorum} ${[...distinct.keys()].sort()}`
    const known = found.get(key)
    if (known) return known
    breathe()
    const context = contextFor(organization, nowMs, isRootOnly)
    const { rootQuorum: _, ...base } = context
    const sets = whoCan([...distinct.values()], hasQuorum ? context : base, byId)
    const made = sets === 'gave-up' ? sets : simplest(sets, placeOf)
    found.set(key, made)
    return made
  }
  const lines = new Map<string, readonly AnswerLine[]>()
  return {
    people,
    organization,
    find,
    linesOf: (question) => {
      const known = lines.get(question.key) ?? linesOf(question, find, placeOf)
      lines.set(question.key, known)
      return known
    },
    named: ({ classes, found: sets }) => ({
      classes: classes.map((ids) => ids.map((id) => names.get(id)!)),
      found: sets,
    }),
  }
}

/** What policies without their conditions read: of the type no more than whether it is the root quorum's alone. */
export function contextFor({ rootQuorum }: Organization, nowMs: number, isRootOnly: boolean): PolicyContext {
  const type = isRootOnly ? 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM' : 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'
  return { now: BigInt(nowMs) * 1_000_000n, activity: { type, params: {} }, approvers: [], rootQuorum }
}

/** Conditions in words, ids as names; several that must hold at once in brackets. */
export function conditionText(
  conditions: readonly string[],
  namesById: ReadonlyMap<string, string>,
): string | undefined {
  const named = namedTexts(conditions, namesById)
  return named.length < 2 ? named[0] : named.map((text) => `(${text})`).join(' && ')
}

/** What a DENY asks of a request, and which policies these are, for an answer in words; nothing of a line without one. */
export function denialOf(
  { unless, deniedBy }: Pick<AnswerLine, 'unless' | 'deniedBy'>,
  namesById: ReadonlyMap<string, string>,
): { readonly unless?: readonly string[]; readonly deniedBy?: readonly string[] } {
  return unless.length === 0 ? {} : { unless: namedTexts(unless, namesById), deniedBy }
}

/** Texts with their ids as names, sorted, each once. */
function namedTexts(texts: readonly string[], namesById: ReadonlyMap<string, string>): readonly string[] {
  return sorted(texts.map((text) => String(nameValue(text, namesById))))
}

/** The open policies of a question, and the others. */
export function partsOf({ applying }: PowerQuestion) {
  const open = applying.filter((one) => one.open !== '')
  const denials = open.filter(({ rule }) => rule.compiled.policy.effect === 'EFFECT_DENY')
  const allowances = open.filter((one) => !denials.includes(one))
  const closed = applying.filter((one) => one.open === '')
  return { denials, allowances, closed, groups: [...Map.groupBy(allowances, (one) => one.open).values()] }
}

/**
 * An open DENY may apply: without a condition those have the power whom it would not stop. An open ALLOW may hold, each by itself and
 * all at once, since approvers of one may vote on what another allows. Who has the power by less is not told again: more that holds
 * takes nobody's power away.
 */
function linesOf(
  question: PowerQuestion,
  findSets: Answers['find'],
  placeOf: (id: string) => number,
): readonly AnswerLine[] {
  const { denials, allowances, closed, groups } = partsOf(question)
  const find = (some: readonly Applying[]) => findSets(some, question.isRootOnly)
  const lines: AnswerLine[] = []
  /** The sets that have it by less: under some of these conditions, or although a policy denies. */
  const told = (conditions: readonly string[], unless: readonly string[]) =>
    lines.flatMap((line) =>
      line.people !== 'unknown' && isWithin(line.conditions, conditions) && isWithin(line.unless, unless)
        ? [line.people]
        : [],
    )
  const add = (some: readonly Applying[], { conditions = [], unless = [] }: Partial<AnswerLine>) => {
    const found = find(some)
    const people = found === 'gave-up' ? 'unknown' : simplest(told(conditions, unless).reduce(without, found), placeOf)
    if (people !== 'unknown' && people.found.length === 0) return
    let names: readonly string[] | undefined
    const policies = () => {
      names ??= namesOf(people === 'unknown' ? allowing(some) : deciding(some, people, findSets, question))
      return names
    }
    lines.push({ conditions, unless, deniedBy: unless.length === 0 ? [] : deniedBy, people, policies })
  }
  const deniedBy = sorted(denials.map(({ rule }) => rule.name))
  add([...closed, ...denials], {})
  const unless = sorted(denials.map(({ open }) => open))
  if (denials.length > 0) add(closed, { unless })
  const conditionsOf = (some: readonly Applying[]) => sorted(some.map(({ open }) => open))
  const addUnder = (some: readonly Applying[]) => add([...closed, ...some], { conditions: conditionsOf(some), unless })
  for (const group of groups) addUnder(group)
  if (groups.length < 2 || eachByItself(question)) return lines
  const sizes = groups.length <= MOST_TOGETHER ? groups.length : 2
  for (const some of subsets(groups)) if (some.length > 1 && some.length <= sizes) addUnder(some.flat())
  if (sizes < groups.length)
    lines.push({
      conditions: conditionsOf(allowances),
      unless,
      deniedBy,
      people: 'unknown',
      policies: () => namesOf(allowing([...closed, ...allowances])),
    })
  return lines
}

const allowing = (some: readonly Applying[]) =>
  some.filter(({ rule }) => rule.compiled.policy.effect === 'EFFECT_ALLOW')
const namesOf = (some: readonly Applying[]) => sorted(some.map(({ rule }) => rule.name))

/**
 * Of these policies the ALLOW policies by which these people have the power: by one alone some of them have it, or without it some have
 * it no more. Where these do not make up all of it, such as two that stand for each other beside a third, it is told of all.
 */
function deciding(
  some: readonly Applying[],
  people: Coalitions,
  find: Find,
  { isRootOnly }: PowerQuestion,
): readonly Applying[] {
  const allowances = allowing(some)
  const denials = some.filter((one) => !allowances.includes(one))
  /** Whether some of these people do not get through by these policies. */
  const lacks = (by: readonly Applying[], hasQuorum: boolean): 'all' | 'some' | 'none' => {
    const through = find([...denials, ...by], isRootOnly, hasQuorum)
    if (through === 'gave-up') return 'some'
    const left = without(people, through)
    return left === people ? 'all' : left.found.length === 0 ? 'none' : 'some'
  }
  const alike = [...Map.groupBy(allowances, ({ rule }) => rule.consensusSerial).values()]
  const told = alike.filter((group) => {
    if (lacks(group, false) !== 'all') return true
    const others = allowances.filter((one) => !group.includes(one))
    return lacks(others, true) !== 'none'
  })
  return lacks(told.flat(), true) === 'none' ? told.flat() : allowances
}

/**
 * Whether nobody needs two of these policies at once. What several let in ends with one whose consensus those meet whom it includes,
 * without the others; they may vote by it alone, unless somebody else's vote keeps a DENY away.
 */
function eachByItself({ applying }: PowerQuestion): boolean {
  return applying.every(({ rule: { consensus } }) => {
    const { policy, consensus: who } = consensus
    if (policy.consensus === undefined) return true
    return policy.effect === 'EFFECT_ALLOW' && who?.tree !== undefined && restsOnIncluded(who.tree)
  })
}

/** Of so many open conditions every set is asked: some may exclude each other, so that all at once says too little. Of more, each two. */
const MOST_TOGETHER = 6

/** The sets of at most so many as are asked, the smallest first. */
function subsets<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length > MOST_TOGETHER)
    return items.flatMap((one, index) => items.slice(index + 1).map((other) => [one, other]))
  return everySubset(items).toSorted((a, b) => a.length - b.length)
}

/** All sets of these, the empty one first. */
export function everySubset<T>(items: readonly T[]): readonly (readonly T[])[] {
  return items.reduce<readonly (readonly T[])[]>((some, item) => some.concat(some.map((one) => [...one, item])), [[]])
}

function isWithin(some: readonly string[], all: readonly string[]): boolean {
  return some.every((one) => all.includes(one))
}

function sorted(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort()
}
