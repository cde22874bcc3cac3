/**
 * What a clause of a condition reads of a request, told by its tree: the *parts* of the request that it needs, and what it compares
 * them with. A part is a chain of fields as far as it can be chosen by itself (`eth.tx.value`, `activity.params.user_ids`); a wallet or
 * a private key is one part, since its fields belong together.
 */
import { childrenOf, type Expression, elementType, memberType, readsOf, rootType, type Type } from '../policy/index.ts'

/** What values of a part are compared with, over any number of clauses. */
export interface Compared {
  readonly ints: Set<bigint>
  readonly texts: Set<string>
  /** Literals of a stretch of a text, by `from to`. */
  readonly slices: Map<string, Set<string>>
  isBool: boolean
  /** Of a list: the lengths that are told apart, what elements are compared with, and how many predicates look at them. */
  readonly lengths: Set<number>
  element: Compared | undefined
  predicates: number
  readonly fields: Map<string, Compared>
  /** Of a decoded value, what is read of it by its place. */
  readonly places: Map<number, Compared>
}

/** A part of a request, as one clause reads it. */
export interface RequestPart {
  /** Equal for equal chains. */
  readonly key: string
  readonly path: readonly string[]
  readonly type: Type
  readonly compared: Compared
}

export interface ClauseReads {
  readonly parts: ReadonlyMap<string, RequestPart>
  /** Whether values made from what is compared tell all that the clause can be; false where it compares parts with each other, and the like. */
  readonly isUnderstood: boolean
}

/** Roots whose fields are chosen together. */
const WHOLE = new Set(['wallet', 'private_key'])

export function nothingCompared(): Compared {
  return {
    ints: new Set(),
    texts: new Set(),
    slices: new Map(),
    isBool: false,
    lengths: new Set(),
    element: undefined,
    predicates: 0,
    fields: new Map(),
    places: new Map(),
  }
}

/** What several clauses compare a part with. */
export function mergeCompared(all: readonly Compared[]): Compared {
  const merged = nothingCompared()
  for (const one of all) {
    for (const value of one.ints) merged.ints.add(value)
    for (const value of one.texts) merged.texts.add(value)
    for (const value of one.lengths) merged.lengths.add(value)
    for (const [slice, texts] of one.slices)
      merged.slices.set(slice, new Set([...(merged.slices.get(slice) ?? []), ...texts]))
    merged.isBool ||= one.isBool
    merged.predicates += one.predicates
  }
  const elements = all.flatMap(({ element }) => element ?? [])
  if (elements.length > 0) merged.element = mergeCompared(elements)
  for (const name of new Set(all.flatMap(({ fields }) => [...fields.keys()])))
    merged.fields.set(name, mergeCompared(all.flatMap(({ fields }) => fields.get(name) ?? [])))
  for (const at of new Set(all.flatMap(({ places }) => [...places.keys()])))
    merged.places.set(at, mergeCompared(all.flatMap(({ places }) => places.get(at) ?? [])))
  return merged
}

/** Reads a clause: a tree without `&&`, `||` and `!` at its top. */
export function readClause(tree: Expression, types: ReadonlyMap<Expression, Type>): ClauseReads {
  const reader = new ClauseReader(types)
  reader.visit(tree, undefined)
  return reader
}

/** Where an expression points: at a chain that may go on, or into a part that was reached. */
type Pointer =
  | { readonly at: 'chain'; readonly path: readonly string[]; readonly type: Type }
  | { readonly at: 'part'; readonly compared: Compared; readonly type: Type; readonly slice?: string }

interface Scope {
  readonly name: string
  readonly pointer: Pointer | undefined
  readonly outer: Scope | undefined
}

type Literal = bigint | string | boolean

class ClauseReader implements ClauseReads {
  readonly parts = new Map<string, RequestPart>()
  isUnderstood = true
  readonly #types: ReadonlyMap<Expression, Type>

  constructor(types: ReadonlyMap<Expression, Type>) {
    this.#types = types
  }

