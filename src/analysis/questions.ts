/**
 * Which policies take part in the decision about a request, told by their conditions alone: the *question* of a request. Requests
 * with the same question have the same answer (`power-lines.ts`). What a condition can be is worked out once for all states that
 * hold the policy, and a policy that names its wallet is looked at for that wallet alone.
 */
import { whenActive } from '../authority/index.ts'
import { type CompiledPolicy, type Expression, type LintExpression, readsOf } from '../policy/index.ts'
import type { Resource } from '../resources/index.ts'
import { breathe } from './computing.ts'
import { type PolicyCompiler, policyText } from './policies.ts'
import { type Holder, type Possible, type PowerWorld, possibleIn } from './possible.ts'
import { type AddressedWorld, EVERY_REQUEST, type HolderRoot, type PowerRequest } from './power-table.ts'
import { type OrganizationState, thingsOf } from './state.ts'

/** A policy of some state. */
export interface PolicyRule {
  readonly name: string
  /** Equal for policies that decide alike, whatever their names and ids. */
  readonly serial: number
  /** Equal for policies that differ in nothing but names, ids, conditions and times. */
  readonly consensusSerial: number
  readonly compiled: CompiledPolicy
  /** Without its condition and its time. */
  readonly consensus: CompiledPolicy
  readonly condition: LintExpression | undefined
  /** What its condition cannot read is never met: the service has taken it, but it errs whatever is asked. */
  readonly isReadable: boolean
  /** Of what the holder must have one thing for the condition to hold (`pinsOf`); absent: it may be any holder. */
  readonly pins: Readonly<Partial<Record<HolderRoot, ReadonlySet<string>>>>
}

/** What policies can name a holder by. */
export function pinsOf({ id, label }: Pick<Holder, 'id' | 'label'>): readonly string[] {
  return [`id ${id}`, `label ${label}`]
}

/** A policy that may take part. */
export interface Applying {
  readonly rule: PolicyRule
  /** What only a request, or the moment of it, can say; '' where nothing is open. */
  readonly open: string
}

export interface PowerQuestion {
  readonly applying: readonly Applying[]
  readonly isRootOnly: boolean
  /** Equal for questions in which policies that decide alike take part in the same way. */
  readonly key: string
}

/** Reads policies, for all the states of one analysis. */
export interface RuleReader {
  readonly ruleOf: (policy: Resource) => PolicyRule
  /** What the condition of a policy can be, at any time from the moment on; without a holder, whoever it is. */
  readonly possible: (rule: PolicyRule, world: AddressedWorld | PowerRequest) => Possible
}

/** @param nowMs the moment, in milliseconds since the epoch */
export function createRuleReader(compile: PolicyCompiler, nowMs: number): RuleReader {
  const rules = new Map<Resource, PolicyRule>()
  const serials = new Map<string, number>()
  const known = new Map<string, Possible>()
  const remembered = (key: string, work: () => Possible): Possible => {
    const found = known.get(key) ?? work()
    known.set(key, found)
    return found
  }
  const atTimes = (time: string | undefined, { canHold, canFail, text }: Possible): Possible => {
    const when = time ? whenActive(time, BigInt(nowMs) * 1_000_000n) : 'always'
    if (when === 'never') return { canHold: false, canFail: true, text }
    if (when === 'always') return { canHold, canFail, text }
    return { canHold, canFail: true, text: canFail ? `(${text}) && (${time})` : time! }
  }
  return {
    ruleOf: (policy) => {
      const rule = rules.get(policy) ?? readRule(compile(policyText(policy)), serials)
      rules.set(policy, rule)
      return rule
    },
    possible: (rule, world) => {
      const { condition, serial } = rule
      const { time } = rule.compiled.policy
      const possible = (of: PowerWorld) => atTimes(time, possibleIn(condition, of))
      const { index, row, defined, params, root } = world
      const holder = 'holder' in world ? world.holder : undefined
      const whoever = remembered(`${serial} ${index}`, () => possible({ row, defined, params }))
      if (!holder || !whoever.canHold || !readsRoot(condition, root!)) return whoever
      const { id, label } = holder
      return remembered(`${serial} ${index} ${JSON.stringify([id, label])}`, () => possible(world))
    },
  }
}

const rootsOf = new WeakMap<Expression, ReadonlySet<string>>()
function readsRoot(condition: LintExpression | undefined, root: HolderRoot): boolean {
  if (condition === undefined) return false
  const roots = rootsOf.get(condition.tree) ?? readsOf(condition.tree).roots
  rootsOf.set(condition.tree, roots)
  return roots.has(root)
}

