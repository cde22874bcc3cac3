/**
 * Finds whether one set of policies lets through more than another, power by power. Both sets decide the same requests. For each kind of
 * request, values are chosen for the parts that clauses read, one part after another, until it is known which policies take part on
 * either side; then the groups of people who get such a request executed are compared. Branches in which both sides have the same
 * policies are not followed. A difference is reported with a request and the votes that show it; both sets have decided that very
 * request before it is reported.
 */
import { type Instants, instantsOf, type Organization, timeReader, votersOf } from '../authority/index.ts'
import {
  type Coalitions,
  type CompiledPolicy,
  compilePolicy,
  conditionHolds,
  type Expression,
  type PolicyContext,
  type PolicyText,
  print,
  type Voter,
} from '../policy/index.ts'
import {
  type ChoiceBudget,
  type ComparedRule,
  type JudgedClause,
  type JudgedTree,
  NOW,
  type SearchInput,
  searchRequest,
  UNKNOWN_WORDS,
  type WhyUnknown,
} from './compare-search.ts'
import { computing } from './computing.ts'
import { createPolicyCompiler, type PolicyCompiler } from './policies.ts'
import { type Answers, createAnswers } from './power-lines.ts'
import {
  EVERY_REQUEST,
  POWER_NAMES,
  POWER_WORDS,
  POWERS,
  type PowerName,
  type PowerRequest,
  requestsOf,
} from './power-table.ts'
import { type PolicyRule, readRule } from './questions.ts'
import { nothingCompared, readClause } from './request-parts.ts'
import type { KnownWallet } from './request-values.ts'
import { sameCoalitions, without } from './same-coalitions.ts'
import { type DecidingState, type Play, playOf } from './witness.ts'

/** Policies, with the people and wallets of their organization. */
export interface PolicySet {
  readonly policies: readonly PolicyText[]
  readonly organization: Organization
  readonly wallets: readonly KnownWallet[]
}

export type Relation = 'equal' | 'wider' | 'narrower' | 'incomparable' | 'unknown'

/** How the second set relates to the first, for the requests of one power; `other`: for requests that belong to no power. */
export interface ComparedPower {
  readonly power: PowerName | 'other'
  readonly relation: Relation
  /** A request that votes of these people get executed under the second set, and never under the first. */
  readonly wider?: Play
  /** A request that votes of these people get executed under the first set, and never under the second. */
  readonly narrower?: Play
  /** Names of the policies that keep the relation from being known, sorted. */
  readonly unknown: readonly string[]
  /** Why the relation is not known, in words, sorted; empty if it is known. */
  readonly because: readonly string[]
}

type Powers = readonly (PowerName | 'other')[]
const ALL_POWERS: Powers = [...POWER_NAMES, 'other']

/** Compares two sets at a moment in milliseconds since the epoch, power by power. */
export function comparePolicies(
  first: PolicySet,
  second: PolicySet,
  { nowMs, powers = ALL_POWERS }: { readonly nowMs: number; readonly powers?: Powers },
): readonly ComparedPower[] {
  const input = createComparison(nowMs)(first, second)
  return powers.map((power) =>
    computing(`who could ${power === 'other' ? 'do anything else' : POWER_WORDS[power]} by either`, () =>
      compareOne(power, input),
    ),
  )
}

/**
 * Finds one request that two sets decide differently, or says why it is unknown whether there is one; undefined if there is none. Each
 * choice of a value costs one of the budget, and the search ends when nothing of it is left.
 */
export type DifferenceFinder = (first: PolicySet, second: PolicySet, budget: ChoiceBudget) => Play | Unknown | undefined

/** Reasons why a difference is not known, each a clause such as `more values would have to be tried`; sorted. */
export interface Unknown {
  readonly unknown: readonly string[]
}

/** Creates a finder for many sets that share most policies, at one moment in milliseconds since the epoch: each policy is read once. */
export function createDifferenceFinder(nowMs: number): DifferenceFinder {
  const compare = createComparison(nowMs)
  return (first, second, budget) => {
    const compared = compare(first, second)
    const difference = createDifferences(compared.sides, budget)
    const input = { ...compared, difference, budget, isOneEnough: true }
    const unknown = new Set<string>()
    for (const power of ALL_POWERS) {
      const { wider, narrower, because } = compareOne(power, input)
      const found = wider ?? narrower
      if (found) return found
      for (const why of because) unknown.add(why)
    }
    return unknown.size > 0 ? { unknown: [...unknown].sort() } : undefined
  }
}

