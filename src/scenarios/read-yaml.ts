import { type Alias, isAlias, isMap, isScalar, isSeq, type Node, type Pair, parseDocument } from 'yaml'
import { type Diagnostic, diagnostic, type Source, type Span, spanAt } from '../diagnostics/index.ts'
import type { ScenarioEntry, ScenarioTree } from './tree.ts'

/** Nodes that a file may have with its aliases written out: enough for any table, far below what would fill the memory. */
const MOST_NODES = 2_000_000

/** Reads one YAML file (YAML 1.2, core schema, with merge keys). There is no tree when it is not YAML. */
export function readYaml(source: Source): {
  readonly tree?: ScenarioTree
  readonly diagnostics: readonly Diagnostic[]
} {
  const document = parseDocument(source.text, {
    intAsBigInt: true,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'silent',
  })
  const faults = document.errors.map((error) => {
    const [line = ''] = error.message.split('\n')
    const message = line.replace(/[.:]\s*$/, '').replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())
    return diagnostic(
      'scenarios/syntax',
      `this is not YAML: ${message}`,
      spanAt(source, error.pos[0], Math.max(error.pos[1], error.pos[0] + 1)),
    )
  })
  if (faults.length > 0) return { diagnostics: faults.slice(0, 5) }
  const builder = new TreeBuilder(source)
  const tree = builder.build(document.contents, spanAt(source, 0))
  return { tree, diagnostics: builder.diagnostics }
}

class TreeBuilder {
  readonly diagnostics: Diagnostic[] = []
  readonly #source: Source
  /** What anchors stand for so far, with the number of nodes. Trees are never changed, so an alias is the tree itself. */
  readonly #anchors = new Map<string, { readonly tree: ScenarioTree; readonly nodes: number }>()
  #nodes = 0

  constructor(source: Source) {
    this.#source = source
  }

  build(node: unknown, fallback: Span): ScenarioTree {
    if (isAlias(node)) return this.#follow(node, fallback)
    const before = this.#nodes++
    const tree = this.#build(node, fallback)
    const { anchor } = (node ?? {}) as { readonly anchor?: string }
    if (anchor !== undefined) this.#anchors.set(anchor, { tree, nodes: this.#nodes - before })
    return tree
  }

  #build(node: unknown, fallback: Span): ScenarioTree {
    const span = this.#span(node as Node | null, fallback)
    if (isMap(node)) return { kind: 'map', span, entries: this.#entries(node.items as Pair[], span) }
    if (isSeq(node)) return { kind: 'list', span, items: node.items.map((item) => this.build(item, span)) }
    if (!isScalar(node)) return { kind: 'scalar', span, value: null, source: '' }
    const { value } = node
    return {
      kind: 'scalar',
      span,
      value: isPlainValue(value) ? value : null,
      source: typeof value === 'string' ? value : (node.source ?? String(value)),
    }
  }

  #follow(alias: Alias, fallback: Span): ScenarioTree {
    const span = this.#span(alias, fallback)
    const nothing: ScenarioTree = { kind: 'scalar', span, value: null, source: '' }
    const anchor = this.#anchors.get(alias.source)
    if (anchor === undefined) {
      this.diagnostics.push(diagnostic('scenarios/syntax', `no anchor \`&${alias.source}\` ends before this`, span))
      return nothing
    }
    if (this.#nodes + anchor.nodes > MOST_NODES) {
      if (!this.diagnostics.some(({ code }) => code === 'scenarios/too-many-aliases'))
        this.diagnostics.push(
          diagnostic('scenarios/too-many-aliases', `alias \`*${alias.source}\` makes the file too large`, span),
        )
      return nothing
    }
    this.#nodes += anchor.nodes
    return anchor.tree
  }

  /** Keys as they are written; `<<` takes in what another map has, below what this one says itself. */
  #entries(pairs: readonly Pair[], map: Span): readonly ScenarioEntry[] {
    const own = new Map<string, ScenarioEntry>()
    const merged: ScenarioEntry[] = []
    for (const pair of pairs) {
      const keySpan = this.#span(pair.key as Node | null, map)
      const key = isScalar(pair.key) ? (pair.key.source ?? String(pair.key.value)) : undefined
      if (key === undefined) {
        this.diagnostics.push(diagnostic('scenarios/wrong-type', 'expected a plain text as a key', keySpan))
        continue
      }
      const value = this.build(pair.value, keySpan)
      if (key === '<<' && isScalar(pair.key) && pair.key.type === 'PLAIN') {
        for (const base of value.kind === 'list' ? value.items : [value])
          if (base.kind === 'map') merged.push(...base.entries)
          else this.diagnostics.push(diagnostic('scenarios/wrong-type', 'expected a map to merge', base.span))
        continue
      }
      const first = own.get(key)
      if (first) {
        const related = [{ message: `\`${key}\` is here first`, span: first.keySpan }]
        this.diagnostics.push(
          diagnostic('scenarios/duplicate-key', `\`${key}\` is written twice in this map`, keySpan, { related }),
        )
        continue
      }
      own.set(key, { key, keySpan, value })
    }
    if (merged.length === 0) return [...own.values()]
    // Of several maps to merge, the first that has a key gives it.
    const inherited = new Map<string, ScenarioEntry>()
    for (const entry of merged) if (!own.has(entry.key) && !inherited.has(entry.key)) inherited.set(entry.key, entry)
    return [...inherited.values(), ...own.values()]
  }

  #span(node: Node | null, fallback: Span): Span {
    return node?.range ? spanAt(this.#source, node.range[0], node.range[1]) : fallback
  }
}

function isPlainValue(value: unknown): value is string | number | bigint | boolean {
  return (
    typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
  )
}