export function readRule(compiled: CompiledPolicy, serials: Map<string, number>): PolicyRule {
  const { policy, condition } = compiled
  const serialOf = (...parts: readonly unknown[]) => {
    const key = JSON.stringify(parts)
    const serial = serials.get(key) ?? serials.size
    serials.set(key, serial)
    return serial
  }
  const { effect, consensus, time } = policy
  const tree = condition?.tree
  let alone: CompiledPolicy | undefined
  return {
    name: policy.name,
    serial: serialOf(effect, consensus, time, policy.condition),
    consensusSerial: serialOf(effect, consensus),
    compiled,
    get consensus() {
      alone ??= withoutCondition(compiled)
      return alone
    },
    condition: tree && { text: condition.unit.text, tree, types: condition.unit.types },
    isReadable: condition === undefined || tree !== undefined,
    pins: tree === undefined ? {} : { ...pinned('wallet', tree), ...pinned('private_key', tree) },
  }
}

function withoutCondition({ policy, consensus, isIncluded, outcomes }: CompiledPolicy): CompiledPolicy {
  const text = { ...policy, condition: undefined, time: undefined }
  return { policy: text, time: undefined, condition: undefined, consensus, isIncluded, outcomes }
}

function pinned(root: HolderRoot, tree: Expression): PolicyRule['pins'] {
  const pins = pinsIn(tree, root)
  return pins === undefined ? {} : { [root]: pins }
}

/** The names outside of which an expression is never true; undefined for any. */
function pinsIn(tree: Expression, root: HolderRoot): ReadonlySet<string> | undefined {
  if (tree.kind === 'logic') {
    const all = tree.operands.map((one) => pinsIn(one, root))
    if (tree.operator === '&&') return all.find((one) => one !== undefined)
    return all.includes(undefined) ? undefined : new Set(all.flatMap((one) => [...one!]))
  }
  if (tree.kind !== 'compare' || (tree.operator !== '==' && tree.operator !== 'in')) return undefined
  const { left, right } = tree
  const texts = (tree.operator === 'in' && right.kind === 'list' ? right.items : [right]).map(
    (one) => one.kind === 'string' && one.value,
  )
  const isNamed = left.kind === 'member' && left.target.kind === 'name' && left.target.name === root
  if (!isNamed || texts.includes(false)) return undefined
  const field = left.name.text
  return field === 'id' || field === 'label' ? new Set(texts.map((text) => `${field} ${text}`)) : undefined
}

/** Makes the questions of a state. */
export function createQuestions(
  state: OrganizationState,
  reader: RuleReader,
): (world: AddressedWorld) => PowerQuestion {
  const rules = thingsOf(state, 'policy')
    .map(reader.ruleOf)
    .filter(({ isReadable }) => isReadable)
  // INVARIANT: a policy is among the candidates of each holder that it may hold for.
  const byPin = { wallet: new Map<string, PolicyRule[]>(), private_key: new Map<string, PolicyRule[]>() }
  const unpinned = { wallet: [] as PolicyRule[], private_key: [] as PolicyRule[] }
  for (const rule of rules)
    for (const root of ['wallet', 'private_key'] as const) {
      const pins = rule.pins[root]
      if (pins === undefined) unpinned[root].push(rule)
      else for (const pin of pins) byPin[root].set(pin, [...(byPin[root].get(pin) ?? []), rule])
    }
  // Of most requests most policies can hold for no holder, which is found out once.
  const perRequest = new Map<number, readonly PolicyRule[]>()
  const holding = ({ index, root }: AddressedWorld): readonly PolicyRule[] => {
    const found =
      perRequest.get(index) ??
      (root === undefined ? rules : unpinned[root]).filter(
        (rule) => reader.possible(rule, EVERY_REQUEST[index]!).canHold,
      )
    perRequest.set(index, found)
    return found
  }
  return (world) => {
    breathe()
    const { holder } = world
    const named = holder === undefined ? [] : pinsOf(holder).flatMap((pin) => byPin[holder.root].get(pin) ?? [])
    const applying = [...new Set([...holding(world), ...named])].flatMap((rule): readonly Applying[] => {
      const { canHold, canFail, text } = reader.possible(rule, world)
      return canHold ? [{ rule, open: canFail ? text : '' }] : []
    })
    const isRootOnly = world.row.rootOnly === true
    const keys = applying.map(({ rule, open }) => `${rule.serial} ${open}`).sort()
    return { applying, isRootOnly, key: JSON.stringify([isRootOnly, keys]) }
  }
}
