/**
 * Evaluates many policies for one request without looking at each of them.
 *
 * Premise: most conditions join comparisons with `&&`, some of them with literals: `activity.kind == 'SIGN_TRANSACTION'
 * && wallet.id == '…' && eth.tx.value < 5`. If one comparison is false the condition is false, unless another part of it faults: both
 * sides of `&&` and `||` are evaluated, and a fault is the result. So a policy may be skipped if one of its literals does not match and
 * no part of it can fault, because the request has every chain of fields that it reads (`sound.ts`).
 *
 * Algorithm: policies that read the same chains, and compare the same ones of them with literals, are one group. The policies of a group
 * whose literals match are found by looking up the values that the request has there; the others give an implicit deny. A policy in no
 * group is evaluated. If a chain of a group cannot be read, every policy of the group is evaluated, unless that chain is compared in one
 * of the clauses that the conditions begin with: then all of them give the same fault, which is found once.
 */
import type { Expression } from '../ast.ts'
import { type CompiledPolicy, evaluateEach, evaluatePolicy } from '../compiled-policy.ts'
import type { Frame } from '../frame.ts'
import { limits } from '../limits.ts'
import { foldActivityName, foldHex, loaderOf } from '../load.ts'
import type { PolicyContext, PolicyOutcome } from '../model.ts'
import type { Type } from '../types.ts'
import type { Unit } from '../unit.ts'
import { Fault } from '../values.ts'
import { type RawPath, readerOf } from './read-path.ts'
import { longestVoterList, needsOf, SHORT_TEXT, type ValueConditions } from './sound.ts'

/** Policies prepared for many requests. */
export interface PolicyIndex {
  readonly policies: readonly CompiledPolicy[]
  /** Evaluates the policies for a request; the outcomes are in the order of the policies. */
  readonly evaluate: (request: Frame) => readonly PolicyOutcome[]
  /**
   * The most steps that the policies which `evaluate` may skip would take, for items of one request; undefined if one of them might run
   * out of steps by itself, so that each must be evaluated.
   */
  readonly mostSteps: (items: readonly PolicyContext[]) => number | undefined
}

/** A literal that a path must equal, as the key under which the values that equal it are found. */
type Key = string | bigint
type Keys = ReadonlyMap<string, readonly Key[]>

/** The most keys of one policy in one look-up: a comparison with more is left to the evaluation. */
const MOST_KEYS = 64

/** The literals and chains by which an index finds a policy. */
export interface PolicyKeys {
  readonly keys: Keys
  /** The chains that the first clauses compare with literals, in their order. */
  readonly leading: readonly string[]
  readonly needs: readonly ValueConditions[]
}

type Table = Map<Key, Table | number[]>

interface Group {
  /** Positions of the paths that the group reads. */
  readonly reads: readonly number[]
  readonly keyed: readonly number[]
  readonly table: Table
  readonly leading: readonly number[]
  /** Positions of policies. */
  readonly members: number[]
  /** The outcomes of the members when the first unreadable leading path has this fault. */
  readonly failures: Map<Fault, readonly PolicyOutcome[]>
}

/**
 * What the request has at a path: a key, `true` where no key is wanted; when something is missing, the fault that stands
 * for what is; `undefined` when it cannot be read for another reason.
 */
type Probed = Key | true | Fault | undefined
type Probe = (frame: Frame) => Probed

/** Fewer policies than this are evaluated faster than they are looked up. */
const FEW = 8

/**
 * Indexes policies, for more than a few requests.
 * @default found what `findPolicyKeys` gives of each: to be given by those who have it, since finding it takes as long as compiling
 */
export function indexPolicies(
  policies: readonly CompiledPolicy[],
  found: () => readonly (PolicyKeys | undefined)[] = () => policies.map(findPolicyKeys),
): PolicyIndex {
  if (policies.length < FEW) {
    return { policies, evaluate: (frame) => evaluateEach(policies, frame), mostSteps: () => 0 }
  }
  const builder = new Builder(policies, found())
  const { groups, always, probes } = builder
  const implicit = policies.map(({ outcomes }) => outcomes.OUTCOME_DENY_IMPLICIT)
  const evaluate = (frame: Frame): readonly PolicyOutcome[] => {
    const outcomes = implicit.slice()
    for (const position of always) outcomes[position] = evaluatePolicy(policies[position]!, frame)
    const values: Probed[] = []
    for (const probe of probes) values.push(probe(frame))
    for (const group of groups) {
      const failures = failuresOf(policies, group, values, frame)
      if (failures) for (let i = 0; i < failures.length; i++) outcomes[group.members[i]!] = failures[i]!
      else
        for (const position of candidatesOf(group, values))
          outcomes[position] = evaluatePolicy(policies[position]!, frame)
    }
    return outcomes
  }
  // The voters of a request are the same for all of its items.
  const mostSteps = (items: readonly PolicyContext[]): number | undefined => {
    const longest = longestVoterList(items[0]!)
    const most = longest === undefined ? undefined : builder.mostSteps(longest)
    return most === undefined ? undefined : most * items.length
  }
  return { policies, evaluate, mostSteps }
}