/** Combines the relations of several powers into that of all of them. */
export function relationOf(parts: readonly Pick<ComparedPower, 'relation'>[]): Relation {
  const has = (relation: Relation) => parts.some((one) => one.relation === relation)
  if (has('incomparable') || (has('wider') && has('narrower'))) return 'incomparable'
  if (has('unknown')) return 'unknown'
  return has('wider') ? 'wider' : has('narrower') ? 'narrower' : 'equal'
}

/** Creates a comparison at one moment. Compiled policies and the answers about people are kept for the next comparison. */
function createComparison(nowMs: number): (first: PolicySet, second: PolicySet) => CompareInput {
  const compile = createPolicyCompiler()
  const readRules = createRulesReader(compile)
  const people = new Map<Organization, Pick<Side, 'answers' | 'key' | 'voters'>>()
  const sideOf = ({ policies, organization }: PolicySet): Side => {
    const known = people.get(organization) ?? readPeople(organization, nowMs)
    people.set(organization, known)
    const { rootQuorum } = organization
    return { ...known, stage: { policies: policies.map(compile), voters: known.voters, rootQuorum } }
  }
  return (first, second) => {
    const sides = [sideOf(first), sideOf(second)] as const
    const { wallets } = first
    const others = second.wallets.filter(
      ({ id, label }) => !wallets.some((one) => one.id === id && one.label === label),
    )
    const policies = [...first.policies, ...second.policies]
    const times = [...new Set(policies.flatMap(({ time }) => (time ? [time] : [])))].sort()
    return {
      rules: readRules([first.policies, second.policies]),
      wallets: [...wallets, ...others],
      instants: instantsOf(times, BigInt(nowMs) * 1_000_000n),
      arePeopleAlike: sides[0].key === sides[1].key,
      sides,
      difference: createDifferences(sides),
    }
  }
}

function readPeople(organization: Organization, nowMs: number): Pick<Side, 'answers' | 'key' | 'voters'> {
  const voters = votersOf(organization, nowMs)
  const key = JSON.stringify([voters, organization.rootQuorum])
  return { answers: createAnswers(organization, nowMs, voters), key, voters }
}

interface Side {
  readonly answers: Answers
  readonly voters: readonly Voter[]
  readonly stage: DecidingState
  /** The same text for sides with the same people. */
  readonly key: string
}

interface CompareInput {
  readonly rules: readonly ComparedRule[]
  readonly wallets: readonly KnownWallet[]
  readonly instants: Instants
  readonly arePeopleAlike: boolean
  readonly sides: readonly [Side, Side]
  readonly difference: (taking: readonly ComparedRule[], isRootOnly: boolean) => Difference
  readonly budget?: ChoiceBudget
  /** Whether the search ends with the first difference. */
  readonly isOneEnough?: boolean
}

function compareOne(
  power: PowerName | 'other',
  { sides, difference, isOneEnough, ...search }: CompareInput,
): ComparedPower {
  const found: { wider?: Play; narrower?: Play } = {}
  const unknown = { wider: new Map<string, Set<WhyUnknown>>(), narrower: new Map<string, Set<WhyUnknown>>() }
  const note = (way: Way, some: readonly ComparedRule[], why: WhyUnknown) => {
    for (const { rule } of some) unknown[way].set(rule.name, new Set([...(unknown[way].get(rule.name) ?? []), why]))
  }
  const onUnknown: SearchInput['onUnknown'] = (because, differing, why) => {
    for (const way of waysOf(differing, search.arePeopleAlike)) note(way, because, why)
  }
  const [first, second] = sides
  const onDecided =
    (isRootOnly: boolean) => (requestOf: () => PolicyContext, taking: readonly ComparedRule[], exists: boolean) => {
      const simple = isOneEnough && exists ? simplePlay(requestOf(), taking, isRootOnly, sides) : undefined
      if (simple) {
        found.wider = simple
        return
      }
      const told = difference(taking, isRootOnly)
      if (told === 'unknown') {
        onUnknown(taking, taking, 'people')
        return
      }
      for (const [way, by, not] of [
        ['wider', second, first],
        ['narrower', first, second],
      ] as const) {
        const people = told[way]
        if (people === undefined || found[way]) continue
        const play = exists ? playOf({ context: requestOf(), people, by: by.stage, not: not.stage }) : undefined
        if (play) found[way] = play
        else note(way, taking.filter(isOneSided), exists ? 'play' : 'kind')
      }
    }
  const isDone = () => {
    const count = Object.keys(found).length
    return count === 2 || (count === 1 && isOneEnough === true)
  }
  for (const request of requestsFor(power))
    searchRequest({ ...search, request, onDecided: onDecided(request.row.rootOnly === true), onUnknown, isDone })
  const told =
    found.wider && found.narrower ? 'incomparable' : found.wider ? 'wider' : found.narrower ? 'narrower' : 'equal'
  // Once a play shows that one set is wider, a policy that might make it wider too adds nothing unknown.
  const open = WAYS.filter((way) => !found[way] && unknown[way].size > 0).flatMap((way) => [...unknown[way]])
  return {
    power,
    relation: open.length > 0 ? 'unknown' : told,
    ...found,
    unknown: [...new Set(open.map(([name]) => name))].sort(),
    because: [...new Set(open.flatMap(([, some]) => [...some].map((why) => UNKNOWN_WORDS[why])))].sort(),
  }
}

