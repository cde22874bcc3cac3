/**
 * Types of a tree, and what is certainly wrong with it (U-static, docs/protocol/policies.md#a-policy): unknown names,
 * operands that do not fit, a result that is not bool, bad literal arguments. What depends on decoded data is left to
 * evaluation; where that can only end in an error, a warning says so.
 */

import { suggest } from '../diagnostics/index.ts'
import type { Expression, Identifier, Quantifier } from './ast.ts'
import { parseCron, parseDuration } from './cron.ts'
import { fieldRow, isRootName, roots, rootsOf, structRow } from './environment.ts'
import { parseInstant } from './instant.ts'
import { INT_MAX, INT_MIN, UINT_MAX } from './limits.ts'
import type { PolicyField } from './model.ts'
import {
  compareOperators,
  type FunctionName,
  functions,
  isFunctionName,
  isMethodName,
  isQuantifierName,
  methods,
  quantifiers,
} from './operators.ts'
import { type Extent, type PolicyProblem, problem } from './problem.ts'
import * as t from './types.ts'
import { openZone } from './zone.ts'

export interface Checked {
  /** The type of each node. */
  readonly types: ReadonlyMap<Expression, t.Type>
  readonly problems: readonly PolicyProblem[]
}

/** Checks a tree for the field that it stands in. */
export function checkTree(field: PolicyField, tree: Expression): Checked {
  const checker = new Checker(field)
  const type = checker.visit(tree, undefined)
  if (type.kind !== 'bool' && !t.isOpen(type))
    checker.report('policy/not-bool', `a ${field} is true or false, got ${article(type)}`, tree, {
      help: type.kind === 'list' ? 'ask for `.count()`, `.any(…)` or `.all(…)` of it' : 'compare it with something',
    })
  return checker
}

/** The variables around a predicate, innermost first. */
interface Scope {
  readonly name: string
  readonly type: t.Type
  readonly outer: Scope | undefined
}

class Checker implements Checked {
  readonly types = new Map<Expression, t.Type>()
  readonly problems: PolicyProblem[] = []
  readonly #field: PolicyField

  constructor(field: PolicyField) {
    this.#field = field
  }

  report(
    code: PolicyProblem['code'],
    message: string,
    extent: Extent,
    more: Parameters<typeof problem>[3] = {},
  ): t.Type {
    this.problems.push(problem(code, message, extent, more))
    return t.any
  }

  visit(node: Expression, scope: Scope | undefined): t.Type {
    const type = this.#typeOf(node, scope)
    this.types.set(node, type)
    return type
  }

