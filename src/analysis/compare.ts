/**
 * Whether one set of policies lets through more than another. Both are decided for the same requests: in every kind of request that an
 * activity can be, values are chosen for the parts that clauses read, one part after another, until it is known which policies take part
 * on either side; then who gets such a request executed is compared. Branches in which both sides are the same are not followed. A
 * difference is told with a request and the votes that make it, played as a whole before it is told.
 */
import { type Organization, votersOf } from '../authority/index.ts'
import {
  type Coalitions,
  type CompiledPolicy,
  compilePolicy,
  conditionHolds,
  createCompiler,
  type Expression,
  type PolicyContext,
  type PolicyText,
  print,
} from '../policy/index.ts'
import { type ComparedRule, type JudgedClause, type JudgedTree, NOW, searchRequest } from './compare-search.ts'
import { type Instants, instantsOf, timeReader } from './instants.ts'
import { createAnswers } from './power-lines.ts'
import { EVERY_REQUEST, POWER_NAMES, POWERS, type PowerName, type PowerRequest, requestsOf } from './power-table.ts'
import { readRule } from './questions.ts'
import { nothingCompared, readClause } from './request-parts.ts'
import type { KnownWallet } from './request-values.ts'
import { sameCoalitions, without } from './same-coalitions.ts'
import { type Play, playOf } from './witness.ts'

/** Policies, and the people and wallets that they speak of. */
export interface PolicySet {
  readonly policies: readonly PolicyText[]
  readonly organization: Organization
  readonly wallets: readonly KnownWallet[]
}

export type Relation = 'equal' | 'wider' | 'narrower' | 'incomparable' | 'unknown'

/** How the second set relates to the first, for the requests of one power; `other` are those of none. */
export interface ComparedPower {
  readonly power: PowerName | 'other'
  readonly relation: Relation
  /** Executed under the second set, and by no votes of these people under the first. */
  readonly wider?: Play
  /** Executed under the first set, and by no votes of these people under the second. */
  readonly narrower?: Play
  /** Names of policies because of which more may differ than is told, sorted. */
  readonly unknown: readonly string[]
}

/** Compares two sets at a moment in milliseconds since the epoch, power by power. */
export function comparePolicies(
  first: PolicySet,
  second: PolicySet,
  {
    nowMs,
    powers = [...POWER_NAMES, 'other'],
  }: { readonly nowMs: number; readonly powers?: readonly (PowerName | 'other')[] },
): readonly ComparedPower[] {
  const sides = [sideOf(first, nowMs), sideOf(second, nowMs)] as const
  const rules = readRules([first.policies, second.policies])
  const { wallets } = first
  const others = second.wallets.filter(({ id, label }) => !wallets.some((one) => one.id === id && one.label === label))
  const search = {
    rules,
    wallets: [...wallets, ...others],
    instants: instantsOf([...first.policies, ...second.policies], BigInt(nowMs) * 1_000_000n),
    arePeopleAlike: sides[0].key === sides[1].key,
  }
  const difference = createDifferences(sides)
  return powers.map((power) => compareOne(power, { ...search, sides, difference }))
}

/** The relation of the whole, from those of its parts. */
export function relationOf(parts: readonly Pick<ComparedPower, 'relation'>[]): Relation {
  const has = (relation: Relation) => parts.some((one) => one.relation === relation)
  if (has('incomparable') || (has('wider') && has('narrower'))) return 'incomparable'
  if (has('unknown')) return 'unknown'
  return has('wider') ? 'wider' : has('narrower') ? 'narrower' : 'equal'
}

type Side = ReturnType<typeof sideOf>
function sideOf({ policies, organization }: PolicySet, nowMs: number) {
  const { rootQuorum } = organization
  const voters = votersOf(organization, nowMs)
  return {
    answers: createAnswers(organization, nowMs, voters),
    stage: { policies: policies.map(compilePolicy), voters, rootQuorum },
    /** Equal for sides with the same people. */
    key: JSON.stringify([voters, rootQuorum]),
  }
}

interface CompareInput {
  readonly rules: readonly ComparedRule[]
  readonly wallets: readonly KnownWallet[]
  readonly instants: Instants
  readonly arePeopleAlike: boolean
  readonly sides: readonly [Side, Side]
  readonly difference: (taking: readonly ComparedRule[], isRootOnly: boolean) => Difference
}