const none: readonly number[] = []

function candidatesOf({ reads, keyed, table, members }: Group, values: readonly Probed[]): readonly number[] {
  for (const path of reads) if (!isRead(values[path])) return members
  let at: Table | number[] | undefined = table
  for (const path of keyed) {
    at = (at as Table).get(values[path] as Key)
    if (at === undefined) return none
  }
  return at as number[]
}

function isRead(value: Probed): value is Key | true {
  return value !== undefined && !(value instanceof Fault)
}

/**
 * The faults of a group's members if a leading path cannot be read, the first such path. INVARIANT: the clauses before it can be read and
 * cannot fault, so its fault is the first of the condition, and the only one in the outcome.
 */
function failuresOf(
  policies: readonly CompiledPolicy[],
  { leading, members, failures }: Group,
  values: readonly Probed[],
  frame: Frame,
): readonly PolicyOutcome[] | undefined {
  for (const path of leading) {
    const value = values[path]
    if (isRead(value)) continue
    if (value === undefined) return undefined
    let known = failures.get(value)
    if (known === undefined) {
      known = members.map((position) => Object.freeze(evaluatePolicy(policies[position]!, frame)))
      failures.set(value, known)
    }
    return known
  }
  return undefined
}

class Builder {
  readonly groups: Group[] = []
  /** Positions of the policies that are evaluated for every request. */
  readonly always: number[] = []
  readonly probes: Probe[] = []
  readonly #positions = new Map<string, number>()
  readonly #groups = new Map<string, Group>()
  #depth = 0
  /** Steps of expressions if lists have one element at most: of the costliest, of all conditions, of all consensuses. */
  #dearest = 0
  #conditions = 0
  #consensuses = 0
  #longest = 0

  constructor(policies: readonly CompiledPolicy[], found: readonly (PolicyKeys | undefined)[]) {
    for (const [position, one] of found.entries()) {
      if (one === undefined) this.always.push(position)
      else this.#add(policies[position]!, position, one)
    }
  }