  #typeOf(node: Expression, scope: Scope | undefined): t.Type {
    switch (node.kind) {
      case 'bool':
        return t.bool
      case 'string':
        return t.string
      case 'int':
        return this.#int(node)
      case 'list':
        return this.#list(node, scope)
      case 'struct':
        return {
          kind: 'record',
          fields: new Map(node.fields.map(({ name, value }) => [name.text, this.visit(value, scope)])),
        }
      case 'name':
        return this.#name(node, scope)
      case 'call':
        return this.#call(node)
      case 'member':
        return this.#member(node, scope)
      case 'method':
        return this.#method(node, scope)
      case 'quantifier':
        return this.#quantifier(node, scope)
      case 'index':
        return this.#index(node, scope)
      case 'slice':
        return this.#slice(node, scope)
      case 'not':
        this.#expectBool('!', node.operand, scope)
        return t.bool
      case 'compare':
        return this.#compare(node, scope)
      case 'logic':
        for (const operand of node.operands) this.#expectBool(node.operator, operand, scope)
        return t.bool
      default:
        return node satisfies never
    }
  }

  /** A literal that fits `int` is `int`, a larger one is `uint` (U-intuint, U-overflow). */
  #int(node: Expression & { kind: 'int' }): t.Type {
    if (node.value < INT_MIN || node.value > UINT_MAX)
      this.report('policy/number-range', 'a number lies between -2^127 and 2^256-1', node)
    return node.value <= INT_MAX ? t.int : t.uint
  }

  /** Mixing element types, other than int with uint, is refused (U-emptylist). */
  #list(node: Expression & { kind: 'list' }, scope: Scope | undefined): t.Type {
    let element: t.Type = t.any
    for (const item of node.items) {
      const type = this.visit(item, scope)
      const both = t.unify(element, type)
      if (both === undefined)
        this.report('policy/mixed-list', `the list starts with ${article(element)}, this is ${article(type)}`, item)
      else element = both
    }
    return t.list(element)
  }

  #name(node: Expression & { kind: 'name' }, scope: Scope | undefined): t.Type {
    for (let at = scope; at !== undefined; at = at.outer) if (at.name === node.name) return at.type
    const { name } = node
    if (isRootName(name)) {
      const row = roots[name]
      if (row.field === this.#field) return row.type
      return this.report('policy/wrong-field', `\`${name}\` is not known in a ${this.#field}`, node, {
        help: `move the clause to the \`${row.field}\``,
      })
    }
    const names: string[] = [...rootsOf(this.#field)]
    for (let at = scope; at !== undefined; at = at.outer) names.push(at.name)
    if (isFunctionName(name))
      return this.report('policy/unknown-name', `\`${name}\` is a function`, node, {
        help: `write \`${name}${functions[name].arguments}\``,
      })
    return this.report('policy/unknown-name', `unknown name \`${name}\``, node, {
      help: didYouMean(name, names) ?? `a ${this.#field} starts from ${inWords(rootsOf(this.#field))}`,
    })
  }

  /** The functions are for `time` alone, and their arguments are texts in quotes (U-time-scope, U-literal-args). */
  #call(node: Expression & { kind: 'call' }): t.Type {
    const name = node.name.text
    if (!isFunctionName(name))
      return this.report('policy/unknown-function', `unknown function \`${name}\``, node.name, {
        help: didYouMean(name, Object.keys(functions)),
      })
    const result = name === 'Timestamp' ? t.timestamp : t.bool
    if (this.#field !== 'time')
      this.report('policy/wrong-field', `\`${name}\` is not known in a ${this.#field}`, node.name, {
        help: 'move the clause to the `time`',
      })
    const { parameters } = functions[name]
    if (node.args.length !== parameters.length) {
      const expected = parameters.length === 1 ? '1 argument' : `${parameters.length} arguments`
      this.report('policy/argument-count', `\`${name}\` takes ${expected}, got ${node.args.length}`, node, {
        help: `write \`${name}${functions[name].arguments}\``,
      })
      return result
    }
    for (const [index, arg] of node.args.entries()) {
      if (arg.kind === 'string') this.#literal(name, index, arg)
      else
        this.report('policy/not-literal', `\`${name}\` takes ${parameters[index]} as a text in quotes`, arg, {
          help: `write \`${name}${functions[name].arguments}\``,
        })
    }
    return result
  }

  #literal(name: FunctionName, index: number, arg: Expression & { kind: 'string' }): void {
    const row = literals[name][index]!
    const found = row.read(arg.value)
    if ('wrong' in found)
      this.report(row.code, `\`${arg.value}\` ${found.wrong}`, arg, { help: 'help' in found ? found.help : undefined })
  }

  #member(node: Expression & { kind: 'member' }, scope: Scope | undefined): t.Type {
    const target = this.visit(node.target, scope)
    const { name } = node
    if (target.kind === 'struct') return this.#structField(target.name, name)
    if (target.kind === 'record') {
      const type = target.fields.get(name.text)
      return type ?? this.#unknownField('the struct', name, [...target.fields.keys()])
    }
    if (target.kind === 'any') return t.any
    if (name.text === 'count' && (target.kind === 'list' || target.kind === 'dynamic')) {
      this.report('policy/bare-count', '`count` is written without parentheses', name, {
        severity: 'warning',
        help: 'write `count()`',
      })
      return t.int
    }
    if (target.kind === 'dynamic') {
      this.report('policy/dynamic-field', `a decoded value has no field \`${name.text}\``, name, {
        severity: 'warning',
        help: `read it with \`['${name.text}']\`, or by position when it is a tuple`,
      })
      return t.any
    }
    const method = isMethodName(name.text) || isQuantifierName(name.text)
    return this.report('policy/unknown-field', `${article(target)} has no field \`${name.text}\``, name, {
      help:
        target.kind === 'map'
          ? `write \`['${name.text}']\``
          : target.kind === 'list'
            ? method
              ? `write \`${name.text}(…)\``
              : 'ask its elements, with `[0]`, `.any(…)` or `.all(…)`'
            : undefined,
    })
  }

  #structField(structName: string, name: Identifier): t.Type {
    const row = fieldRow(structName, name.text)
    if (row !== undefined) return row.type
    const { open, fields } = structRow(structName)
    const names = fields.map((field) => field.name)
    if (!open) return this.#unknownField(showStruct(structName), name, names)
    this.report('policy/unexposed-param', `no activity exposes the parameter \`${name.text}\``, name, {
      severity: 'warning',
      help: didYouMean(name.text, names),
    })
    return t.dynamic('unexposed')
  }

  #unknownField(what: string, name: Identifier, names: readonly string[]): t.Type {
    return this.report('policy/unknown-field', `${what} has no field \`${name.text}\``, name, {
      help: didYouMean(name.text, names) ?? `it has ${inWords(names)}`,
    })
  }

  #method(node: Expression & { kind: 'method' }, scope: Scope | undefined): t.Type {
    const target = this.visit(node.target, scope)
    const name = node.name.text
    if (!isMethodName(name)) {
      const names = [...Object.keys(methods), ...Object.keys(quantifiers)]
      return this.report('policy/unknown-method', `unknown method \`${name}\``, node.name, {
        help: didYouMean(name, names) ?? `lists have ${inWords(names)}`,
      })
    }
    const args = node.args.map((arg) => this.visit(arg, scope))
    const result = name === 'count' ? t.int : t.bool
    if (!this.#isList(target, node.name, name)) return result
    const expected = name === 'count' ? 0 : 1
    if (args.length !== expected) {
      this.report('policy/argument-count', `\`${name}\` takes ${plural(expected)}, got ${args.length}`, node.name, {
        help: `write \`${name}${methods[name].arguments}\``,
      })
      return result
    }
    if (name === 'contains' && !compareOperators.in.takes(args[0]!, target))
      this.#mismatch('contains', target, args[0]!, node.args[0]!, node.args[0]!)
    return result
  }

  /** Methods are for lists; texts and maps have none (U-strmethods). */
  #isList(type: t.Type, extent: Extent, method: string): boolean {
    if (type.kind === 'list' || t.isOpen(type)) return true
    this.report('policy/unknown-method', `${article(type)} has no method \`${method}\``, extent, {
      help: type.kind === 'string' && method === 'contains' ? 'compare a part of it, like `[0..10]`' : undefined,
    })
    return false
  }

  #quantifier(node: Quantifier, scope: Scope | undefined): t.Type {
    const target = this.visit(node.target, scope)
    const extent = { start: node.target.end, end: node.variable.start }
    const isList = this.#isList(target, extent, node.method)
    const element = isList ? elementOf(target) : t.any
    this.#expectBool(node.method, node.predicate, { name: node.variable.text, type: element, outer: scope })
    return node.method === 'filter' ? (isList ? target : t.list(t.any)) : t.bool
  }

  #index(node: Expression & { kind: 'index' }, scope: Scope | undefined): t.Type {
    const target = this.visit(node.target, scope)
    const index = this.visit(node.index, scope)
    if (target.kind === 'map') {
      if (index.kind === 'string' || t.isOpen(index)) return target.value
      return this.report('policy/type-mismatch', `a map is read by a string, got ${article(index)}`, node.index)
    }
    if (t.isOpen(target)) {
      if (index.kind !== 'string' && !isPosition(index))
        this.report('policy/type-mismatch', `\`[…]\` takes a position or a key, got ${article(index)}`, node.index)
      return target
    }
    if (target.kind !== 'list' && target.kind !== 'string')
      return this.report('policy/type-mismatch', `${article(target)} cannot be read with \`[…]\``, node, {
        help: node.index.kind === 'string' ? `write \`.${node.index.value}\`` : undefined,
      })
    if (!isPosition(index))
      return this.report('policy/type-mismatch', `a position is a number, got ${article(index)}`, node.index)
    if (node.index.kind === 'int' && node.index.value < 0n)
      this.report('policy/never-in-range', 'a position is never negative', node.index, { severity: 'warning' })
    return target.kind === 'list' ? target.element : target
  }

  #slice(node: Expression & { kind: 'slice' }, scope: Scope | undefined): t.Type {
    const target = this.visit(node.target, scope)
    for (const bound of [node.from, node.to]) {
      const type = this.visit(bound, scope)
      if (!isPosition(type))
        this.report('policy/type-mismatch', `the bound of a slice is a number, got ${article(type)}`, bound)
      else if (bound.kind === 'int' && bound.value < 0n)
        this.report('policy/never-in-range', 'a position is never negative', bound, { severity: 'warning' })
    }
    if (node.from.kind === 'int' && node.to.kind === 'int' && node.from.value > node.to.value)
      this.report(
        'policy/never-in-range',
        'a slice ends before it starts',
        { start: node.from.start, end: node.to.end },
        {
          severity: 'warning',
        },
      )
    if (target.kind === 'list' || target.kind === 'string' || t.isOpen(target)) return target
    return this.report('policy/type-mismatch', `${article(target)} cannot be sliced`, node)
  }

  #compare(node: Expression & { kind: 'compare' }, scope: Scope | undefined): t.Type {
    const left = this.visit(node.left, scope)
    const right = this.visit(node.right, scope)
    if (!compareOperators[node.operator].takes(left, right))
      this.#mismatch(node.operator, left, right, node, node.right, node.left)
    return t.bool
  }

  #mismatch(
    operator: string,
    left: t.Type,
    right: t.Type,
    extent: Extent,
    rightNode: Expression,
    leftNode?: Expression,
  ): void {
    this.report('policy/type-mismatch', `\`${operator}\` does not take ${showPair(left, right)}`, extent, {
      help:
        quotesHelp(left, rightNode) ??
        (leftNode === undefined ? undefined : quotesHelp(right, leftNode)) ??
        mismatchHelp(operator, left, right),
    })
  }

  #expectBool(operator: string, node: Expression, scope: Scope | undefined): void {
    const type = this.visit(node, scope)
    if (type.kind !== 'bool' && !t.isOpen(type))
      this.report('policy/type-mismatch', `\`${operator}\` takes a bool, got ${article(type)}`, node)
  }
}

