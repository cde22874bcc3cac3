import type { PolicyField } from '../policy/index.ts'
import { KINDS, kinds } from '../resources/index.ts'

/** A kind that has expressions of the policy language, and where definitions write them. */
export interface ExpressionKind {
  /** The keys of the sections on the way; under each stands a map by name. */
  readonly path: readonly string[]
  readonly fields: ReadonlyMap<string, PolicyField>
}

/** Found by the catalogue: a kind that gains an expression is formatted, checked and completed like the others. */
export const expressionKinds: readonly ExpressionKind[] = KINDS.flatMap((kind) => {
  const { form, parent, fields } = kinds[kind]
  const own = Object.entries(fields).flatMap(([name, { expression }]): [string, PolicyField][] =>
    expression === undefined ? [] : [[name, expression]],
  )
  const path = [...(parent ? [kinds[parent].form.key] : []), form.key]
  return own.length === 0 ? [] : [{ path, fields: new Map(own) }]
})
