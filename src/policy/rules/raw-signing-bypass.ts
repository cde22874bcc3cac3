import type { Expression } from '../ast.ts'
import { conjuncts, nodesOf, rootOf, textComparison } from './clauses.ts'
import type { LintInput, LintPolicy, LintRule } from './rule.ts'
import { allWorlds, type PossibleRequest, truthOf } from './worlds.ts'

const transactionRoots = ['eth', 'solana', 'tron', 'bitcoin', 'tempo']

export const rawSigningBypass: LintRule = {
  name: 'raw-signing-bypass',
  severity: 'error',
  summary: 'an ALLOW reaches the signing of raw payloads beside a policy that looks into transactions',
  why: 'A transaction can be signed as a raw payload as well. Policies then see nothing of it: no receiver, no amount. A user who may sign raw payloads with a wallet is outside of every limit on its transactions.',
  solve: "name the activity, as in `activity.kind == 'SIGN_TRANSACTION'`, or deny raw payloads to everybody",
  bad: `limit:
  effect: allow
  consensus: approvers.count() >= 1
  condition: activity.kind == 'SIGN_TRANSACTION' && eth.tx.value < 1000
signing:
  effect: allow
  consensus: approvers.count() >= 2
  condition: activity.action == 'SIGN'`,
  good: `limit:
  effect: allow
  consensus: approvers.count() >= 1
  condition: activity.kind == 'SIGN_TRANSACTION' && eth.tx.value < 1000
signing:
  effect: allow
  consensus: approvers.count() >= 2
  condition: activity.action == 'SIGN'
no-raw-signing:
  effect: deny
  condition: activity.kind in ['SIGN_RAW_PAYLOAD', 'SIGN_RAW_PAYLOADS']`,
  check(input) {
    const worlds = allWorlds().filter(isBlind)
    const limits = input.policies.filter((policy) => looksIntoTransactions(input, policy))
    return input.policies
      .filter(({ effect }) => effect === 'allow')
      .flatMap((policy) => {
        const open = worlds.filter((world) => mayApply(policy, world) && !isDenied(input, world))
        const limit = limits.find((one) => one !== policy && mayShareWallet(one, policy))
        if (open.length === 0 || limit === undefined) return []
        return [
          {
            at: { policy: policy.name },
            message: `\`${policy.name}\` allows raw payloads to be signed, which passes by \`${limit.name}\``,
            help: "say `activity.kind == 'SIGN_TRANSACTION'` in it, or add a policy that denies `SIGN_RAW_PAYLOAD` and `SIGN_RAW_PAYLOADS`",
            related: { policy: limit.name, message: 'this looks into transactions' },
          },
        ]
      })
  },
}

/** Raw payloads of which policies see no more than that they are signed. */
function isBlind({ row, defined }: PossibleRequest): boolean {
  return (
    (row.kind === 'SIGN_RAW_PAYLOAD' || row.kind === 'SIGN_RAW_PAYLOADS') &&
    ![...defined].some((root) => root.startsWith('eth.'))
  )
}

function mayApply(policy: LintPolicy, world: PossibleRequest): boolean {
  const truth = truthOf(policy, world)
  return truth === 'true' || truth === 'open'
}

/** Whether a DENY without consensus and without `time` applies in a world, whatever else the request says. */
function isDenied(input: LintInput, world: PossibleRequest): boolean {
  return input.policies.some(
    (policy) =>
      policy.effect === 'deny' &&
      policy.fields.time === undefined &&
      policy.fields.consensus === undefined &&
      truthOf(policy, world) === 'true',
  )
}

function looksIntoTransactions(input: LintInput, policy: LintPolicy): boolean {
  for (const { node } of nodesOf({ ...input, policies: [policy] }))
    if (node.kind === 'member' && node.name.text === 'tx' && transactionRoots.includes(rootOf(node) ?? '')) return true
  return false
}

/** Two policies that each name other wallets have nothing to do with one another. */
function mayShareWallet(one: LintPolicy, other: LintPolicy): boolean {
  const wallets = walletsOf(one)
  const others = walletsOf(other)
  return wallets === undefined || others === undefined || wallets.some((id) => others.includes(id))
}

function walletsOf({ fields }: LintPolicy): readonly string[] | undefined {
  for (const clause of conjuncts(fields.condition?.tree)) {
    const comparison = textComparison(clause)
    if (comparison?.equal && isWalletId(comparison.value)) return comparison.texts.map(({ value }) => value)
  }
  return undefined
}

function isWalletId(node: Expression): boolean {
  return node.kind === 'member' && node.name.text === 'id' && rootOf(node) === 'wallet'
}
