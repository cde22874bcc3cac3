/**
 * Decisions a second, on one rule and on a hundred policies: ours with and without the index, a CEL evaluator, Cedar
 * with its policies parsed beforehand, and closures written by hand. All of them give the same verdicts, which is
 * checked first. Nothing stops early anywhere, as the language has it; Cedar, which has no predicates over lists, is
 * given the number of approvers. The aim is ten times the best peer on both, and more than the closures on a hundred.
 */
import { preparsePolicySet, statefulIsAuthorized } from '@cedar-policy/cedar-wasm/nodejs'
import { parse as parseCel } from '@marcbachmann/cel-js'
import {
  type Approver,
  authorize,
  compilePolicy,
  indexPolicies,
  type PolicyContext,
  type PolicyText,
} from '../../src/policy/index.ts'
import { type Contender, compare } from './rounds.ts'

const AIM = 10
/** Decisions between two readings of the clock. */
const BATCH = 200

/** One way of writing "two of a group may sign up to a limit from a wallet on a chain". */
interface Rule {
  readonly kind: string
  readonly wallet: string
  readonly chainId: bigint
  readonly limit: bigint
  readonly tag: string
}

interface Request extends PolicyContext {
  /** Peers are told the kind; ours finds it by the type. */
  readonly activity: { readonly type: string; readonly kind: string }
  readonly wallet: { readonly id: string }
  readonly eth: { readonly tx: { readonly value: bigint; readonly chain_id: bigint } }
  readonly approvers: readonly Required<Pick<Approver, 'id' | 'tags'>>[]
}

const chains = [1n, 10n, 137n, 8453n]

const rules: readonly Rule[] = Array.from({ length: 100 }, (_, index) => ({
  kind: index % 10 === 9 ? 'ETH_SEND_TRANSACTION' : 'SIGN_TRANSACTION',
  wallet: `wallet-${index % 25}`,
  chainId: chains[Math.floor(index / 25)]!,
  limit: 10n ** BigInt(15 + (index % 3)),
  tag: `tag-${index % 5}`,
}))