  visit(node: Expression, scope: Scope | undefined): void {
    if (!this.#read(node, scope)) this.#giveUp(node, scope)
  }

  /** Notes what an expression reads; false where literals do not tell what it can be. */
  #read(node: Expression, scope: Scope | undefined): boolean {
    switch (node.kind) {
      case 'bool':
        return true
      case 'not':
        this.visit(node.operand, scope)
        return true
      case 'logic':
        for (const operand of node.operands) this.visit(operand, scope)
        return true
      case 'compare':
        return this.#compare(node, scope)
      case 'quantifier':
        return (
          node.method !== 'filter' && this.#walk(node.target, node.variable.text, node.predicate, scope) !== undefined
        )
      case 'method': {
        const [item] = node.args
        return node.name.text === 'contains' && item !== undefined && this.#contains(node.target, item, scope)
      }
      default: {
        const pointer = this.#pointer(node, scope)
        if (pointer) this.#reach(pointer).compared.isBool = true
        return pointer !== undefined
      }
    }
  }

  #compare(node: Expression & { readonly kind: 'compare' }, scope: Scope | undefined): boolean {
    const { left, right, operator } = node
    if (operator === 'in') return this.#contains(right, left, scope)
    const literals = literalsOf(right) ?? literalsOf(left)
    const read = literalsOf(right) ? left : right
    const counted = countedBy(read)
    const pointer = literals && this.#pointer(counted ?? read, scope)
    if (pointer === undefined) return false
    if (counted === undefined) return this.#note(pointer, literals!)
    const { lengths } = this.#reach(pointer).compared
    const [number] = literals!
    if (typeof number !== 'bigint') return false
    for (const length of [number - 1n, number, number + 1n]) lengths.add(Number(length))
    return true
  }

  /** Whether a list that is written has an element that is read, or one that is read has what is written. */
  #contains(list: Expression, item: Expression, scope: Scope | undefined): boolean {
    const [items, literals] = [literalsOf(list), literalsOf(item)]
    if (items && literals) return true
    const pointer = items ? this.#pointer(item, scope) : literals && this.#pointer(list, scope)
    if (pointer === undefined) return false
    if (items) return this.#note(pointer, items)
    const { compared } = this.#reach(pointer)
    compared.predicates++
    for (const literal of literals!) note(this.#elementOf(compared), literal)
    return true
  }

  #walk(target: Expression, variable: string, predicate: Expression, scope: Scope | undefined): Pointer | undefined {
    const pointer = this.#pointer(target, scope)
    if (pointer === undefined) return undefined
    const { compared } = this.#reach(pointer)
    compared.predicates++
    const element = pointer.type.kind === 'dynamic' ? pointer.type : elementType(pointer.type)
    const inner: Pointer | undefined = element && { at: 'part', compared: this.#elementOf(compared), type: element }
    this.visit(predicate, { name: variable, pointer: inner, outer: scope })
    return pointer
  }

  /** Where an access points; undefined for what is none. */
  #pointer(node: Expression, scope: Scope | undefined): Pointer | undefined {
    switch (node.kind) {
      case 'name': {
        for (let at = scope; at !== undefined; at = at.outer) if (at.name === node.name) return at.pointer
        const type = this.#types.get(node)
        return type && { at: 'chain', path: [node.name], type }
      }
      case 'member': {
        const target = this.#pointer(node.target, scope)
        const type = target && memberType(target.type, node.name.text)
        return type && this.#below(target, node.name.text, type)
      }
      case 'index':
        return this.#index(node.target, node.index, scope)
      case 'slice': {
        const target = this.#pointer(node.target, scope)
        const { from, to } = node
        if (target?.type.kind !== 'string' || from.kind !== 'int' || to.kind !== 'int') return undefined
        return { ...this.#reach(target), slice: `${from.value} ${to.value}` }
      }
      case 'quantifier':
        return node.method === 'filter' ? this.#walk(node.target, node.variable.text, node.predicate, scope) : undefined
      default:
        return undefined
    }
  }

  #index(of: Expression, index: Expression, scope: Scope | undefined): Pointer | undefined {
    const target = this.#pointer(of, scope)
    if (target === undefined) return undefined
    if (index.kind === 'string' && (target.type.kind === 'map' || target.type.kind === 'dynamic'))
      return this.#below(target, index.value, target.type.kind === 'map' ? target.type.value : target.type)
    if (index.kind !== 'int') return undefined
    if (target.type.kind === 'string') return { ...this.#reach(target), slice: `${index.value} ${index.value + 1n}` }
    if (target.type.kind === 'dynamic') return this.#place(target, Number(index.value))
    const element = elementType(target.type)
    if (element === undefined) return undefined
    const { compared } = this.#reach(target)
    for (const length of [index.value, index.value + 1n]) compared.lengths.add(Number(length))
    // An element at a place is one of any two lists that differ there.
    compared.predicates++
    return { at: 'part', compared: this.#elementOf(compared), type: element }
  }

  /** A place in a decoded value: of a list, or of a tuple, which has a type for each. */
  #place(target: Pointer, at: number): Pointer {
    const { places } = this.#reach(target).compared
    const known = places.get(at) ?? nothingCompared()
    places.set(at, known)
    return { at: 'part', compared: known, type: target.type }
  }

  #below(target: Pointer, name: string, type: Type): Pointer {
    if (target.at === 'chain' && !WHOLE.has(target.path[0]!)) return { at: 'chain', path: [...target.path, name], type }
    const { compared } = this.#reach(target)
    const known = compared.fields.get(name) ?? nothingCompared()
    compared.fields.set(name, known)
    return { at: 'part', compared: known, type }
  }

  /** A chain becomes a part where it is used. */
  #reach(pointer: Pointer): Pointer & { readonly at: 'part' } {
    if (pointer.at === 'part') return pointer
    const path = WHOLE.has(pointer.path[0]!) ? pointer.path.slice(0, 1) : pointer.path
    const key = path.join('\n')
    const part = this.parts.get(key) ?? { key, path, type: pointer.type, compared: nothingCompared() }
    this.parts.set(key, part)
    return { at: 'part', compared: part.compared, type: pointer.type }
  }

  #note(pointer: Pointer, literals: readonly Literal[]): boolean {
    const { compared, slice } = this.#reach(pointer)
    const texts = literals.filter((one) => typeof one === 'string')
    if (slice === undefined) for (const literal of literals) note(compared, literal)
    else compared.slices.set(slice, new Set([...(compared.slices.get(slice) ?? []), ...texts]))
    return slice === undefined || texts.length === literals.length
  }

  #elementOf(compared: Compared): Compared {
    compared.element ??= nothingCompared()
    return compared.element
  }

  /** What else an expression may be is not told by literals; what it reads is tried all the same. */
  #giveUp(node: Expression, scope: Scope | undefined): void {
    if (literalsOf(node)) return
    this.isUnderstood = false
    const { chains, roots } = readsOf(node)
    for (const path of [...roots, ...chains.keys()].map((chain) => chain.split('.'))) {
      const type = typeOf(path)
      if (type) this.#reach({ at: 'chain', path, type })
    }
    this.#reachInside(node, scope)
  }

  /** Reaches what is read of the elements that a predicate looks at. */
  #reachInside(node: Expression, scope: Scope | undefined): void {
    if (scope === undefined) return
    const pointer = this.#pointer(node, scope)
    if (pointer?.at === 'part') this.#reach(pointer)
    // What a predicate of its own looks at has been visited with its element.
    else
      for (const child of childrenOf(node))
        if (node.kind !== 'quantifier' || child !== node.predicate) this.#reachInside(child, scope)
  }
}

function note(compared: Compared, literal: Literal): void {
  if (typeof literal === 'bigint') compared.ints.add(literal)
  else if (typeof literal === 'string') compared.texts.add(literal)
  else compared.isBool = true
}

/** The literals that an expression is, one or a list of them; undefined for anything else. */
function literalsOf(node: Expression): readonly Literal[] | undefined {
  if (node.kind === 'bool' || node.kind === 'int' || node.kind === 'string') return [node.value]
  if (node.kind !== 'list') return undefined
  const items = node.items.map(literalsOf)
  return items.includes(undefined) ? undefined : items.flatMap((some) => some!)
}

function countedBy(node: Expression): Expression | undefined {
  return (node.kind === 'method' || node.kind === 'member') && node.name.text === 'count' ? node.target : undefined
}

/** The type that a chain of fields ends in, where it is not a struct: of one, nothing but its fields is read. */
function typeOf([root = '', ...fields]: readonly string[]): Type | undefined {
  let type = rootType(root)
  for (const field of fields) type = memberType(type, field)
  return type?.kind === 'struct' && !WHOLE.has(root) ? undefined : type
}
