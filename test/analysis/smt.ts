/**
 * What two sets of policies let through, written as formulas for z3: a second opinion on `policy compare` that has no code in common with
 * it. Trees come from the parser; what they mean, and which requests there are, is said here again, from the rules of the language
 * (docs/protocol/policies.md): both sides of `&&` and `||` are read, and a policy that errs takes no part.
 */
import { createRequire } from 'node:module'
import { type Expression, type PolicyText, parse } from '../../src/policy/index.ts'
import { domainOf, type Field, fieldOf, type KnownWallets, requestsIn, type SolvedPower } from './smt-requests.ts'

/** A value that may err; the term says nothing where it does. */
interface Term {
  readonly errs: string
  readonly is: string
  readonly sort: 'Bool' | 'Int' | 'Text'
  readonly field?: Field
}

/** The formulas of one pair, and the names that they speak of. */
class Formulas {
  readonly #names = new Map<string, string>()
  readonly #literals = new Map<string, number>()
  /** Fields of which a stretch or a character is read: their values are texts, those of others numbers that stand for texts. */
  readonly #cut: ReadonlySet<string>

  constructor(cut: ReadonlySet<string>) {
    this.#cut = cut
  }

  name(name: string, sort: string): string {
    this.#names.set(name, sort)
    return `|${name}|`
  }