/** Requests that a rule may or may not allow by its limit alone: every evaluator has to look at all of it. */
function requestsTo(chosen: readonly Rule[]): readonly Request[] {
  return Array.from({ length: 64 }, (_, index) => {
    const { wallet, chainId, tag } = chosen[(index * 7) % chosen.length]!
    return {
      now: 0n,
      activity: { type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2', kind: 'SIGN_TRANSACTION' },
      wallet: { id: wallet },
      eth: { tx: { value: 10n ** BigInt(14 + (index % 4)), chain_id: chainId } },
      approvers: ['alice', 'bob'].map((id, at) => ({ id, tags: [`tag-${(index + at) % 5}`, tag] })),
    }
  })
}

/** Prints both comparisons. */
export async function run(): Promise<void> {
  for (const count of [1, 100]) {
    const chosen = rules.slice(0, count)
    const contenders = [quorate(chosen, 'list'), quorate(chosen, 'index'), closures(chosen), cel(chosen), cedar(chosen)]
    const requests = requestsTo(chosen)
    const verdicts = contenders.map(({ decide }) => requests.map(decide).join())
    for (const [i, { name }] of contenders.entries())
      if (verdicts[i] !== verdicts[0]) throw new Error(`${name} gives other verdicts than ours`)
    const rates = await compare(contenders.map((one) => inBatches(one, requests)))
    const perSecond = rates.map(({ perCpuSecond }) => perCpuSecond * BATCH)
    const best = Math.max(perSecond[3]!, perSecond[4]!)
    console.log(
      `\n${count === 1 ? 'one rule' : `${count} policies`}: decisions per second of CPU time, and times the best peer; aim ${AIM}`,
    )
    for (const [i, { name }] of contenders.entries())
      console.log(
        `  ${name.padEnd(38)}${Math.round(perSecond[i]!).toLocaleString('en-US').padStart(12)}/s  ${(perSecond[i]! / best).toFixed(1)}`,
      )
  }
}

interface Decider {
  readonly name: string
  readonly decide: (request: Request) => boolean
}

function inBatches({ name, decide }: Decider, requests: readonly Request[]): Contender {
  let next = 0
  return {
    name,
    once: () => {
      let allowed = 0
      for (let i = 0; i < BATCH; i++) if (decide(requests[next++ % requests.length]!)) allowed++
      return allowed
    },
  }
}

function quorate(chosen: readonly Rule[], form: 'list' | 'index'): Decider {
  const compiled = chosen.map((rule, index) => compilePolicy(policyOf(rule, `p${index}`)))
  const policies = form === 'list' ? compiled : indexPolicies(compiled)
  return {
    name: form === 'list' ? 'quorate' : 'quorate, indexed',
    decide: (request) => authorize(policies, request).outcome === 'OUTCOME_ALLOW',
  }
}

function policyOf({ kind, wallet, chainId, limit, tag }: Rule, id: string): PolicyText {
  return {
    id,
    name: id,
    effect: 'EFFECT_ALLOW',
    condition: `activity.kind == '${kind}' && wallet.id == '${wallet}' && eth.tx.chain_id == ${chainId} && eth.tx.value <= ${limit}`,
    consensus: `approvers.filter(user, user.tags.contains('${tag}')).count() >= 2`,
  }
}

function closures(chosen: readonly Rule[]): Decider {
  const written = chosen.map(({ kind, wallet, chainId, limit, tag }) => (request: Request): boolean => {
    const isKind = request.activity.kind === kind
    const isWallet = request.wallet.id === wallet
    const isChain = request.eth.tx.chain_id === chainId
    const isSmall = request.eth.tx.value <= limit
    const isAgreed = request.approvers.filter((user) => user.tags.includes(tag)).length >= 2
    return isKind && isWallet && isChain && isSmall && isAgreed
  })
  return {
    name: 'closures by hand',
    decide: (request) => {
      let allowed = false
      for (const holds of written) if (holds(request)) allowed = true
      return allowed
    },
  }
}

function cel(chosen: readonly Rule[]): Decider {
  const compiled = chosen.map(({ kind, wallet, chainId, limit, tag }) =>
    parseCel(
      `approvers.filter(user, "${tag}" in user.tags).size() >= 2 && activity.kind == "${kind}" && wallet.id == "${wallet}" && eth.tx.chain_id == ${chainId} && eth.tx.value <= ${limit}`,
    ),
  )
  return {
    name: '@marcbachmann/cel-js',
    decide: (request) => {
      let allowed = false
      for (const evaluate of compiled) if (evaluate(request as never) === true) allowed = true
      return allowed
    },
  }
}

function cedar(chosen: readonly Rule[]): Decider {
  const id = `rules-${chosen.length}`
  const text = chosen
    .map(
      ({ kind, wallet, chainId, limit, tag }) =>
        `permit(principal, action == Action::"${kind}", resource == Wallet::"${wallet}") when { context.chain_id == ${chainId} && context.value <= ${limit} && context has "${tag}" && context["${tag}"] >= 2 };`,
    )
    .join('\n')
  const parsed = preparsePolicySet(id, { staticPolicies: text })
  if (parsed.type !== 'success') throw new Error(`Cedar refuses the policies: ${JSON.stringify(parsed)}`)
  return {
    name: '@cedar-policy/cedar-wasm, stateful',
    decide: (request) => {
      const counts: Record<string, number> = {}
      for (const { tags } of request.approvers) for (const tag of new Set(tags)) counts[tag] = (counts[tag] ?? 0) + 1
      const answer = statefulIsAuthorized({
        principal: { type: 'User', id: request.approvers[0]!.id },
        action: { type: 'Action', id: request.activity.kind },
        resource: { type: 'Wallet', id: request.wallet.id },
        context: { chain_id: Number(request.eth.tx.chain_id), value: Number(request.eth.tx.value), ...counts },
        preparsedPolicySetId: id,
        entities: [],
      })
      return answer.type === 'success' && answer.response.decision === 'allow'
    },
  }
}
