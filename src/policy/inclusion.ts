/**
 * Who is included in a consensus (U-included): a user for whom the predicates hold that the expression applies to
 * `approvers`, or to `credentials` for the user's own; anybody, where it counts them without a predicate.
 *
 * A *chain* is a use of one of these roots with the predicates applied to it in turn, such as
 * `approvers.filter(u, …).any(v, …)`; a user is included by a chain when all of its predicates hold. A chain may stand
 * inside of another predicate, such as `['a', 'b'].all(id, approvers.any(u, u.id == id))`: then it includes a user when
 * it does so for some element of the list outside.
 */
import { childrenOf, type Expression, type Quantifier, sizeOf } from './ast.ts'
import { compile } from './evaluate.ts'
import type { Frame } from './frame.ts'
import { loaderOf } from './load.ts'
import type { Approver, CredentialFacts } from './model.ts'
import { struct } from './types.ts'
import { type Evaluate, type Scope, spend, type Unit, type Variable, within } from './unit.ts'
import { type ExpressionValue, Fault, ListValue } from './values.ts'

/** Whether a voter is included; the credential matters where the consensus asks for credentials. */
export type IsIncluded = (
  request: Frame,
  voter: Approver | undefined,
  credential: CredentialFacts | undefined,
) => boolean

type Subject = 'approvers' | 'credentials'

interface Binder {
  readonly variable: Variable
  readonly list: Evaluate
}

interface Chain {
  readonly subject: Subject
  /** The predicates outside of which it stands, outermost first. */
  readonly binders: readonly Binder[]
  readonly predicates: readonly { readonly variable: Variable; readonly holds: Evaluate; readonly cost: number }[]
}

/** Compiles the question of inclusion for a checked consensus. */
export function compileInclusion(unit: Unit, tree: Expression): IsIncluded {
  // `true` is how one says "anybody" (docs/protocol/policies.md#a-policy).
  if (tree.kind === 'bool' && tree.value) return () => true
  const chains: Chain[] = []
  collect(unit, tree, undefined, [], chains)
  const cost = sizeOf(tree)
  return (frame, voter, credential) => {
    if (!frame.begin(cost)) return false
    const included = chains.some((chain) => {
      const subject = chain.subject === 'approvers' ? voter : credential
      if (subject === undefined) return false
      const element = loaders[chain.subject](subject, { text: '', start: 0, end: 0 })
      return !(element instanceof Fault) && includes(chain, 0, frame, element)
    })
    frame.end()
    return included
  }
}

const loaders = { approvers: loaderOf(struct('User')), credentials: loaderOf(struct('Credential')) } as const

function includes(chain: Chain, depth: number, frame: Frame, element: ExpressionValue): boolean {
  const binder = chain.binders[depth]
  if (binder === undefined)
    return chain.predicates.every(({ variable, holds, cost }) => {
      variable.value = element
      return spend(frame, cost) && holds(frame) === true
    })
  const list = binder.list(frame)
  if (!(list instanceof ListValue)) return false
  return list.items.some((item) => {
    if (!spend(frame, 1)) return false
    const outer = list.load(item, { text: '', start: 0, end: 0 })
    if (outer instanceof Fault) return false
    binder.variable.value = outer
    return includes(chain, depth + 1, frame, element)
  })
}

/** Gathers the chains of a tree; a chain that goes on is gathered once, at its end. */
function collect(
  unit: Unit,
  node: Expression,
  scope: Scope | undefined,
  binders: readonly Binder[],
  chains: Chain[],
): void {
  const links = linksOf(node, scope)
  if (links !== undefined && (links.quantifiers.length > 0 || isCount(node))) {
    chains.push({
      subject: links.subject,
      binders,
      predicates: links.quantifiers.map((quantifier) => {
        const inner = within(quantifier, scope)
        const holds = compile(unit, quantifier.predicate, inner)
        return { variable: inner.variable, holds, cost: sizeOf(quantifier.predicate) }
      }),
    })
    for (const quantifier of links.quantifiers) collectInside(unit, quantifier, scope, binders, chains)
    return
  }
  if (node.kind === 'quantifier') {
    collect(unit, node.target, scope, binders, chains)
    collectInside(unit, node, scope, binders, chains)
    return
  }
  for (const child of childrenOf(node)) collect(unit, child, scope, binders, chains)
}

function collectInside(
  unit: Unit,
  node: Quantifier,
  scope: Scope | undefined,
  binders: readonly Binder[],
  chains: Chain[],
): void {
  const inner = within(node, scope)
  const binder = { variable: inner.variable, list: compile(unit, node.target, scope) }
  collect(unit, node.predicate, inner, [...binders, binder], chains)
}

function isCount(node: Expression): boolean {
  return (node.kind === 'method' || node.kind === 'member') && node.name.text === 'count'
}

/** The root and the predicates of a chain, first applied first; undefined for anything else. */
function linksOf(
  node: Expression,
  scope: Scope | undefined,
): { readonly subject: Subject; readonly quantifiers: readonly Quantifier[] } | undefined {
  switch (node.kind) {
    case 'name': {
      for (let at = scope; at !== undefined; at = at.outer) if (at.name === node.name) return undefined
      return node.name === 'approvers' || node.name === 'credentials'
        ? { subject: node.name, quantifiers: [] }
        : undefined
    }
    case 'quantifier': {
      const links = linksOf(node.target, scope)
      return links && { ...links, quantifiers: [...links.quantifiers, node] }
    }
    case 'slice':
      return linksOf(node.target, scope)
    case 'method':
    case 'member':
      return isCount(node) ? linksOf(node.target, scope) : undefined
    default:
      return undefined
  }
}
