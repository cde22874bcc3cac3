/**
 * The value of a condition for each kind of request. A *world* is what a request's activity type says about it
 * alone: which roots are defined, and the words for the activity (U-root-def, docs/protocol/policies.md#roots). In a
 * world a condition is true, false, an error, or open: it depends on the request.
 */
import { activities } from '../../protocol/catalogue.ts'
import type { ActivityRow } from '../../protocol/index.ts'
import { paramNames } from '../activity-params.ts'
import type { Expression } from '../ast.ts'
import { foldActivityName } from '../load.ts'
import { textComparison } from './clauses.ts'
import type { LintExpression, LintPolicy } from './rule.ts'

export interface PossibleRequest {
  readonly row: ActivityRow
  /** Roots, and of `eth` the fields below it, that have a value. */
  readonly defined: ReadonlySet<string>
  /** Parameters whose text is known, by name. */
  readonly params: Readonly<Record<string, string>>
}

/** `error` outweighs everything: `&&` and `||` read both of their sides. */
export type Truth = 'true' | 'false' | 'error' | 'open'

const holders = [['wallet', 'wallet_account'], ['private_key']] as const

const transactions: readonly (readonly [string, string])[] = [
  ['eth.tx', 'TRANSACTION_TYPE_ETHEREUM'],
  ['solana', 'TRANSACTION_TYPE_SOLANA'],
  ['tron', 'TRANSACTION_TYPE_TRON'],
  ['bitcoin', 'TRANSACTION_TYPE_BITCOIN'],
  ['tempo', 'TRANSACTION_TYPE_TEMPO'],
]