  /** The most steps that all policies of groups take if lists have at most this length; undefined if one might run out. */
  mostSteps(longest: number): number | undefined {
    const length = Math.max(1, longest, this.#longest)
    const walked = length ** this.#depth
    if (this.#dearest * walked >= limits.steps / 2) return undefined
    // A consensus that does not hold is evaluated for each approver and each credential, at most twice.
    return (this.#conditions + this.#consensuses * (1 + 4 * length)) * walked
  }

  #add({ condition, consensus }: CompiledPolicy, position: number, { keys, leading, needs }: PolicyKeys): void {
    const [ofCondition, ofConsensus] = [condition?.cost ?? 0, consensus?.cost ?? 0]
    this.#dearest = Math.max(this.#dearest, ofCondition, ofConsensus)
    this.#conditions += ofCondition
    this.#consensuses += ofConsensus
    for (const { depth, longestList } of needs) {
      this.#depth = Math.max(this.#depth, depth)
      this.#longest = Math.max(this.#longest, longestList)
    }
    const paths = needs.flatMap((need) => [...need.paths].map(([text, path]) => ({ text, path, need })))
    const reads = paths.map(({ text, path, need }) => this.#position(text, path, need.sliced.has(text)))
    const keyed = [...keys.keys()]
      .sort()
      .map((text) => this.#position(text, paths.find((one) => one.text === text)!.path, false))
    const first = leading.map((text) => this.#position(text, paths.find((one) => one.text === text)!.path, false))
    const name = `${[...new Set(reads)].sort().join()}|${keyed.join()}|${first.join()}`
    let group = this.#groups.get(name)
    if (group === undefined) {
      group = {
        reads: [...new Set(reads)],
        keyed,
        table: new Map(),
        leading: first,
        members: [],
        failures: new Map(),
      }
      this.#groups.set(name, group)
      this.groups.push(group)
    }
    group.members.push(position)
    enter(
      group.table,
      [...keys.keys()].sort().map((text) => keys.get(text)!),
      position,
    )
  }

  /** The position of a path among those that are read of each request. */
  #position(text: string, path: RawPath, sliced: boolean): number {
    const name = sliced ? `${text} short` : text
    const known = this.#positions.get(name)
    if (known !== undefined) return known
    this.#positions.set(name, this.probes.length)
    this.probes.push(probeOf(path, sliced))
    return this.probes.length - 1
  }
}

function enter(table: Table, [keys, ...rest]: readonly (readonly Key[])[], position: number): void {
  for (const key of keys!) {
    if (rest.length > 0) {
      const inner = table.get(key) ?? new Map()
      table.set(key, inner)
      enter(inner as Table, rest, position)
    } else {
      const positions = (table.get(key) ?? []) as number[]
      if (!positions.includes(position)) positions.push(position)
      table.set(key, positions)
    }
  }
}

/** Collects the literals by which a policy is found; undefined for a policy that is evaluated for every request. */
export function findPolicyKeys({ time, condition, consensus }: CompiledPolicy): PolicyKeys | undefined {
  // A policy with a time may be inactive, which is its outcome before any other.
  if (time !== undefined || condition?.tree === undefined) return undefined
  const needs = [needsOf(condition), ...(consensus === undefined ? [] : [needsOf(consensus)])]
  const known = needs.filter((need) => need !== undefined)
  if (known.length < needs.length) return undefined
  const keys = new Map<string, readonly Key[]>()
  const leading: string[] = []
  let count = 1
  for (const [place, clause] of clausesOf(condition.tree).entries()) {
    const found = keysOf(condition.unit, clause)
    if (found !== undefined && leading.length === place) leading.push(found.path)
    if (found === undefined || keys.has(found.path) || count * found.keys.length > MOST_KEYS) continue
    count *= found.keys.length
    keys.set(found.path, found.keys)
  }
  return keys.size === 0 ? undefined : { keys, leading, needs: known }
}

/** The operands of an `&&`, with those of each `&&` inside it. */
function clausesOf(node: Expression): readonly Expression[] {
  return node.kind === 'logic' && node.operator === '&&' ? node.operands.flatMap(clausesOf) : [node]
}

function keysOf(unit: Unit, node: Expression): { readonly path: string; readonly keys: readonly Key[] } | undefined {
  const [value, literals] =
    node.kind === 'compare' && node.operator === '=='
      ? isLiteral(node.left)
        ? [node.right, [node.left]]
        : [node.left, [node.right]]
      : node.kind === 'compare' && node.operator === 'in' && node.right.kind === 'list'
        ? [node.left, node.right.items]
        : [undefined, []]
  if (value === undefined || literals.length === 0) return undefined
  const path = readerOf(unit, value, undefined)
  if (path === undefined) return undefined
  const keys: Key[] = []
  for (const literal of literals) {
    const key = isLiteral(literal) ? keyOf(literal.value, path.type) : undefined
    if (key === undefined) return undefined
    keys.push(key)
  }
  return { path: path.chain, keys }
}

function isLiteral(node: Expression): node is Expression & { kind: 'string' | 'int' } {
  return node.kind === 'string' || node.kind === 'int'
}

/** The same key for all values that may be equal. It may find too many policies, since those are evaluated, and never too few. */
function keyOf(value: unknown, type: Type): Key | undefined {
  if (type.kind === 'int' || type.kind === 'uint') return typeof value === 'bigint' ? value : undefined
  if (type.kind !== 'string' || typeof value !== 'string') return undefined
  switch (type.letters) {
    case 'exact':
      return value
    case 'hex':
    case 'address':
      return foldHex(value)
    case 'activity':
      return /SPARK|LAYER2/.test(value) ? foldActivityName(value) : value
    default:
      return type.letters satisfies never
  }
}

function probeOf({ read, type, place }: RawPath, sliced: boolean): Probe {
  const load = loaderOf(type)
  return (frame) => {
    const raw = read(frame)
    if (raw instanceof Fault) return raw
    if (load(raw, place) instanceof Fault) return undefined
    if (sliced && (typeof raw !== 'string' || raw.length > SHORT_TEXT)) return undefined
    if (type.kind === 'string') return keyOf(raw, type)
    if (type.kind === 'int' || type.kind === 'uint')
      return typeof raw === 'bigint' ? raw : BigInt(raw as string | number)
    return true
  }
}
