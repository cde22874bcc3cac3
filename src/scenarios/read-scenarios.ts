/** A file of scenarios → scenarios ready to be played, with the places of what they expect. */
import type { SmartContractInterface } from '../chain/index.ts'
import { type Diagnostic, diagnostic, type Source, type Span, suggest } from '../diagnostics/index.ts'
import {
  type ExpectedOutcome,
  expectKeys,
  fileKeys,
  OUTCOMES,
  POLICY_WORDS,
  requestKeys,
  scenarioKeys,
  tableKeys,
} from './form.ts'
import type { Expectation, Scenario, Spanned } from './model.ts'
import { readInterfaces } from './read-interfaces.ts'
import { didYouMean, type RequestTools, readRequest, unknownName } from './read-request.ts'
import { readYaml } from './read-yaml.ts'
import {
  childOf,
  entriesOf,
  isNull,
  itemsOf,
  type ScenarioEntry,
  type ScenarioTree,
  toPlain,
  withPath,
  wordOf,
} from './tree.ts'

type Tools = Pick<RequestTools, 'world' | 'readTransaction'>

/** What decides where no policy does; an expectation may name it in place of a policy. */
const BASES = ['root-quorum', 'own-credentials', 'quorum-begun', 'root-only', 'nothing-allows']

/** Reads the scenarios of a file, in its order. Those with a mistake in them are left out, and the mistake reported. */
export function readScenarios(
  source: Source,
  tools: Tools,
): { readonly scenarios: readonly Scenario[]; readonly diagnostics: readonly Diagnostic[] } {
  const { tree, diagnostics } = readYaml(source)
  if (!tree) return { scenarios: [], diagnostics }
  const reader = new Reader(tools)
  reader.diagnostics.push(...diagnostics)
  reader.readFile(tree)
  return reader
}

/** Reads one request on its own. */
export function readRequestFile(
  source: Source,
  tools: Tools,
): { readonly context?: Scenario['context']; readonly diagnostics: readonly Diagnostic[] } {
  const { tree, diagnostics } = readYaml(source)
  if (!tree) return { diagnostics }
  const reader = new Reader(tools)
  reader.diagnostics.push(...diagnostics)
  // A scenario, copied out of its file, is a request too.
  reader.checkKeys(tree, { ...requestKeys, ...scenarioKeys }, 'a request')
  const context = readRequest(tree, reader.requestTools)
  return reader.diagnostics.length > 0 ? { diagnostics: reader.diagnostics } : { context, diagnostics: [] }
}

class Reader {
  readonly scenarios: Scenario[] = []
  readonly diagnostics: Diagnostic[] = []
  readonly #tools: Tools
  readonly #interfaces = new Map<ScenarioTree, readonly SmartContractInterface[]>()

  constructor(tools: Tools) {
    this.#tools = tools
  }

  get requestTools(): RequestTools {
    const report = (fault: Diagnostic) => void this.diagnostics.push(fault)
    return { ...this.#tools, report, readInterfaces: (tree) => this.#readInterfaces(tree, report) }
  }

  /** Those of `defaults` are the same tree for every scenario, and are read once. */
  #readInterfaces(tree: ScenarioTree | undefined, report: RequestTools['report']): readonly SmartContractInterface[] {
    if (tree === undefined) return []
    const known = this.#interfaces.get(tree)
    if (known !== undefined) return known
    const before = this.diagnostics.length
    const read = readInterfaces(tree, report)
    if (this.diagnostics.length === before) this.#interfaces.set(tree, read)
    return read
  }

