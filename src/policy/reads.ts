/**
 * What an expression reads, told by its tree. A *chain* is a root with the fields below it (`wallet.id`); a variable of a
 * predicate stands for the elements of its list, so that in `approvers.any(u, u.tags.contains('t'))` the chain
 * `approvers.tags` is read.
 *
 * Premise: whether a text equals one of some literals, or a list holds one of them, is all that can be told of a chain that
 * is used in no other way. Two people who agree in that cannot be told apart by the expression. `in` gives all members of a
 * written list the same answer, so people who are named by one list and nowhere else are not told apart either.
 */
import { childrenOf, type Expression, type Quantifier } from './ast.ts'

/** The texts that a chain is compared with, and `otherwise` when it is used in any other way as well. */
export type Use = ReadonlySet<string> | 'otherwise'

export interface Reads {
  /** Names that no predicate binds. */
  readonly roots: ReadonlySet<string>
  /** Each chain with its use. A root that only predicates and counts walk has no row. */
  readonly chains: ReadonlyMap<string, Use>
  /** Of each chain, the texts of each comparison: a list on the right of `in` as a whole, any other text by itself. */
  readonly comparisons: ReadonlyMap<string, readonly ReadonlySet<string>[]>
  /** The whole numbers that each chain is compared with, as they are written. */
  readonly numbers: ReadonlyMap<string, ReadonlySet<bigint>>
  /** The largest number that a count is compared with; infinite where a count is used in any other way. */
  readonly largestCount: number
  /** Every text that is written in it. */
  readonly literals: ReadonlySet<string>
  /** Whether approvers or credentials are told apart by their position, so that the order of votes matters. */
  readonly ordered: boolean
}

/** Reads one or several trees as one. */
export function readsOf(...trees: readonly (Expression | undefined)[]): Reads {
  const reader = new Reader()
  for (const tree of trees) if (tree) reader.visit(tree, undefined)
  return reader
}

/** The meaning of an expression: the chain of fields that it reads, or its literals. */
interface Meaning {
  readonly chain?: string
  readonly texts?: readonly string[]
}

interface Binding {
  readonly name: string
  readonly meaning: Meaning
  readonly outer: Binding | undefined
}

class Reader implements Reads {
  readonly roots = new Set<string>()
  readonly chains = new Map<string, Set<string> | 'otherwise'>()
  readonly comparisons = new Map<string, ReadonlySet<string>[]>()
  readonly numbers = new Map<string, Set<bigint>>()
  readonly literals = new Set<string>()
  ordered = false
  largestCount = 0
  readonly #compared = new Set<Expression>()

  /** Notes a node whose value is used as it is. */
  visit(node: Expression, scope: Binding | undefined): void {
    const counted = countedBy(node)
    if (counted && !this.#compared.has(node)) this.largestCount = Number.POSITIVE_INFINITY
    if (node.kind === 'compare') {
      this.#compareCounts(node.left, node.right)
      this.#compareCounts(node.right, node.left)
      this.#compareNumbers(node.left, node.right, scope)
      this.#compareNumbers(node.right, node.left, scope)
      this.#compare(node.left, node.right, node.operator, scope)
    } else if (node.kind === 'method' && node.name.text === 'contains' && node.args.length === 1)
      this.#compare(node.args[0]!, node.target, 'in', scope)
    else if (node.kind === 'quantifier') this.#walk(node, scope)
    else if (counted) this.#list(counted, scope)
    else if (node.kind === 'string') this.literals.add(node.value)
    else if (isChain(node)) {
      this.#note(node, 'otherwise', scope)
      this.#inside(node, scope)
    } else for (const child of childrenOf(node)) this.visit(child, scope)
  }

  #compare(left: Expression, right: Expression, operator: string, scope: Binding | undefined): void {
    const isText = ['==', '!=', 'in'].includes(operator)
    const [a, b] = [this.#meaningOf(left, scope), this.#meaningOf(right, scope)]
    for (const [node, other] of [
      [left, b],
      [right, a],
    ] as const) {
      if (isText && other.texts && isChain(node)) {
        this.#note(node, other.texts, scope)
        const isWhole = operator === 'in' && node === left && isListOfTexts(right)
        this.#noteComparisons(node, isWhole ? [other.texts] : other.texts.map((text) => [text]), scope)
        this.#inside(node, scope)
      } else this.visit(node, scope)
    }
  }

  #compareCounts(count: Expression, other: Expression): void {
    const numbers = (other.kind === 'list' ? other.items : [other]).map(
      (one) => one.kind === 'int' && Number(one.value),
    )
    if (!countedBy(count) || numbers.includes(false)) return
    this.#compared.add(count)
    this.largestCount = Math.max(this.largestCount, ...(numbers as readonly number[]))
  }