type Way = 'wider' | 'narrower'
const WAYS = ['wider', 'narrower'] as const satisfies readonly Way[]

function isOneSided({ on: [a, b] }: ComparedRule): boolean {
  return a !== b
}

/** The ways in which the second set can differ where these rules take part: with one more ALLOW, or one DENY fewer, it is never narrower. */
function waysOf(rules: readonly ComparedRule[], arePeopleAlike: boolean): readonly Way[] {
  const widening = rules.filter(isOneSided).map(({ on: [, isNew], isDeny }) => isNew !== isDeny)
  return WAYS.filter((way) => !arePeopleAlike || widening.includes(way === 'wider'))
}

/** How many groups of people are tried one by one before all groups are compared. */
const MOST_SIMPLE = 8

/** Tries people whom an ALLOW policy that only the second side has lets through and the first side does not: far cheaper than comparing all groups. */
function simplePlay(
  context: PolicyContext,
  taking: readonly ComparedRule[],
  isRootOnly: boolean,
  [first, second]: readonly [Side, Side],
): Play | undefined {
  const added = taking.filter(({ on: [a, b], isDeny }) => b && (isDeny || !a))
  const sets = second.answers.find(applying(added), isRootOnly)
  if (sets === 'gave-up') return undefined
  for (const people of smallestSets(second.answers.named(sets)).slice(0, MOST_SIMPLE)) {
    const play = playOf({ context, people, by: second.stage, not: first.stage })
    if (play) return play
  }
  return undefined
}

/** These rules as policies that take part for certain. */
function applying(rules: readonly ComparedRule[]) {
  return rules.map(({ rule }) => ({ rule, open: '' }))
}

function requestsFor(power: PowerName | 'other'): readonly PowerRequest[] {
  if (power !== 'other') return requestsOf(power)
  return EVERY_REQUEST.filter(({ row }) => POWER_NAMES.every((name) => !POWERS[name](row)))
}

/** What a search for groups of people costs that gave up because there are too many, in choices of values. */
const COST_OF_GIVING_UP = 10_000

/** Names of people who get a request executed on one side alone, for each way. */
type Difference = { readonly wider?: readonly string[]; readonly narrower?: readonly string[] } | 'unknown'

/** Creates a function that finds such people for the rules that take part; the same rules are computed once. */
function createDifferences(sides: readonly [Side, Side], budget?: ChoiceBudget): CompareInput['difference'] {
  const known = new Map<string, Difference>()
  const answer = (taking: readonly ComparedRule[], isRootOnly: boolean): Difference => {
    const [a, b] = sides.map(({ answers }, side) => {
      const sets = answers.find(applying(taking.filter(({ on }) => on[side])), isRootOnly)
      if (budget) budget.left -= sets === 'gave-up' ? COST_OF_GIVING_UP : (sets.found.length * sets.classes.length) >> 2
      return sets === 'gave-up' ? undefined : answers.named(sets)
    })
    const isSame = a && b && sameCoalitions(a, b)
    if (isSame === undefined) return 'unknown'
    if (isSame) return {}
    const [[wider], [narrower]] = [smallestSets(without(b!, a!)), smallestSets(without(a!, b!))]
    return { ...(wider && { wider }), ...(narrower && { narrower }) }
  }
  return (taking, isRootOnly) => {
    const key = JSON.stringify([isRootOnly, taking.map(({ rule }) => rule.serial).sort((a, b) => a - b)])
    const found = known.get(key) ?? (budget && budget.left < 0 ? 'unknown' : answer(taking, isRootOnly))
    known.set(key, found)
    return found
  }
}