  readFile(tree: ScenarioTree): void {
    if (isNull(tree)) return
    this.checkKeys(tree, fileKeys, 'a file of scenarios')
    const defaults = childOf(tree, 'defaults')
    if (defaults) this.checkKeys(defaults, scenarioKeys, '`defaults`')
    for (const entry of this.#entries(childOf(tree, 'scenarios'))) {
      this.checkKeys(entry.value, scenarioKeys, `scenario \`${entry.key}\``)
      this.#add(entry.key, entry.keySpan, joined(defaults, entry.value))
    }
    for (const entry of this.#entries(childOf(tree, 'tables'))) this.#addTable(entry, defaults)
  }

  #addTable({ key, keySpan, value: table }: ScenarioEntry, defaults: ScenarioTree | undefined): void {
    this.checkKeys(table, tableKeys, `table \`${key}\``)
    const given = childOf(table, 'given')
    if (given) this.checkKeys(given, scenarioKeys, '`given`')
    const columns = itemsOf(childOf(table, 'columns'))
    if (columns.length === 0)
      this.#report(
        'scenarios/missing-key',
        `table \`${key}\` has no columns`,
        childOf(table, 'columns')?.span ?? keySpan,
      )
    const paths = columns.map((column) => this.#columnPath(column))
    const base = joined(defaults, given ?? emptyMap(table.span))
    const rows = itemsOf(childOf(table, 'rows'))
    rows.forEach((row, index) => {
      const cells = itemsOf(row)
      if (row.kind !== 'list' || cells.length !== columns.length) {
        const got = row.kind === 'list' ? `${cells.length}` : 'something else'
        this.#report('scenarios/wrong-value', `expected a list of ${columns.length} values, got ${got}`, row.span)
        return
      }
      let name = `${key}, row ${index + 1}`
      let tree = base
      cells.forEach((cell, at) => {
        const path = paths[at]!
        if (isNull(cell)) return
        if (path[0] === 'name') name = `${key}, ${wordOf(cell)}`
        else tree = withPath(tree, path, cell)
      })
      this.#add(name, row.span, tree)
    })
  }