  #compareNumbers(node: Expression, other: Expression, scope: Binding | undefined): void {
    const { chain } = isChain(node) ? this.#meaningOf(node, scope) : {}
    if (chain === undefined) return
    for (const one of other.kind === 'list' ? other.items : [other])
      if (one.kind === 'int') this.numbers.set(chain, (this.numbers.get(chain) ?? new Set()).add(one.value))
  }

  #walk(node: Quantifier, scope: Binding | undefined): void {
    this.#list(node.target, scope)
    const meaning = this.#meaningOf(node.target, scope)
    this.visit(node.predicate, { name: node.variable.text, meaning, outer: scope })
  }

  /** A list that a predicate or a count goes through: of one below a root, all elements matter. */
  #list(node: Expression, scope: Binding | undefined): void {
    const { chain } = this.#meaningOf(node, scope)
    if (chain === undefined || !isChain(node)) this.visit(node, scope)
    else {
      if (chain.includes('.')) this.#note(node, 'otherwise', scope)
      this.#inside(node, scope)
    }
  }

  /** Visits the parts of a chain: its root, the predicates that filter it, the positions. */
  #inside(node: Expression, scope: Binding | undefined): void {
    if (node.kind === 'name') {
      if (bound(node.name, scope) === undefined) this.roots.add(node.name)
    } else if (node.kind === 'quantifier') this.#walk(node, scope)
    else if (node.kind === 'index' || node.kind === 'slice') {
      const { chain } = this.#meaningOf(node.target, scope)
      if (chain === 'approvers' || chain === 'credentials') this.ordered = true
      // A part of a text, or of a list below a root, is not what literals are compared with.
      else if (chain !== undefined) this.#note(node, 'otherwise', scope)
      this.#inside(node.target, scope)
      for (const child of node.kind === 'index' ? [node.index] : [node.from, node.to]) this.visit(child, scope)
    } else if (node.kind === 'member') this.#inside(node.target, scope)
    else this.visit(node, scope)
  }

  #note(node: Expression, use: readonly string[] | 'otherwise', scope: Binding | undefined): void {
    const { chain } = this.#meaningOf(node, scope)
    if (chain === undefined) return
    const known = this.chains.get(chain)
    if (use === 'otherwise') this.chains.set(chain, 'otherwise')
    else if (known !== 'otherwise') this.chains.set(chain, new Set([...(known ?? []), ...use]))
  }

  #noteComparisons(node: Expression, some: readonly (readonly string[])[], scope: Binding | undefined): void {
    const { chain } = this.#meaningOf(node, scope)
    if (chain === undefined) return
    const known = this.comparisons.get(chain) ?? []
    known.push(...some.map((texts) => new Set(texts)))
    this.comparisons.set(chain, known)
  }

  #meaningOf(node: Expression, scope: Binding | undefined): Meaning {
    switch (node.kind) {
      case 'string':
        return { texts: [node.value] }
      case 'list': {
        const texts = node.items.map((item) => this.#meaningOf(item, scope).texts)
        return texts.includes(undefined) ? {} : { texts: texts.flatMap((some) => some!) }
      }
      case 'name':
        return bound(node.name, scope) ?? { chain: node.name }
      case 'member': {
        const { chain } = this.#meaningOf(node.target, scope)
        return chain === undefined || countedBy(node) ? {} : { chain: `${chain}.${node.name.text}` }
      }
      case 'quantifier':
        return node.method === 'filter' ? this.#meaningOf(node.target, scope) : {}
      case 'index':
      case 'slice':
        return this.#meaningOf(node.target, scope)
      default:
        return {}
    }
  }
}

function bound(name: string, scope: Binding | undefined): Meaning | undefined {
  for (let at = scope; at !== undefined; at = at.outer) if (at.name === name) return at.meaning
  return undefined
}

function countedBy(node: Expression): Expression | undefined {
  return (node.kind === 'method' || node.kind === 'member') && node.name.text === 'count' ? node.target : undefined
}

/** A variable in place of a text stands for one text after another, each of which is told apart. */
function isListOfTexts(node: Expression): boolean {
  return node.kind === 'list' && node.items.every(({ kind }) => kind === 'string')
}

function isChain(node: Expression): boolean {
  return (
    ['name', 'member', 'index', 'slice'].includes(node.kind) || (node.kind === 'quantifier' && node.method === 'filter')
  )
}
