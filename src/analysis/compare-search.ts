/** The search of a comparison: chooses values for the parts of one kind of request until it is known which rules take part. */
import type { Instants } from '../authority/index.ts'
import { type PolicyContext, paramNames } from '../policy/index.ts'
import { breathe } from './computing.ts'
import { mayHave } from './possible.ts'
import type { PowerRequest } from './power-table.ts'
import type { PolicyRule } from './questions.ts'
import { type ClauseReads, mergeCompared, type RequestPart } from './request-parts.ts'
import { type KnownWallet, MISSING, type PartValues, valuesOfPart } from './request-values.ts'

/** Why something stays unknown (`UNKNOWN_WORDS`). */
export type WhyUnknown = keyof typeof UNKNOWN_WORDS
export const UNKNOWN_WORDS = {
  kind: 'what such requests have is not documented',
  linked: 'parts of a request are compared with each other',
  values: 'more values would have to be tried',
  choices: 'more requests would have to be tried than are',
  people: 'there are too many sets of people to try',
  play: 'a request in which they seemed to differ was not confirmed',
} as const

export type ClauseValue = 'true' | 'false' | 'error'

/** A part of an expression without `&&`, `||` and `!` at its top, or the time of a policy as a whole. */
export interface JudgedClause {
  readonly reads: ClauseReads
  readonly judge: (context: PolicyContext) => ClauseValue
}

export type JudgedTree =
  | { readonly kind: 'clause'; readonly clause: JudgedClause }
  | { readonly kind: 'not'; readonly operand: JudgedTree }
  | { readonly kind: 'logic'; readonly settledBy: 'true' | 'false'; readonly operands: readonly JudgedTree[] }
  | { readonly kind: 'known'; readonly value: ClauseValue }

/** A policy of either side, or of both. */
export interface ComparedRule {
  readonly rule: PolicyRule
  readonly isDeny: boolean
  /** Whether it asks nothing of those who vote. */
  readonly isForAll: boolean
  readonly on: readonly [boolean, boolean]
  readonly tree: JudgedTree
  readonly clauses: readonly JudgedClause[]
}

/** The part that stands for the moment of the request. */
export const NOW: RequestPart['path'] = ['now']

export interface SearchInput {
  readonly request: PowerRequest
  readonly rules: readonly ComparedRule[]
  readonly wallets: readonly KnownWallet[]
  readonly instants: Instants
  /** Whether the same people decide on both sides, so that the same rules have the same answer. */
  readonly arePeopleAlike: boolean
  /** @default no bound but that of one kind of request */
  readonly budget?: ChoiceBudget
  /** Called for each choice of values with what makes the request of it, the rules that take part, and whether such a request is known to exist. */
  readonly onDecided: (requestOf: () => PolicyContext, taking: readonly ComparedRule[], exists: boolean) => void
  /** Called where something stays unknown because of the first of these rules; all that may take part on one side alone are among the others. */
  readonly onUnknown: (because: readonly ComparedRule[], differing: readonly ComparedRule[], why: WhyUnknown) => void
  /** Whether there is nothing more to find. */
  readonly isDone: () => boolean
}

/** How many more choices of values may be followed, over all searches that share it. */
export interface ChoiceBudget {
  left: number
}

/** So many choices of values are followed for one kind of request. */
const MOST_CHOICES = 20_000

/** Follows every choice of values that rules tell apart, but where both sides are the same whatever is chosen. */
export function searchRequest(input: SearchInput): void {
  new Search(input).run()
}

type Raw = Record<string, unknown>

class Search {
  readonly #input: SearchInput
  readonly #context: Raw
  readonly #chosen = new Set<string>()
  readonly #values = new Map<JudgedClause, ClauseValue>()
  #choices = 0
  /** How many parts were chosen of which it is not known whether such a request has them. */
  #supposed = 0

  constructor(input: SearchInput) {
    this.#input = input
    this.#context = emptyRequest(input)
  }

  run(): void {
    const { request, rules } = this.#input
    this.#follow([], request.row.rootOnly ? [] : rules)
  }