  #columnPath(column: ScenarioTree): readonly string[] {
    const path = (wordOf(column) ?? '').split('.')
    const [first = ''] = path
    if (first !== 'name' && !Object.hasOwn(scenarioKeys, first)) {
      const known = ['name', ...Object.keys(scenarioKeys)]
      this.#report('scenarios/unknown-key', `a scenario has no \`${first}\``, column.span, {
        help: didYouMean(suggest(first, known)) ?? `known: ${known.join(', ')}`,
      })
    }
    return path
  }

  #add(name: string, span: Span, tree: ScenarioTree): void {
    const before = this.diagnostics.length
    const context = readRequest(tree, this.requestTools)
    const expected = this.#expectation(childOf(tree, 'expect'), span)
    const why = wordOf(childOf(tree, 'why'))
    if (this.diagnostics.length > before || expected === undefined) return
    this.scenarios.push({ name, span, context, expected, ...(why === undefined ? {} : { why }) })
  }

  #expectation(tree: ScenarioTree | undefined, span: Span): Expectation | undefined {
    if (tree === undefined) {
      this.#report('scenarios/missing-key', '`expect` is missing: what should come of it', span, {
        help: 'add `expect: allow`, or one of the other outcomes',
      })
      return undefined
    }
    if (tree.kind !== 'map') {
      const outcome = this.#oneOf(tree, OUTCOMES)
      return outcome && { span: tree.span, outcome: { value: outcome, span: tree.span } }
    }
    this.checkKeys(tree, expectKeys, '`expect`')
    const outcome = childOf(tree, 'outcome')
    const decidedBy = childOf(tree, 'decidedBy')
    const errors = childOf(tree, 'errors')
    const needs = childOf(tree, 'needs')
    const word = outcome && this.#oneOf<ExpectedOutcome>(outcome, OUTCOMES)
    return {
      span: tree.span,
      ...(word === undefined ? {} : { outcome: { value: word, span: outcome!.span } }),
      ...(decidedBy === undefined ? {} : { decidedBy: this.#policyNames(decidedBy, BASES) }),
      ...(errors === undefined ? {} : { errors: this.#policyNames(errors, []) }),
      ...(needs === undefined ? {} : { needs: this.#sets(needs) }),
      policies: entriesOf(childOf(tree, 'policies')).flatMap(({ key, keySpan, value }) => {
        if (!this.#isPolicy(key)) this.diagnostics.push(unknownName('policy', key, this.#policyNamesKnown(), keySpan))
        const found = this.#oneOf(value, Object.values(POLICY_WORDS))
        return found === undefined ? [] : [{ policy: key, value: found, span: value.span }]
      }),
    }
  }

  #policyNames(tree: ScenarioTree, more: readonly string[]): Spanned<readonly string[]> {
    const items = tree.kind === 'list' ? tree.items : [tree]
    const value = items.flatMap((item) => {
      const word = wordOf(item)
      if (word !== undefined && (this.#isPolicy(word) || more.includes(word))) return [word]
      this.diagnostics.push(unknownName('policy', word, [...this.#policyNamesKnown(), ...more], item.span))
      return []
    })
    return { value: [...new Set(value)].sort(), span: tree.span }
  }

  #isPolicy(name: string): boolean {
    return this.#tools.world.policies.some((policy) => policy.name === name)
  }

  #policyNamesKnown(): readonly string[] {
    return this.#tools.world.policies.map(({ name }) => name)
  }

  #sets(tree: ScenarioTree): Spanned<readonly (readonly string[])[]> {
    const users = this.#tools.world.users
    const value = itemsOf(tree).map((item) =>
      (item.kind === 'list' ? item.items : [item])
        .flatMap((one) => {
          const word = wordOf(one)
          if (word !== undefined && Object.hasOwn(users, word)) return [word]
          this.diagnostics.push(unknownName('user', word, Object.keys(users), one.span))
          return []
        })
        .sort(),
    )
    return { value: sortSets(value), span: tree.span }
  }

  #oneOf<T extends string>(tree: ScenarioTree, words: readonly T[]): T | undefined {
    const word = wordOf(tree)
    const found = words.find((one) => one === word)
    if (found === undefined) {
      const got = word === undefined ? 'something else' : `\`${word}\``
      const expected = words.map((one) => `\`${one}\``).join(', ')
      this.#report('scenarios/wrong-value', `expected one of ${expected}, got ${got}`, tree.span, {
        help: word === undefined ? undefined : didYouMean(suggest(word, words)),
      })
    }
    return found
  }

  #entries(tree: ScenarioTree | undefined): readonly ScenarioEntry[] {
    if (tree !== undefined && tree.kind !== 'map')
      this.#report('scenarios/wrong-type', 'expected a map of names', tree.span)
    return entriesOf(tree)
  }

  /** Reports what is no map, and keys that mean nothing. */
  checkKeys(tree: ScenarioTree, rows: object, where: string): void {
    if (tree.kind !== 'map') {
      if (!isNull(tree))
        this.#report('scenarios/wrong-type', `expected ${where} to be a map, got ${show(tree)}`, tree.span)
      return
    }
    const known = Object.keys(rows)
    for (const { key, keySpan } of tree.entries) {
      if (known.includes(key) || key.startsWith('x-')) continue
      const help = didYouMean(suggest(key, known)) ?? `known here: ${known.join(', ')}`
      this.#report('scenarios/unknown-key', `unknown key \`${key}\` in ${where}`, keySpan, { help })
    }
  }

  #report(code: `scenarios/${string}`, message: string, span: Span, more: { help?: string | undefined } = {}): void {
    this.diagnostics.push(diagnostic(code, message, span, more))
  }
}

/** Sets of names in one order, so that two lists of the same sets are equal. */
export function sortSets(sets: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return sets.map((set) => [...set].sort()).sort((a, b) => (a.join('\n') < b.join('\n') ? -1 : 1))
}

/** A scenario with what it starts from: what it says itself comes first, key by key. */
function joined(base: ScenarioTree | undefined, own: ScenarioTree): ScenarioTree {
  let tree: ScenarioTree = base ?? emptyMap(own.span)
  for (const { key, value } of entriesOf(own)) tree = withPath(tree, [key], value)
  return { ...tree, span: own.span }
}

function emptyMap(span: Span): ScenarioTree {
  return { kind: 'map', span, entries: [] }
}

function show(tree: ScenarioTree): string {
  return tree.kind === 'scalar' ? `\`${String(toPlain(tree))}\`` : 'a list'
}
