import { type ActivityTemplate, kinds } from '../resources/index.ts'
import type { Difference } from './diff.ts'

/** The activity that carries a difference; the diff has made sure that there is one. */
export function templateOf({ kind, action, input }: Difference): ActivityTemplate {
  const row = kinds[kind]
  if (action === 'update') return row.update!(input)
  return action === 'create' ? row.create! : row.remove!
}
