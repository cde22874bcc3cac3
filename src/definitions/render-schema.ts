import { makeSchema } from './schema.ts'

/** The text of `quorate.schema.json`. */
export function renderSchema(): string {
  return `${JSON.stringify(makeSchema(), null, 2)}\n`
}