/** The groups as names, the smallest first. Of people who are interchangeable the first are taken. */
function smallestSets({ classes, found }: Coalitions): readonly (readonly string[])[] {
  const size = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0)
  return found
    .toSorted((a, b) => size(a) - size(b))
    .map((counts) => counts.flatMap((count, index) => classes[index]!.slice(0, count)))
}

/** Creates a reader of the policies of both sides; policies that decide alike become one rule. */
function createRulesReader(
  compile: PolicyCompiler,
): (sides: readonly [readonly PolicyText[], readonly PolicyText[]]) => readonly ComparedRule[] {
  const serials = new Map<string, number>()
  const clauses = new Map<string, JudgedClause>()
  const known = new Map<number, Omit<ComparedRule, 'on'>>()
  return (sides) => {
    const all = sides.flatMap((policies, side) =>
      policies.map((policy) => ({ rule: readRule(compile(policy), serials), side })),
    )
    return [...Map.groupBy(all, ({ rule }) => rule.serial).values()].map((alike): ComparedRule => {
      const { rule } = alike[0]!
      const read = known.get(rule.serial) ?? comparedRule(rule, clauses)
      known.set(rule.serial, read)
      const on = [alike.some(({ side }) => side === 0), alike.some(({ side }) => side === 1)] as const
      return { ...read, rule: { ...read.rule, name: rule.name }, on }
    })
  }
}

function comparedRule(rule: PolicyRule, clauses: Map<string, JudgedClause>): Omit<ComparedRule, 'on'> {
  const { policy, condition, time } = rule.compiled
  const operands: JudgedTree[] = []
  if (time)
    operands.push({
      kind: 'clause',
      clause: remembered(clauses, `time ${policy.time}`, () => timeClause(policy.time!)),
    })
  if (!rule.isReadable) operands.push({ kind: 'known', value: 'error' })
  else if (condition?.tree) operands.push(treeOf(condition.tree, condition, clauses))
  const tree: JudgedTree = { kind: 'logic', settledBy: 'false', operands }
  return {
    // `time` is searched as a part of the request: the consensus has none.
    rule,
    isDeny: policy.effect === 'EFFECT_DENY',
    isForAll: policy.consensus === undefined,
    tree,
    clauses: clausesOf(tree),
  }
}

function treeOf(
  tree: Expression,
  condition: NonNullable<CompiledPolicy['condition']>,
  clauses: Map<string, JudgedClause>,
): JudgedTree {
  if (tree.kind === 'not') return { kind: 'not', operand: treeOf(tree.operand, condition, clauses) }
  if (tree.kind === 'logic') {
    const operands = tree.operands.map((one) => treeOf(one, condition, clauses))
    return { kind: 'logic', settledBy: tree.operator === '||' ? 'true' : 'false', operands }
  }
  const text = print(tree)
  return { kind: 'clause', clause: remembered(clauses, text, () => conditionClause(text, tree, condition)) }
}

function clausesOf(tree: JudgedTree): readonly JudgedClause[] {
  if (tree.kind === 'clause') return [tree.clause]
  if (tree.kind === 'not') return clausesOf(tree.operand)
  return tree.kind === 'logic' ? tree.operands.flatMap(clausesOf) : []
}

function remembered(clauses: Map<string, JudgedClause>, key: string, make: () => JudgedClause): JudgedClause {
  const known = clauses.get(key) ?? make()
  clauses.set(key, known)
  return known
}

function conditionClause(
  text: string,
  tree: Expression,
  { unit }: NonNullable<CompiledPolicy['condition']>,
): JudgedClause {
  const compiled = compilePolicy({ id: '', name: '', effect: 'EFFECT_ALLOW', condition: text })
  return {
    reads: readClause(tree, unit.types),
    judge: (context) => {
      const holds = conditionHolds(compiled, context)
      return holds === undefined ? 'error' : holds ? 'true' : 'false'
    },
  }
}

function timeClause(time: string): JudgedClause {
  const read = timeReader(time)
  const part = { key: NOW[0]!, path: NOW, type: { kind: 'timestamp' as const }, compared: nothingCompared() }
  return { reads: { parts: new Map([[part.key, part]]), isUnderstood: true }, judge: ({ now }) => read(now) }
}
