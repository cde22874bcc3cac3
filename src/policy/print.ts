/** Tree → text. Parsing what it prints gives the same tree. */
import type { Expression } from './ast.ts'
import { flatten, layout } from './layout.ts'

/** Prints an expression on one line. */
export function print(node: Expression): string {
  return flatten(layout(node))
}
