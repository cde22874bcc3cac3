/**
 * What a condition can be in a world: true, false, an error, told by its tree. A world fixes the activity type, what that type
 * alone says of a request, and whose key it is about; everything else is *open*, because only a request can say it.
 */
import {
  absentIn,
  compilePolicy,
  conditionHolds,
  type Expression,
  type LintExpression,
  type PossibleRequest,
  print,
  readsOf,
  truth,
} from '../policy/index.ts'

/** A wallet or a private key, as policies read it. */
export interface Holder {
  readonly root: 'wallet' | 'private_key'
  readonly id: string
  readonly label: string
}

/** An activity type, with the roots that a request of it has, for one holder of keys or for none. */
export interface PowerWorld extends PossibleRequest {
  readonly holder?: Holder
}

/** What a condition can be; `text` is what is left of it once the parts that are known are gone. */
export interface Possible {
  readonly canHold: boolean
  /** Whether it can be false or an error. */
  readonly canFail: boolean
  readonly text: string
}

type Value = 'true' | 'false' | 'error'
interface Node {
  readonly values: ReadonlySet<Value>
  readonly tree: Expression
}

const OPEN: ReadonlySet<Value> = new Set<Value>(['true', 'false', 'error'])

/** Tells what a condition can be in a world; an absent one holds. What cannot be read is an error whatever is asked. */
export function possibleIn(condition: LintExpression | undefined, world: PowerWorld): Possible {
  if (condition === undefined) return { canHold: true, canFail: false, text: '' }
  const { values, tree } = judge(condition.tree, world, condition)
  return {
    canHold: values.has('true'),
    canFail: values.has('false') || values.has('error'),
    text: print(tree),
  }
}

function judge(tree: Expression, world: PowerWorld, expression: LintExpression): Node {
  if (tree.kind === 'not') {
    const { values } = judge(tree.operand, world, expression)
    return { values: new Set([...values].map(negated)), tree }
  }
  if (tree.kind === 'logic') return judgeLogic(tree, world, expression)
  return { values: valuesOf(tree, world, expression), tree }
}

/** Both sides are always read, so that an error of either is an error of the whole. */
function judgeLogic(
  tree: Expression & { readonly kind: 'logic' },
  world: PowerWorld,
  expression: LintExpression,
): Node {
  const settling: Value = tree.operator === '||' ? 'true' : 'false'
  const other: Value = settling === 'true' ? 'false' : 'true'
  const operands = tree.operands.map((one) => judge(one, world, expression))
  const values = new Set<Value>()
  if (operands.some((one) => one.values.has('error'))) values.add('error')
  const mustErr = operands.some((one) => one.values.size === 1 && one.values.has('error'))
  const mustSettle = operands.some((one) => one.values.has(settling) && !one.values.has(other))
  if (!mustErr && operands.some((one) => one.values.has(settling))) values.add(settling)
  if (!mustErr && !mustSettle && operands.every((one) => one.values.has(other))) values.add(other)
  // A part that is known, and decides nothing by itself, need not be shown.
  const left = operands.filter((one) => !(one.values.size === 1 && one.values.has(other)))
  if (left.length === 1) return { values, tree: left[0]!.tree }
  return { values, tree: { ...tree, operands: (left.length === 0 ? operands : left).map((one) => one.tree) } }
}

function negated(value: Value): Value {
  return value === 'true' ? 'false' : value === 'false' ? 'true' : value
}

/** Kinds of signing whose roots are all known (`worldsOf` in the policy room); of others what is absent is not known. */
const SURE = new Set([
  'SIGN_TRANSACTION',
  'SIGN_RAW_PAYLOAD',
  'SIGN_RAW_PAYLOADS',
  'ETH_SEND_TRANSACTION',
  'SOL_SEND_TRANSACTION',
  'SPARK_SIGN_FROST',
  'SPARK_PREPARE_TRANSFER',
  'SPARK_CLAIM_TRANSFER',
  'SPARK_PREPARE_LIGHTNING_RECEIVE',
])

/** Roots of which it is known of every request whether it has them: what signs is a wallet or a private key, and nothing else is about several or a secret. */
const HELD = /^(wallet|wallet_account|private_key|wallets|secret)\b/

/** Whether a request may have something that is not known of its kind: `eth.tx`, or another root. */
export function mayHave(name: string, { row }: PossibleRequest): boolean {
  return row.action === 'SIGN' && !SURE.has(row.kind ?? '') && !HELD.test(name)
}

/** What a part without `&&`, `||` and `!` at its top can be. */
function valuesOf(tree: Expression, world: PowerWorld, expression: LintExpression): ReadonlySet<Value> {
  const { holder } = world
  const absent = absentIn(tree, world)
  if (absent !== undefined) return mayHave(absent, world) ? OPEN : new Set<Value>(['error'])
  const byType = truth(tree, world, expression)
  if (byType !== 'open') return new Set([byType])
  const { roots, chains } = readsOf(tree)
  const isOfHolder = [...roots].every((root) => root === holder?.root)
  const known = [...chains.keys()].every((chain) => chain === `${holder?.root}.id` || chain === `${holder?.root}.label`)
  if (roots.size > 0 && !(isOfHolder && known)) return OPEN
  return new Set([evaluated(tree, holder)])
}

const compiledParts = new WeakMap<Expression, ReturnType<typeof compilePolicy>>()

/** The value of a part that reads nothing but a holder's id and label. */
function evaluated(tree: Expression, holder: Holder | undefined): Value {
  const known = compiledParts.get(tree)
  const compiled = known ?? compilePolicy({ id: '', name: '', effect: 'EFFECT_ALLOW', condition: print(tree) })
  if (!known) compiledParts.set(tree, compiled)
  const facts = holder ? { [holder.root]: { id: holder.id, label: holder.label } } : {}
  const holds = conditionHolds(compiled, { now: 0n, activity: { type: '' }, approvers: [], ...facts })
  return holds === undefined ? 'error' : holds ? 'true' : 'false'
}
