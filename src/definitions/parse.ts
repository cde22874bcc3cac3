import {
  type CST,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  type YAMLError,
} from 'yaml'
import { createSource, type Diagnostic, diagnostic, type Source, type Span, spanAt } from '../diagnostics/index.ts'
import { readPlainYaml } from './plain-yaml.ts'
import { createLocate, type ScalarToken } from './scalar-offsets.ts'
import { blankSecrets, SECRET_KEY } from './secrets.ts'
import type { MapEntry, ScalarTree, Tree } from './tree.ts'

/** Nodes that aliases may add to one file; a definition has few or none. */
const MOST_ALIASED_NODES = 10_000

/**
 * Parses one YAML file (YAML 1.2, core schema). With syntax errors there is no tree. The source that comes back, and
 * to which all places lead, has anything that looks like a secret blanked out, so that no excerpt can show it.
 */
export function parseYaml(given: Source): {
  readonly tree: Tree | undefined
  readonly source: Source
  readonly diagnostics: readonly Diagnostic[]
} {
  const plain = readPlainYaml(given)
  return plain ? { tree: plain, source: given, diagnostics: [] } : parseAnyYaml(given)
}

/** As `parseYaml`, with the general parser whatever is in the file. */
export function parseAnyYaml(given: Source): ReturnType<typeof parseYaml> {
  const document = parseDocument(given.text, {
    keepSourceTokens: true,
    prettyErrors: false,
    uniqueKeys: false,
    version: '1.2',
  })
  const source = createSource(given.path, blankSecrets(given.text, document))
  const faults = [...document.errors, ...document.warnings]
  // Two errors at one place are one mistake; what is missing there says more than what is indented wrongly because of it.
  const telling = faults.filter(
    (one) => one.code !== 'BAD_INDENT' || !faults.some((other) => other !== one && other.pos[0] === one.pos[0]),
  )
  const diagnostics = telling.map((error) => syntaxFault(error, source))
  diagnostics.push(...checkDirective(source))
  if (diagnostics.length > 0) return { tree: undefined, source, diagnostics: diagnostics.slice(0, 5) }
  const builder = new TreeBuilder(source)
  const tree = builder.build(document.contents)
  return { tree, source, diagnostics: builder.diagnostics }
}