const encodings: readonly (readonly [string | undefined, string])[] = [
  [undefined, 'PAYLOAD_ENCODING_HEXADECIMAL'],
  [undefined, 'PAYLOAD_ENCODING_TEXT_UTF8'],
  ['eth.eip_712', 'PAYLOAD_ENCODING_EIP712'],
  ['eth.eip_7702_authorization', 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION'],
]

/** Activities that several roots come with; the rest of signing has its holder, and any other activity none. */
function worldsOf(row: ActivityRow): readonly PossibleRequest[] {
  const world = (roots: readonly (string | undefined)[], params: PossibleRequest['params'] = {}): PossibleRequest => ({
    row,
    defined: new Set(roots.filter((root) => root !== undefined)),
    params,
  })
  const held = (roots: readonly (string | undefined)[], params?: PossibleRequest['params']) =>
    holders.map((holder) => world([...holder, ...roots], params))
  switch (row.kind) {
    case 'SIGN_TRANSACTION':
      return transactions.flatMap(([root, type]) => held([root], { type }))
    case 'SIGN_RAW_PAYLOAD':
    case 'SIGN_RAW_PAYLOADS':
      return encodings.flatMap(([root, encoding]) => held([root], { encoding }))
    case 'ETH_SEND_TRANSACTION':
      return held(['eth.tx'])
    case 'SOL_SEND_TRANSACTION':
      return held(['solana'])
    case 'EXPORT_WALLET':
      return [world(['wallet'])]
    case 'EXPORT_WALLET_ACCOUNT':
      return [world(['wallet', 'wallet_account'])]
    case 'EXPORT_PRIVATE_KEY':
      return [world(['private_key'])]
    case 'DELETE_WALLETS':
      return [world(['wallets'])]
    case 'EXPORT_SECRETS':
      return [world(['secret'])]
    default:
      return row.action === 'SIGN' ? held([]) : [world([])]
  }
}

/** Every world in which policies are asked: not for votes, nor for what the root quorum alone may do. */
export function allWorlds(): readonly PossibleRequest[] {
  return Object.values(activities)
    .filter(({ rootOnly, family }) => !rootOnly && family !== 'APPROVE_ACTIVITY' && family !== 'REJECT_ACTIVITY')
    .flatMap(worldsOf)
}

/** The value of a policy's condition in a world; an absent condition holds. */
export function truthOf(policy: LintPolicy, world: PossibleRequest): Truth {
  const { condition } = policy.fields
  return condition === undefined ? 'true' : truth(condition.tree, world, condition)
}

/** The value of an expression in a world. */
export function truth(node: Expression, world: PossibleRequest, expression: LintExpression): Truth {
  switch (node.kind) {
    case 'bool':
      return node.value ? 'true' : 'false'
    case 'not': {
      const inner = truth(node.operand, world, expression)
      return inner === 'true' ? 'false' : inner === 'false' ? 'true' : inner
    }
    case 'logic': {
      const settled = node.operator === '||' ? 'true' : 'false'
      const truths = node.operands.map((operand) => truth(operand, world, expression))
      if (truths.includes('error')) return 'error'
      if (truths.includes(settled)) return settled
      return truths.includes('open') ? 'open' : settled === 'true' ? 'false' : 'true'
    }
    default:
      break
  }
  if (absentIn(node, world) !== undefined) return 'error'
  const comparison = textComparison(node)
  const known = comparison && knownText(comparison.value, world)
  if (comparison === undefined || known === undefined) return 'open'
  const same = comparison.texts.some(({ value }) => foldActivityName(value) === known)
  return same === comparison.equal ? 'true' : 'false'
}

/** What an expression reads that is not there in a world, as it is written; undefined when all of it may be. What is inside of a predicate may never be read. */
export function absentIn(node: Expression, world: PossibleRequest): string | undefined {
  const first = (nodes: readonly Expression[]): string | undefined => {
    for (const each of nodes) {
      const absent = absentIn(each, world)
      if (absent !== undefined) return absent
    }
    return undefined
  }
  switch (node.kind) {
    case 'bool':
    case 'int':
    case 'string':
    case 'call':
      return undefined
    case 'name':
      return isDefined([node.name], world) ? undefined : node.name
    case 'member': {
      const path = pathOf(node)
      if (path === undefined) return absentIn(node.target, world)
      return isDefined(path, world) ? undefined : nameOf(path)
    }
    case 'quantifier':
    case 'slice':
      return absentIn(node.target, world)
    case 'list':
      return first(node.items)
    case 'struct':
      return first(node.fields.map(({ value }) => value))
    case 'method':
      return first([node.target, ...node.args])
    case 'index':
      return first([node.target, node.index])
    case 'not':
      return absentIn(node.operand, world)
    case 'compare':
      return first([node.left, node.right])
    case 'logic':
      return first(node.operands)
    default:
      return node satisfies never
  }
}

/** The part of a path that is there or not with all below it: `eth.tx`, `activity.params.user_id`, `wallet`. */
function nameOf([root = '', ...fields]: readonly string[]): string {
  const depth = root === 'activity' ? 2 : root === 'eth' ? 1 : 0
  return [root, ...fields.slice(0, depth)].join('.')
}

/** The names of a chain of fields; undefined when something else is in it. */
function pathOf(node: Expression): readonly string[] | undefined {
  if (node.kind === 'name') return [node.name]
  if (node.kind !== 'member') return undefined
  const above = pathOf(node.target)
  return above && [...above, node.name.text]
}

function isDefined([root = '', field, param]: readonly string[], { row, defined }: PossibleRequest): boolean {
  if (root === 'activity') {
    if (field === 'kind' || field === 'resource' || field === 'action') return row[field] !== undefined
    return field !== 'params' || param === undefined || paramNames(row.type).includes(param)
  }
  if (root === 'eth') return field === undefined || defined.has(`eth.${field}`)
  return defined.has(root)
}

/** The text of `activity.kind` and the like in a world. */
function knownText(node: Expression, { row, params }: PossibleRequest): string | undefined {
  const [root, field, param] = pathOf(node) ?? []
  if (root !== 'activity') return undefined
  if (field === 'type' || field === 'kind' || field === 'resource' || field === 'action') return row[field]
  return field === 'params' && param !== undefined ? params[param] : undefined
}
