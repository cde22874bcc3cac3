/**
 * What each policy says of a power, whatever the state: its condition taken apart at the outermost `&&`, and each part judged as
 * true, false or open. Computed once for all states that hold the policy.
 */
import {
  authorize,
  type CompiledPolicy,
  compilePolicy,
  type Expression,
  type PolicyContext,
  type PolicyText,
  parse,
  type Reads,
  readsOf,
} from '../policy/index.ts'
import type { Resource } from '../resources/index.ts'
import { type PolicyCompiler, policyText } from './policies.ts'

/** Whether a part reads what only a request can define. A condition that asks for anything else that is not there errs, and never holds. */
const ofAnyRequest = ({ chains }: Reads) => [...chains.keys()].some((chain) => chain.startsWith('activity.params'))
/** Definitions say nothing of secrets. */
const ofSecret = (reads: Reads) => ofAnyRequest(reads) || reads.roots.has('secret')
const SIGNED = ['eth', 'solana', 'tron', 'bitcoin', 'tempo', 'wallet_account', 'params']
const ofSigning = (reads: Reads) => ofAnyRequest(reads) || SIGNED.some((root) => reads.roots.has(root))
/** Whether a condition reads parts of a wallet that the lists behind a plan do not tell. */
const ofWallet = ({ chains }: Reads) => ['wallet', 'wallet.imported', 'wallet.exported'].some((one) => chains.has(one))

/** The powers, in the order in which they are shown; each is asked as the activity that uses it. */
export const POWERS = [
  { power: 'sign transactions', type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2', perWallet: true, open: ofSigning },
  { power: 'sign raw payloads', type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', perWallet: true, open: ofSigning },
  { power: 'export', type: 'ACTIVITY_TYPE_EXPORT_WALLET', perWallet: true, open: ofAnyRequest },
  { power: 'export secrets', type: 'ACTIVITY_TYPE_EXPORT_SECRETS', perWallet: false, open: ofSecret },
  { power: 'add policies', type: 'ACTIVITY_TYPE_CREATE_POLICIES', perWallet: false, open: ofAnyRequest },
  { power: 'change policies', type: 'ACTIVITY_TYPE_UPDATE_POLICY_V2', perWallet: false, open: ofAnyRequest },
  { power: 'delete policies', type: 'ACTIVITY_TYPE_DELETE_POLICIES', perWallet: false, open: ofAnyRequest },
  { power: 'change the root quorum', type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', perWallet: false, open: ofAnyRequest },
] as const

export type PolicyPower = (typeof POWERS)[number]

/** A policy whose condition has been taken apart. */
interface Row {
  readonly policy: PolicyText
  readonly parts: readonly Part[]
}

interface Part {
  readonly text: string
  readonly reads: Reads
  readonly aboutWallet: boolean
  /** When it is `wallet.id == '…'` and nothing else, as most are: then there is nothing to evaluate. */
  readonly walletId?: string
}

type Truth = 'true' | 'false' | 'open'

/** A row as far as a power goes, whatever the wallet. */
interface Narrowed {
  readonly row: Row
  readonly open: readonly string[]
}

/** Facts about policies that no state changes: computed once for all states that hold them. */
export interface Rules {
  readonly rowOf: (policy: Resource) => Row
  /** Undefined when it cannot apply. */
  readonly narrow: (row: Row, power: PolicyPower) => Narrowed | undefined
  readonly truthOf: (part: Part, power: PolicyPower, context: PolicyContext) => Truth
  /** The policy without its condition. */
  readonly consensusOf: (policy: PolicyText) => CompiledPolicy
}

/** Makes the rules; `now` is in nanoseconds since the epoch. */
export function createRules(now: bigint, compile: PolicyCompiler): Rules {
  // A condition's part holds a request when it holds: an ALLOW without consensus.
  const compiledOf = remember((condition: string) =>
    compilePolicy({ id: '', name: '', effect: 'EFFECT_ALLOW', condition }),
  )
  const truthOf = (part: Part, power: PolicyPower, context: PolicyContext) =>
    judge(part, { power, context, compiled: () => compiledOf(part.text) })
  const narrowBy = remember((power: PolicyPower) => {
    const context: PolicyContext = { now, activity: { type: power.type, params: {} }, approvers: [] }
    return remember((row: Row): Narrowed | undefined => {
      const parts = row.parts.filter(({ aboutWallet }) => !aboutWallet)
      const truths = parts.map((part) => ({ part, truth: truthOf(part, power, context) }))
      if (truths.some(({ truth }) => truth === 'false')) return undefined
      return { row, open: truths.flatMap(({ part, truth }) => (truth === 'open' ? [part.text] : [])) }
    })
  })
  return {
    rowOf: remember((policy) => takeApart(compile(policyText(policy)))),
    truthOf,
    narrow: (row, power) => narrowBy(power)(row),
    consensusOf: remember((policy) => ({
      ...compile(policy),
      policy: { ...policy, condition: undefined },
      condition: undefined,
    })),
  }
}

/** The function, which does its work once for each argument. */
export function remember<Argument, Result>(work: (argument: Argument) => Result): (argument: Argument) => Result {
  const known = new Map<Argument, Result>()
  return (argument) => {
    if (!known.has(argument)) known.set(argument, work(argument))
    return known.get(argument)!
  }
}

function takeApart({ policy, condition: compiled }: CompiledPolicy): Row {
  const { condition } = policy
  if (condition === undefined || condition === null) return { policy, parts: [] }
  const tree = compiled?.tree ?? parse(condition).tree
  const trees = tree?.kind === 'logic' && tree.operator === '&&' ? tree.operands : tree ? [tree] : []
  const parts = trees.map((one): Part => {
    const reads = readsOf(one)
    const text = condition.slice(one.start, one.end)
    return {
      // The brackets around an operand are no part of it.
      text: trees.length > 1 && one.kind === 'logic' ? `(${text})` : text,
      reads,
      aboutWallet: reads.roots.has('wallet'),
      ...walletIdIn(one),
    }
  })
  // What cannot be read errs whatever is asked.
  return { policy, parts: tree ? parts : [{ text: condition, reads: readsOf(), aboutWallet: false }] }
}

function walletIdIn(tree: Expression): Pick<Part, 'walletId'> {
  if (tree.kind !== 'compare' || tree.operator !== '==' || tree.right.kind !== 'string') return {}
  const { left, right } = tree
  const isId = left.kind === 'member' && left.name.text === 'id' && left.target.kind === 'name'
  return isId && left.target.name === 'wallet' ? { walletId: right.value } : {}
}

function judge(
  { reads, walletId }: Part,
  {
    power: { open },
    context,
    compiled,
  }: { readonly power: PolicyPower; readonly context: PolicyContext; readonly compiled: () => CompiledPolicy },
): Truth {
  const { wallet } = context
  if (walletId !== undefined && wallet) return wallet['id'] === walletId ? 'true' : 'false'
  // Who approves is what is being asked.
  if (reads.roots.has('approvers') || reads.roots.has('credentials')) return 'open'
  const { rootQuorum: _rootQuorum, ...plain } = context
  const outcome = authorize([compiled()], plain).policies[0]?.outcome
  if (outcome === 'OUTCOME_ALLOW') return 'true'
  return outcome === 'OUTCOME_ERROR' && (open(reads) || (wallet !== undefined && ofWallet(reads))) ? 'open' : 'false'
}