  declarations(): string {
    return [...this.#names].map(([name, sort]) => `(declare-const |${name}| ${sort})`).join('')
  }

  domains(): readonly string[] {
    return [...this.#names.keys()].flatMap((name) => domainOf(name, this.#names.get(name)!))
  }

  isCut(path: string): boolean {
    return this.#cut.has(path)
  }

  /** A literal as a value of a field. */
  literal(field: Field, text: string): string {
    const spelled =
      field.folds === 'hex' || (field.folds === 'address' && text.startsWith('0x')) ? text.toLowerCase() : text
    if (this.isCut(field.path)) return `"${spelled}"`
    const known = this.#literals.get(spelled) ?? this.#literals.size
    this.#literals.set(spelled, known)
    return `${known}`
  }

  field(path: string): Term {
    const field = fieldOf(path)
    const sort = field.sort === 'Text' ? (this.isCut(path) ? 'String' : 'Int') : field.sort
    const needs = [
      this.name(`has ${field.root}`, 'Bool'),
      ...(field.mayErr ? [this.name(`reads ${path}`, 'Bool')] : []),
    ]
    return { errs: `(not (and true ${needs.join(' ')}))`, is: this.name(path, sort), sort: field.sort, field }
  }
}

const pathOf = (tree: Expression): string =>
  tree.kind === 'name' ? tree.name : tree.kind === 'member' ? `${pathOf(tree.target)}.${tree.name.text}` : unknown(tree)

function unknown(tree: Expression): never {
  throw new TypeError(`the formulas do not know ${tree.kind}`)
}

const or = (some: readonly string[]) => `(or false ${some.join(' ')})`
const and = (some: readonly string[]) => `(and true ${some.join(' ')})`

function truthOf(tree: Expression, to: Formulas): Pick<Term, 'errs' | 'is'> {
  switch (tree.kind) {
    case 'bool':
      return { errs: 'false', is: `${tree.value}` }
    case 'not': {
      const { errs, is } = truthOf(tree.operand, to)
      return { errs, is: `(not ${is})` }
    }
    case 'logic': {
      const all = tree.operands.map((one) => truthOf(one, to))
      const is = all.map((one) => one.is)
      return { errs: or(all.map(({ errs }) => errs)), is: tree.operator === '&&' ? and(is) : or(is) }
    }
    case 'compare':
      return comparison(tree, to)
    default:
      return to.field(pathOf(tree))
  }
}

function comparison(tree: Expression & { readonly kind: 'compare' }, to: Formulas): Pick<Term, 'errs' | 'is'> {
  const { left, right, operator } = tree
  if (operator === 'in') {
    if (right.kind !== 'list') return unknown(right)
    const each = right.items.map((item) => related('=', left, item, to))
    return { errs: or(each.map(({ errs }) => errs)), is: or(each.map(({ is }) => is)) }
  }
  const { errs, is } = related(operator === '==' || operator === '!=' ? '=' : operator, left, right, to)
  return { errs, is: operator === '!=' ? `(not ${is})` : is }
}

function related(by: string, left: Expression, right: Expression, to: Formulas): Pick<Term, 'errs' | 'is'> {
  const field = [left, right].map((one) => fieldIn(one, to)).find((one) => one !== undefined)
  const [a, b] = [left, right].map((one) => termOf(one, field, to))
  return { errs: or([a!.errs, b!.errs]), is: `(${by} ${a!.is} ${b!.is})` }
}

/** The field that a side reads; none where it is written. */
function fieldIn(tree: Expression, to: Formulas): Field | undefined {
  if (tree.kind === 'name' || tree.kind === 'member') return to.field(pathOf(tree)).field
  return tree.kind === 'index' || tree.kind === 'slice' ? fieldIn(tree.target, to) : undefined
}

function termOf(tree: Expression, beside: Field | undefined, to: Formulas): Pick<Term, 'errs' | 'is'> {
  switch (tree.kind) {
    case 'int':
    case 'bool':
      return { errs: 'false', is: `${tree.value}` }
    case 'string':
      return { errs: 'false', is: beside ? to.literal(beside, tree.value) : `"${tree.value}"` }
    case 'call': {
      const [at] = tree.args
      if (tree.name.text !== 'Timestamp' || at?.kind !== 'string') return unknown(tree)
      return { errs: 'false', is: `${BigInt(Date.parse(at.value)) * 1_000_000n}` }
    }
    case 'index': {
      const { errs, is } = to.field(pathOf(tree.target))
      if (tree.index.kind !== 'int') return unknown(tree.index)
      return { errs: or([errs, `(<= (str.len ${is}) ${tree.index.value})`]), is: `(str.at ${is} ${tree.index.value})` }
    }
    case 'slice': {
      const { errs, is } = to.field(pathOf(tree.target))
      const { from, to: end } = tree
      if (from.kind !== 'int' || end.kind !== 'int') return unknown(tree)
      // Both ends are kept within the text: what lies beyond is left out.
      return { errs, is: `(str.substr ${is} ${from.value} ${end.value - from.value})` }
    }
    default:
      return to.field(pathOf(tree))
  }
}

function cutIn(tree: Expression): readonly string[] {
  if (tree.kind === 'index' || tree.kind === 'slice') return [pathOf(tree.target)]
  return Object.values(tree).flatMap(function inside(value: unknown): readonly string[] {
    if (Array.isArray(value)) return value.flatMap(inside)
    return typeof value === 'object' && value !== null && 'kind' in value ? cutIn(value as Expression) : []
  })
}

export type SolvedPolicy = Pick<PolicyText, 'effect' | 'condition' | 'time'>

function takesPart({ condition, time }: SolvedPolicy, to: Formulas): string {
  const told = [condition, time].flatMap((text) => (text === undefined ? [] : [truthOf(treeOf(text), to)]))
  return and(told.map(({ errs, is }) => `(and (not ${errs}) ${is})`))
}

function treeOf(text: string): Expression {
  const { tree, problems } = parse(text)
  if (tree === undefined || problems.length > 0) throw new TypeError(`cannot be read: ${text}`)
  return tree
}

/** 0: a policy denies it, and not even the root quorum begins · 1: the root quorum alone · 2: anybody. */
function levelOf(policies: readonly SolvedPolicy[], to: Formulas): string {
  const some = (effect: SolvedPolicy['effect']) =>
    or(policies.filter((one) => one.effect === effect).map((one) => takesPart(one, to)))
  return `(ite ${some('EFFECT_DENY')} 0 (ite ${some('EFFECT_ALLOW')} 2 1))`
}

export interface SolvedPair {
  readonly first: readonly SolvedPolicy[]
  readonly second: readonly SolvedPolicy[]
}

/** Two questions: is there a request of which the second set lets through more, and one of which it lets through less? */
function questionsOf({ first, second }: SolvedPair, power: SolvedPower, wallets: KnownWallets): string {
  const texts = [...first, ...second].flatMap(({ condition, time }) =>
    [condition, time].filter((one) => one !== undefined),
  )
  const to = new Formulas(new Set(texts.flatMap((text) => cutIn(treeOf(text)))))
  const [before, after] = [levelOf(first, to), levelOf(second, to)]
  const request = requestsIn(power, {
    has: (root) => to.name(`has ${root}`, 'Bool'),
    equal: (path, text) => {
      const { is, field } = to.field(path)
      return `(= ${is} ${to.literal(field!, text)})`
    },
    wallets,
  })
  const ask = (more: string) => `(push)(assert ${more})(check-sat)(pop)`
  const all = [request, ...to.domains()].map((one) => `(assert ${one})`).join('')
  return `(push)${to.declarations()}${all}${ask(`(> ${after} ${before})`)}${ask(`(< ${after} ${before})`)}(pop)`
}

export interface Solved {
  readonly wider: boolean
  readonly narrower: boolean
}

/** Asks z3, in one of its threads, which is ended with the answer. */
export async function solve(
  asked: readonly { readonly pair: SolvedPair; readonly power: SolvedPower }[],
  wallets: KnownWallets,
): Promise<readonly Solved[]> {
  const { init } = createRequire(import.meta.url)('z3-solver') as typeof import('z3-solver')
  const { Z3, em } = await init()
  try {
    const context = Z3.mk_context(Z3.mk_config())
    const text = asked.map(({ pair, power }) => questionsOf(pair, power, wallets)).join('\n')
    const answers = (await Z3.eval_smtlib2_string(context, text)).trim().split('\n')
    const wrong = answers.filter((one) => one !== 'sat' && one !== 'unsat')
    if (wrong.length > 0 || answers.length !== 2 * asked.length)
      throw new Error(`z3 says ${wrong[0] ?? answers.length} of ${asked.length} pairs`)
    return asked.map((_, index) => ({
      wider: answers[2 * index] === 'sat',
      narrower: answers[2 * index + 1] === 'sat',
    }))
  } finally {
    em.PThread.terminateAllThreads()
  }
}
