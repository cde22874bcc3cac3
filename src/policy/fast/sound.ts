/**
 * What an evaluation can go wrong on. Of many expressions it is known beforehand that they give a value whenever a few
 * chains of fields can be read (`eth.tx.value`) and the voters are whole; what can fault for any other reason, such as
 * a decoded argument or a position, is not spoken for.
 */
import type { Expression, Quantifier } from '../ast.ts'
import { type StructField, structRow } from '../environment.ts'
import type { CompiledExpression } from '../expression.ts'
import { isPlainObject } from '../load.ts'
import type { PolicyContext } from '../model.ts'
import type { Type } from '../types.ts'
import { type Scope, type Unit, within } from '../unit.ts'
import { type RawPath, readerOf } from './read-path.ts'

/** The conditions under which an expression has a value. */
export interface ValueConditions {
  /** Chains that must be readable, by their names. */
  readonly paths: ReadonlyMap<string, RawPath>
  /** Of these, the chains that are sliced: they must not be long, or slicing them takes too many steps. */
  readonly sliced: ReadonlySet<string>
  /** Predicates inside of one another, at most. */
  readonly depth: number
  /** Elements of the longest list that is written in it. */
  readonly longestList: number
}

/** Slices in one expression beyond which their steps are not worth counting beforehand. */
const MOST_SLICES = 20
/** Characters of a text that may be sliced without counting steps. */
export const SHORT_TEXT = 65_536

/** The needs of an expression; undefined when it can fault for other reasons as well. */
export function needsOf({ tree, unit }: CompiledExpression): ValueConditions | undefined {
  if (tree === undefined) return undefined
  const survey = new Survey(unit)
  return survey.isSound(tree, undefined, 0) && survey.slices <= MOST_SLICES ? survey : undefined
}

class Survey implements ValueConditions {
  readonly paths = new Map<string, RawPath>()
  readonly sliced = new Set<string>()
  depth = 0
  longestList = 0
  slices = 0
  readonly #unit: Unit

  constructor(unit: Unit) {
    this.#unit = unit
  }

  isSound(node: Expression, scope: Scope | undefined, level: number): boolean {
    this.depth = Math.max(this.depth, level)
    const sound = (inner: Expression) => this.isSound(inner, scope, level)
    switch (node.kind) {
      case 'bool':
      case 'int':
      case 'string':
        return true
      case 'list':
        this.longestList = Math.max(this.longestList, node.items.length)
        return node.items.every(sound)
      case 'name':
      case 'member':
        return this.#isSoundPath(node, scope)
      case 'not':
        return sound(node.operand)
      case 'logic':
        return node.operands.every(sound)
      case 'compare':
        if (node.operator === 'in') return this.#isMembership(node.left, node.right, scope, level)
        return this.#isClosed(node.left) && this.#isClosed(node.right) && sound(node.left) && sound(node.right)
      case 'method':
        if (node.name.text === 'count') return this.#isSoundList(node.target, scope, level)
        return this.#isMembership(node.args[0]!, node.target, scope, level)
      case 'quantifier':
        return this.#isSoundQuantifier(node, scope, level)
      case 'slice':
        return this.#isSoundSlice(node, scope)
      case 'struct':
      case 'call':
      case 'index':
        return false
      default:
        return node satisfies never
    }
  }