interface LiteralRow {
  readonly code: PolicyProblem['code']
  readonly read: (text: string) => object | { readonly wrong: string; readonly help?: string }
}

const literals: Readonly<Record<FunctionName, readonly LiteralRow[]>> = {
  Timestamp: [{ code: 'policy/bad-timestamp', read: parseInstant }],
  CronSpan: [
    { code: 'policy/bad-cron', read: parseCron },
    { code: 'policy/bad-duration', read: parseDuration },
    { code: 'policy/bad-zone', read: openZone },
  ],
}

function elementOf(type: t.Type): t.Type {
  return type.kind === 'list' ? type.element : type
}

function isPosition(type: t.Type): boolean {
  return t.isNumeric(type) || t.isOpen(type)
}

/** The help for a number in quotes beside a number, or the reverse: the most common slip. */
function quotesHelp(other: t.Type, node: Expression): string | undefined {
  if (t.isNumeric(other) && node.kind === 'string' && /^-?\d+$/.test(node.value))
    return `write the number without quotes: \`${node.value}\``
  const element = other.kind === 'list' ? other.element : other
  if (element.kind === 'string' && node.kind === 'int') return `write the text in quotes: \`'${node.value}'\``
  return undefined
}

function mismatchHelp(operator: string, left: t.Type, right: t.Type): string | undefined {
  if (operator === 'in' && right.kind !== 'list') return 'the right side of `in` is a list'
  if (operator === 'in' || operator === 'contains') return undefined
  const uncomparable = [left, right].find((type) => !t.isOpen(type) && !t.isComparable(type))
  if (uncomparable !== undefined) return `${article(uncomparable)} is not comparable, only what is in it`
  return operator !== '==' && operator !== '!=' ? 'only numbers and timestamps have an order' : undefined
}

function showPair(left: t.Type, right: t.Type): string {
  return `${t.showType(left)} and ${t.showType(right)}`
}

function article(type: t.Type): string {
  const name = t.showType(type)
  return type.kind === 'any' ? name : `${/^[aeiou]/i.test(name) ? 'an' : 'a'} ${name}`
}

function showStruct(name: string): string {
  return `${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name}`
}

function plural(count: number): string {
  return count === 0 ? 'no argument' : `${count} argument`
}

function didYouMean(wrong: string, names: Iterable<string>): string | undefined {
  const near = suggest(wrong, names)
  return near.length === 0 ? undefined : `did you mean ${inWords(near, 'or')}?`
}

function inWords(names: readonly string[], last = 'and'): string {
  const shown = names.map((name) => `\`${name}\``)
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} ${last} ${shown.at(-1)}`
}