function compareOne(power: PowerName | 'other', { sides, difference, ...search }: CompareInput): ComparedPower {
  const found: { wider?: Play; narrower?: Play } = {}
  const unknown = new Set<string>()
  const onUnknown = (some: readonly ComparedRule[]) => {
    for (const { rule } of some) unknown.add(rule.name)
  }
  const [first, second] = sides
  const onDecided =
    (isRootOnly: boolean) => (context: PolicyContext, taking: readonly ComparedRule[], exists: boolean) => {
      const told = difference(taking, isRootOnly)
      if (told === 'unknown') {
        onUnknown(taking)
        return
      }
      for (const [way, by, not] of [
        ['wider', second, first],
        ['narrower', first, second],
      ] as const) {
        const people = told[way]
        if (people === undefined || found[way]) continue
        const play = exists ? playOf({ context, people, by: by.stage, not: not.stage }) : undefined
        if (play) found[way] = play
        else onUnknown(taking.filter(({ on: [a, b] }) => a !== b))
      }
    }
  const isDone = () => found.wider !== undefined && found.narrower !== undefined
  for (const request of requestsFor(power))
    searchRequest({ ...search, request, onDecided: onDecided(request.row.rootOnly === true), onUnknown, isDone })
  const told = isDone() ? 'incomparable' : found.wider ? 'wider' : found.narrower ? 'narrower' : 'equal'
  const isUnknown = unknown.size > 0 && !isDone()
  return { power, relation: isUnknown ? 'unknown' : told, ...found, unknown: isUnknown ? [...unknown].sort() : [] }
}

function requestsFor(power: PowerName | 'other'): readonly PowerRequest[] {
  if (power !== 'other') return requestsOf(power)
  return EVERY_REQUEST.filter(({ row }) => POWER_NAMES.every((name) => !POWERS[name](row)))
}

/** People, by name, who get something executed on one side alone. */
type Difference = { readonly wider?: readonly string[]; readonly narrower?: readonly string[] } | 'unknown'

/** Tells who differs where these rules take part; asked once for the same rules. */
function createDifferences(sides: readonly [Side, Side]): CompareInput['difference'] {
  const known = new Map<string, Difference>()
  const answer = (taking: readonly ComparedRule[], isRootOnly: boolean): Difference => {
    const [a, b] = sides.map(({ answers }, side) => {
      const applying = taking.filter(({ on }) => on[side]).map(({ rule }) => ({ rule, open: '' }))
      const sets = answers.find(applying, isRootOnly)
      return sets === 'gave-up' ? undefined : answers.named(sets)
    })
    const isSame = a && b && sameCoalitions(a, b)
    if (isSame === undefined) return 'unknown'
    if (isSame) return {}
    const [wider, narrower] = [smallestOf(without(b!, a!)), smallestOf(without(a!, b!))]
    return { ...(wider && { wider }), ...(narrower && { narrower }) }
  }
  return (taking, isRootOnly) => {
    const key = JSON.stringify([isRootOnly, taking.map(({ rule }) => rule.serial).sort((a, b) => a - b)])
    const found = known.get(key) ?? answer(taking, isRootOnly)
    known.set(key, found)
    return found
  }
}

/** The smallest set, by names. */
function smallestOf({ classes, found }: Coalitions): readonly string[] | undefined {
  const size = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0)
  const [counts] = found.toSorted((a, b) => size(a) - size(b))
  return counts?.flatMap((count, index) => classes[index]!.slice(0, count))
}

/** The policies of both sides; those that decide alike are one. */
function readRules(sides: readonly [readonly PolicyText[], readonly PolicyText[]]): readonly ComparedRule[] {
  const compile = createCompiler()
  const serials = new Map<string, number>()
  const clauses = new Map<string, JudgedClause>()
  const all = sides.flatMap((policies, side) =>
    policies.map((policy) => ({ rule: readRule(compile(policy), serials), side })),
  )
  return [...Map.groupBy(all, ({ rule }) => rule.serial).values()].map((alike): ComparedRule => {
    const { rule } = alike[0]!
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
      // The moment is a part of the request here.
      rule: { ...rule, consensus: { ...rule.consensus, time: undefined } },
      isDeny: policy.effect === 'EFFECT_DENY',
      isForAll: policy.consensus === undefined,
      on: [alike.some(({ side }) => side === 0), alike.some(({ side }) => side === 1)],
      tree,
      clauses: clausesOf(tree),
    }
  })
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