/** Refuses directives: `%YAML 1.1` gives the text below it another meaning, such as that of `010` and `yes`. */
function checkDirective(source: Source): readonly Diagnostic[] {
  const [before = '', directive] = /^(?:\ufeff?[ \t]*(?:#.*)?\r?\n)*(%.*)/.exec(source.text) ?? []
  if (directive === undefined) return []
  const span = spanAt(source, before.length - directive.length, before.length)
  const help = 'remove it: definitions are YAML 1.2'
  return [diagnostic('definitions/syntax', 'a directive changes what is written below it', span, { help })]
}

function syntaxFault(error: YAMLError, source: Source): Diagnostic {
  const span = spanAt(source, error.pos[0], Math.max(error.pos[1], error.pos[0] + 1))
  if (error.code === 'TAB_AS_INDENT') {
    return diagnostic('definitions/tab', 'a tab indents this line', span, { help: 'indent with spaces' })
  }
  if (error.code === 'MULTIPLE_DOCS') {
    const help = 'remove the `---` line; files may be split freely instead'
    return diagnostic('definitions/syntax', 'a second YAML document begins here', span, { help })
  }
  const [line = ''] = error.message.split('\n')
  const message = line.replace(/[.:]\s*$/, '').replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())
  return diagnostic('definitions/syntax', `this is not YAML: ${message}`, span)
}

/** Turns the nodes of one document into a tree. */
class TreeBuilder {
  readonly diagnostics: Diagnostic[] = []
  readonly #source: Source
  /** What each anchor names so far; looked up here, since the library walks the whole document for every alias. */
  readonly #anchors = new Map<string, Node>()
  #aliasDepth = 0
  #aliasedNodes = 0

  constructor(source: Source) {
    this.#source = source
  }

  build(node: unknown, fallback: Span = spanAt(this.#source, 0)): Tree {
    if (this.#aliasDepth > 0) this.#aliasedNodes++
    if (isAlias(node)) return this.#follow(node, fallback)
    this.#note(node)
    const span = this.#span(node as Node | null, fallback)
    if (isMap(node)) {
      const entries = this.#entries(node.items as Pair[], span)
      return { kind: 'map', span: node.flow ? span : endingWith(span, entries.at(-1)?.value), entries }
    }
    if (isSeq(node)) {
      const items = node.items.map((item) => this.build(item, span))
      return { kind: 'list', span: node.flow ? span : endingWith(span, items.at(-1)), items }
    }
    return this.#scalar(node as Scalar | null, span)
  }

  /** Remembers an anchor; one that stands again means the later thing from there on (YAML 1.2 §3.2.2.2). */
  #note(node: unknown): void {
    // What an alias leads to was met before.
    if (this.#aliasDepth === 0 && isNode(node) && 'anchor' in node && node.anchor) this.#anchors.set(node.anchor, node)
  }

  #follow(alias: Node & { source: string }, fallback: Span): Tree {
    const target = this.#anchors.get(alias.source)
    const span = this.#span(alias, fallback)
    const nothing: ScalarTree = { kind: 'scalar', span, value: null, missing: true, locate: () => span }
    if (target === undefined) {
      const message = `alias \`${alias.source}\` names nothing that is written before it`
      const help = `write \`&${alias.source}\` before what is meant, or write it out`
      this.diagnostics.push(diagnostic('definitions/unknown-alias', message, span, { help }))
      return nothing
    }
    if (this.#aliasedNodes > MOST_ALIASED_NODES || this.#aliasDepth > 20) {
      if (!this.diagnostics.some(({ code }) => code === 'definitions/too-many-aliases')) {
        this.diagnostics.push(
          diagnostic('definitions/too-many-aliases', `alias \`${alias.source}\` makes the file too large`, span),
        )
      }
      return nothing
    }
    this.#aliasDepth++
    const tree = this.build(target, span)
    this.#aliasDepth--
    return tree
  }

  #entries(pairs: readonly Pair[], map: Span): readonly MapEntry[] {
    const entries: MapEntry[] = []
    const byKey = new Map<string, MapEntry>()
    for (const pair of pairs) {
      const keySpan = this.#span(pair.key as Node | null, map)
      this.#note(pair.key)
      const key = isScalar(pair.key) ? (pair.key.source ?? String(pair.key.value)) : undefined
      if (key === undefined) {
        this.diagnostics.push(diagnostic('definitions/wrong-type', 'expected a plain text as a key', keySpan))
        continue
      }
      const first = byKey.get(key)
      if (first) {
        const related = [{ message: `\`${key}\` is here first`, span: first.keySpan }]
        this.diagnostics.push(
          diagnostic('definitions/duplicate-key', `\`${key}\` is written twice in this map`, keySpan, { related }),
        )
        continue
      }
      if (SECRET_KEY.test(key)) {
        const message = `\`${key}\` is a secret, which no definition may hold`
        const help = 'remove it, also from the history of this file, and make a new key: this one is no secret any more'
        this.diagnostics.push(diagnostic('definitions/secret', message, keySpan, { help }))
        continue
      }
      const entry = { key, keySpan, value: this.build(pair.value, keySpan) }
      entries.push(entry)
      byKey.set(key, entry)
    }
    return entries
  }

  #scalar(node: Scalar | null, span: Span): ScalarTree {
    const value = plainValue(node)
    const token = () => (node?.srcToken && isScalarToken(node.srcToken) ? node.srcToken : undefined)
    return { kind: 'scalar', span, value, locate: createLocate(this.#source, { span, value, token }) }
  }

  /** Without the line break at the end of a block; an empty node is where its key is. */
  #span(node: Node | null, fallback: Span): Span {
    const range = node?.range
    if (!range || range[0] === range[1]) return fallback
    const text = this.#source.text.slice(range[0], range[1])
    return spanAt(this.#source, range[0], range[0] + text.trimEnd().length)
  }
}

/** A block ends with what it holds: remarks below it are not its own. */
function endingWith(span: Span, last: Tree | undefined): Span {
  return last && last.span.end > span.start ? { ...span, end: last.span.end } : span
}

/**
 * The value of a scalar. A number that is not written the usual way (`+15551234567`, `0264`, `1e5`) is the text that
 * was written: it is a phone number or a key, and no definition holds such a number.
 */
function plainValue(node: Scalar | null): ScalarTree['value'] {
  const value = node?.value ?? null
  if (typeof value === 'number') return String(value) === node!.source ? value : node!.source!
  if (typeof value === 'bigint') return node!.source!
  return value as string | boolean | null
}

function isScalarToken(token: CST.Token): token is ScalarToken {
  return token.type === 'block-scalar' || token.type === 'scalar' || token.type.endsWith('-quoted-scalar')
}