  #isMembership(value: Expression, list: Expression, scope: Scope | undefined, level: number): boolean {
    // Walking a list costs as much as a predicate does.
    return this.#isClosed(value) && this.isSound(value, scope, level + 1) && this.#isSoundList(list, scope, level + 1)
  }

  #isSoundQuantifier(node: Quantifier, scope: Scope | undefined, level: number): boolean {
    return this.#isSoundList(node.target, scope, level) && this.isSound(node.predicate, within(node, scope), level + 1)
  }

  /** The voters, their tags, what is written as a list, and what is filtered of these: every element can be read. */
  #isSoundList(node: Expression, scope: Scope | undefined, level: number): boolean {
    switch (node.kind) {
      case 'list':
        return this.#isClosed(node) && this.isSound(node, scope, level)
      case 'quantifier':
        return this.#isSoundQuantifier(node, scope, level)
      case 'name':
        return people.includes(node.name) || isVariable(node, scope)
      case 'member':
        return node.target.kind === 'name' && isVariable(node.target, scope) && this.#isClosed(node)
      default:
        return false
    }
  }

  #isSoundPath(node: Expression, scope: Scope | undefined): boolean {
    let root = node
    while (root.kind === 'member') root = root.target
    if (root.kind !== 'name') return false
    if (isVariable(root, scope)) return node === root || readerOf(this.#unit, node, scope) !== undefined
    if (people.includes(root.name)) return node === root
    const path = readerOf(this.#unit, node, scope)
    if (path === undefined || !isClosed(path.type)) return false
    this.paths.set(path.chain, path)
    return true
  }

  #isSoundSlice(node: Expression & { kind: 'slice' }, scope: Scope | undefined): boolean {
    const { target, from, to } = node
    this.slices++
    if (from.kind !== 'int' || to.kind !== 'int' || from.value < 0n || from.value > to.value) return false
    if (this.#unit.types.get(target)?.kind !== 'string' || target.kind !== 'member') return false
    const path = readerOf(this.#unit, target, undefined)
    if (path === undefined || !this.#isSoundPath(target, undefined)) return false
    this.sliced.add(path.chain)
    return isVariableFree(target, scope)
  }

  #isClosed(node: Expression): boolean {
    const type = this.#unit.types.get(node)
    return type !== undefined && isClosed(type)
  }
}

const people: readonly string[] = ['approvers', 'credentials']

function isVariable(node: Expression & { kind: 'name' }, scope: Scope | undefined): boolean {
  for (let at = scope; at !== undefined; at = at.outer) if (at.name === node.name) return true
  return false
}

function isVariableFree(node: Expression, scope: Scope | undefined): boolean {
  let root = node
  while (root.kind === 'member') root = root.target
  return root.kind === 'name' && !isVariable(root, scope)
}

/** Whether everything about a type is known before evaluation. */
function isClosed(type: Type): boolean {
  switch (type.kind) {
    case 'bool':
    case 'int':
    case 'uint':
    case 'number':
    case 'string':
      return true
    case 'list':
      // Of `[]` there is nothing to compare with.
      return type.element.kind === 'any' || isClosed(type.element)
    default:
      return false
  }
}

/**
 * The length of the longest list in what a request says of its voters; undefined when any of it is not of its declared
 * type, so that reading it would fault.
 */
export function longestVoterList(context: PolicyContext): number | undefined {
  const approvers: unknown = context.approvers
  const credentials: unknown = context.credentials ?? []
  if (!Array.isArray(approvers) || !Array.isArray(credentials)) return undefined
  let longest = Math.max(approvers.length, credentials.length)
  for (let i = 0; i < approvers.length; i++) {
    const length = longestList(approvers[i], userFields)
    if (length === undefined) return undefined
    if (length > longest) longest = length
  }
  for (let i = 0; i < credentials.length; i++)
    if (longestList(credentials[i], credentialFields) === undefined) return undefined
  return longest
}

const userFields = structRow('User').fields
const credentialFields = structRow('Credential').fields

/** The longest list among the fields of a voter; undefined when one of them is not of its type. */
function longestList(raw: unknown, fields: readonly StructField[]): number | undefined {
  if (!isPlainObject(raw)) return undefined
  let longest = 0
  for (let i = 0; i < fields.length; i++) {
    const { name, type, absent } = fields[i]!
    const value = raw[name] ?? absent
    if (type.kind === 'string') {
      if (typeof value !== 'string') return undefined
    } else {
      if (!Array.isArray(value)) return undefined
      for (let j = 0; j < value.length; j++) if (typeof value[j] !== 'string') return undefined
      if (value.length > longest) longest = value.length
    }
  }
  return longest
}
