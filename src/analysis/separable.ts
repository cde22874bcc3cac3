import { childrenOf, type Expression } from '../policy/index.ts'

const ROOTS: ReadonlySet<string> = new Set(['approvers', 'credentials'])

/**
 * Whether a consensus gives the same answer when those leave whom it does not include (U-included): it reads approvers and
 * credentials by nothing but `any` and `count` of them, or of filters of them, by predicates that look at one at a time. What
 * reads them by place, or as a whole by `all`, may change its answer.
 */
export function restsOnIncluded(tree: Expression): boolean {
  if (tree.kind === 'name') return !ROOTS.has(tree.name)
  const target = chainOf(tree)
  if (target === undefined) return childrenOf(tree).every(restsOnIncluded)
  let link: Expression = target
  for (; link.kind === 'quantifier'; link = link.target) if (readsRoots(link.predicate)) return false
  return true
}

/** What an `any` or a `count` is about, where that is a root or filters of one. */
function chainOf(tree: Expression): Expression | undefined {
  const isCount = (tree.kind === 'method' || tree.kind === 'member') && tree.name.text === 'count'
  const isAny = tree.kind === 'quantifier' && tree.method === 'any'
  if (!isCount && !isAny) return undefined
  let root: Expression = tree.target
  while (root.kind === 'quantifier' && root.method === 'filter') root = root.target
  if (root.kind !== 'name' || !ROOTS.has(root.name)) return undefined
  return isAny ? tree : tree.target
}

function readsRoots(tree: Expression): boolean {
  return (tree.kind === 'name' && ROOTS.has(tree.name)) || childrenOf(tree).some(readsRoots)
}