  #follow(taken: readonly ComparedRule[], undecided: readonly ComparedRule[]): void {
    const { onUnknown, onDecided, isDone } = this.#input
    breathe()
    if (isDone()) return
    const taking = [...taken]
    let open: ComparedRule[] = []
    for (const one of undecided) {
      const can = this.#canBe(one.tree)
      if (!can.has('true')) continue
      if (can.size === 1) taking.push(one)
      else open.push(one)
    }
    // Where everybody is denied, no other rule is looked at. INVARIANT: the root quorum needs no ALLOW, and a DENY may stop its first member.
    const isOpen = [0, 1].map((side) => !taking.some(({ on, isDeny, isForAll }) => on[side] && isDeny && isForAll))
    const differs = ({ on: [a, b] }: ComparedRule) => (a && isOpen[0]) !== (b && isOpen[1])
    if (this.#input.arePeopleAlike && isOpen[0] === isOpen[1] && ![...taking, ...open].some(differs)) return
    open = open.filter(({ on }) => on.some((isOn, side) => isOn && isOpen[side]))
    if (open.length === 0) onDecided(() => this.#whole(), taking, this.#supposed === 0)
    else if (++this.#choices > MOST_CHOICES || !this.#spend()) onUnknown(open, [...taking, ...open], 'choices')
    else this.#choose(taking, open, open.find(differs) ?? open[0]!)
  }

  #spend(): boolean {
    const { budget } = this.#input
    return budget === undefined || budget.left-- > 0
  }

  /** Goes on with each value of the first part that a rule needs. */
  #choose(taking: readonly ComparedRule[], open: readonly ComparedRule[], first: ComparedRule): void {
    const waiting = open.flatMap(({ clauses }) => clauses.filter((one) => !this.#values.has(one)))
    const clause = first.clauses.find((one) => waiting.includes(one) && !this.#isJudged(one))
    const part = clause && [...clause.reads.parts.values()].find((one) => !this.#isChosen(one))
    if (part === undefined) {
      this.#input.onUnknown([first], [...taking, ...open], 'linked')
      return
    }
    const readers = [...new Set(waiting)].filter(({ reads }) => reads.parts.has(part.key))
    const { values, isComplete } = this.#valuesOf(part, readers)
    if (!isComplete || readers.some(({ reads }) => !reads.isUnderstood)) {
      const of = open.filter((rule) => rule.on[0] !== rule.on[1] && rule.clauses.some((one) => readers.includes(one)))
      const why = isComplete ? 'linked' : 'values'
      this.#input.onUnknown(of.length > 0 ? of : [first], [...taking, ...open], why)
    }
    const ready = readers.filter(({ reads }) =>
      [...reads.parts.values()].every((one) => one.key === part.key || this.#isChosen(one)),
    )
    const seen = new Set<string>()
    const isSupposed = part.path !== NOW && this.#isAbsent(part.path)
    for (const value of values) {
      const before = this.#set(part, value)
      this.#chosen.add(part.key)
      if (isSupposed && value !== MISSING) this.#supposed++
      const truths = ready.map((one) => one.judge(this.#context as unknown as PolicyContext))
      const key = truths.join()
      // Values that no clause tells apart are one, unless a clause compares the part with others.
      if (isPossible(this.#context) && (!seen.has(key) || ready.length < readers.length || isLinked(part))) {
        seen.add(key)
        for (const [index, one] of ready.entries()) this.#values.set(one, truths[index]!)
        this.#follow(taking, open)
        for (const one of ready) this.#values.delete(one)
      }
      if (isSupposed && value !== MISSING) this.#supposed--
      before()
      this.#chosen.delete(part.key)
    }
  }

  #valuesOf(part: RequestPart, readers: readonly JudgedClause[]): PartValues {
    const { instants, wallets, request } = this.#input
    if (part.path === NOW) return instants
    const compared = mergeCompared(readers.map(({ reads }) => reads.parts.get(part.key)!.compared))
    const made = valuesOfPart(part, compared, { wallets, kind: request.row.kind })
    const values = fitting(part, made.values, this.#context)
    return { ...made, values: this.#isAbsent(part.path) ? [MISSING, ...values] : values }
  }

  #isJudged(clause: JudgedClause): boolean {
    return this.#values.has(clause) || [...clause.reads.parts.values()].every((one) => this.#isChosen(one))
  }

  #isChosen({ key, path }: RequestPart): boolean {
    return this.#chosen.has(key) || this.#isFixed(path)
  }

  /** Whether the kind of request alone says what a part is, or that there is none. */
  #isFixed(path: readonly string[]): boolean {
    if (path === NOW) return false
    const { request } = this.#input
    const [root, field, name = ''] = path
    if (root !== 'activity') return this.#isAbsent(path) && !mayHave(root!, request)
    return field !== 'params' || name in request.params || !paramNames(request.row.type).includes(name)
  }

  #isAbsent([root = '', field = '']: readonly string[]): boolean {
    return root !== 'activity' && !this.#input.request.defined.has(root === 'eth' ? `eth.${field}` : root)
  }

  #canBe(tree: JudgedTree): ReadonlySet<ClauseValue> {
    switch (tree.kind) {
      case 'known':
        return new Set([tree.value])
      case 'not':
        return new Set([...this.#canBe(tree.operand)].map((one) => NOT[one]))
      case 'logic':
        return both(
          tree.settledBy,
          tree.operands.map((one) => this.#canBe(one)),
        )
      case 'clause': {
        const known = this.#values.get(tree.clause) ?? this.#judged(tree.clause)
        return known === undefined ? ANY : new Set([known])
      }
      default:
        return tree satisfies never
    }
  }

  /** Of a clause that no choice is needed for. */
  #judged(clause: JudgedClause): ClauseValue | undefined {
    if (!this.#isJudged(clause)) return undefined
    const truth = clause.judge(this.#context as unknown as PolicyContext)
    if ([...clause.reads.parts.values()].every(({ path }) => this.#isFixed(path))) this.#values.set(clause, truth)
    return truth
  }

  /** Puts a value into the request; what comes back takes it out again. */
  #set({ path }: RequestPart, value: unknown): () => void {
    let at = this.#context
    for (const name of path.slice(0, -1)) {
      const below = at[name]
      at[name] = typeof below === 'object' && below !== null ? below : {}
      at = at[name] as Raw
    }
    const last = path.at(-1)!
    const before = at[last]
    const isWhole = path.length === 1 && typeof value === 'object' && !Array.isArray(value)
    at[last] = value === MISSING ? undefined : isWhole ? { ...(before as object), ...(value as object) } : value
    return () => {
      at[last] = before
    }
  }

  #whole(): PolicyContext {
    return structuredClone(this.#context) as unknown as PolicyContext
  }
}

const ANY: ReadonlySet<ClauseValue> = new Set<ClauseValue>(['true', 'false', 'error'])
const NOT: Readonly<Record<ClauseValue, ClauseValue>> = { true: 'false', false: 'true', error: 'error' }

/** Both sides are always read, so that an error of either is an error of the whole. */
function both(settling: 'true' | 'false', operands: readonly ReadonlySet<ClauseValue>[]): ReadonlySet<ClauseValue> {
  const other = NOT[settling]
  const values = new Set<ClauseValue>()
  if (operands.some((one) => one.has('error'))) values.add('error')
  if (operands.some((one) => one.size === 1 && one.has('error'))) return values
  if (operands.some((one) => one.has(settling))) values.add(settling)
  if (operands.every((one) => one.has(other))) values.add(other)
  return values
}

/** A request of a kind, with nothing chosen yet. */
function emptyRequest({ request: { row, params, defined }, wallets, instants }: SearchInput): Raw {
  const eth = [...defined].filter((root) => root.startsWith('eth.')).map((root) => [root.slice(4), {}])
  const roots: readonly (readonly [string, unknown])[] = [
    ['wallet', { ...(wallets[0] ?? { id: 'another', label: 'another' }), imported: false, exported: false }],
    ['wallet_account', {}],
    ['private_key', { id: 'another', label: 'another', tags: [], imported: false, exported: false }],
    ['wallets', []],
    ['secret', { static_properties: {} }],
    ...['solana', 'tron', 'bitcoin', 'tempo'].map((root) => [root, { tx: {} }] as const),
  ]
  // What tells kinds of a type apart is not always what policies may read of it.
  const exposed = Object.entries(params).filter(([name]) => paramNames(row.type).includes(name))
  return {
    now: instants.values[0],
    activity: { type: row.type, params: Object.fromEntries(exposed) },
    approvers: [],
    ...Object.fromEntries(roots.filter(([root]) => defined.has(root))),
    ...(eth.length > 0 ? { eth: Object.fromEntries(eth) } : {}),
  }
}

/** Parts that a request cannot choose by themselves: a call that is read by an interface has a name, a selector and arguments. */
const LINKED = ['function_name', 'function_signature', 'contract_call_args', 'data']

function isLinked({ path: [root, tx, name = ''] }: RequestPart): boolean {
  return root === 'eth' && tx === 'tx' && LINKED.includes(name)
}

function callIn({ eth }: Raw): Raw {
  return ((eth as Raw | undefined)?.['tx'] ?? {}) as Raw
}

/** Values of a linked part beside what is chosen already. */
function fitting(part: RequestPart, values: readonly unknown[], context: Raw): readonly unknown[] {
  if (!isLinked(part)) return values
  const { data, function_signature: selector } = callIn(context)
  const name = part.path[2]
  if (name === 'data' && typeof selector === 'string' && selector !== '')
    return [...new Set(values.map((value) => `${selector}${String(value).slice(10)}`))]
  if (name === 'function_name') return [...new Set([...values, ''])]
  if (name !== 'function_signature') return values
  return typeof data === 'string'
    ? ['', ...(data.length < 10 ? [] : [data.slice(0, 10)])]
    : [...new Set([...values, ''])]
}

function isPossible(context: Raw): boolean {
  const { function_name: name, function_signature: selector, contract_call_args: args, data } = callIn(context)
  const isRead = [name, selector].map((one) => (one === undefined ? undefined : one !== ''))
  if (isRead.includes(true) && isRead.includes(false)) return false
  const hasArgs = args !== undefined && Object.values(args as Raw).some((one) => one !== undefined)
  if (isRead.includes(false) && hasArgs) return false
  if (typeof selector !== 'string' || selector === '' || typeof data !== 'string') return true
  return data.slice(0, 10).toLowerCase() === selector.toLowerCase()
}
