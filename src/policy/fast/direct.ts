/**
 * The direct forms: what most policies are made of, evaluated without the values in between. They give the results and
 * faults that the general forms in `evaluate.ts` give; a property test holds the two to each other.
 */
import type { Expression } from '../ast.ts'
import { loaderOf } from '../load.ts'
import { type Compile, type Evaluate, readerFor, type Scope, type Unit } from '../unit.ts'
import { Fault } from '../values.ts'
import { compileLiteralCompare, compileLiteralMembership } from './compare-literal.ts'
import { compileContainsLiteral, compileCountCompare } from './quantify.ts'
import { readerOf } from './read-path.ts'

/** Compiles a node in its direct form; undefined when it has none. */
export function compileDirect(
  compile: Compile,
  unit: Unit,
  node: Expression,
  scope: Scope | undefined,
): Evaluate | undefined {
  switch (node.kind) {
    case 'name':
    case 'member':
      return compilePath(unit, node, scope)
    case 'compare':
      return node.operator === 'in'
        ? compileMembership(unit, node.left, node.right, scope)
        : (compileLiteralCompare(unit, node, scope) ?? compileCountCompare(compile, unit, node, scope))
    case 'method':
      return node.name.text === 'contains' ? compileMembership(unit, node.args[0]!, node.target, scope) : undefined
    default:
      return undefined
  }
}

function compilePath(unit: Unit, node: Expression, scope: Scope | undefined): Evaluate | undefined {
  const path = readerOf(unit, node, scope)
  if (path === undefined) return undefined
  const { read, place } = path
  const value = readerFor(path.type, loaderOf(path.type), place)
  return (frame) => {
    const raw = read(frame)
    return raw instanceof Fault ? raw : value(frame, raw)
  }
}

function compileMembership(
  unit: Unit,
  value: Expression,
  list: Expression,
  scope: Scope | undefined,
): Evaluate | undefined {
  return compileLiteralMembership(unit, value, list, scope) ?? compileContainsLiteral(unit, list, value, scope)
}
