import { parse, readsOf } from '../policy/index.ts'
import { kinds } from './catalogue.ts'
import type { Resource } from './model.ts'

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const IDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi

/** The fields that hold an expression, which intents call by the same names. */
const EXPRESSIONS: ReadonlySet<string> = new Set(
  Object.values(kinds).flatMap(({ fields }) =>
    Object.entries(fields).flatMap(([name, { expression }]) => (expression === undefined ? [] : [name])),
  ),
)

/**
 * Every text among the values of fields, an intent or a result, at any depth; of a policy's expression those that are written in it.
 * What this version cannot read, such as a live expression of a newer language, is a text as a whole, and the ids in it are too.
 */
export function textsOf(value: unknown, name = ''): readonly string[] {
  if (typeof value === 'string') return EXPRESSIONS.has(name) ? textsOfExpression(value) : [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([member, one]) => textsOf(one, member))
}

function textsOfExpression(text: string): readonly string[] {
  const { tree, problems } = parse(text)
  const written = [...readsOf(tree).literals]
  return problems.length === 0 ? written : [...written, text, ...(text.match(IDS) ?? [])]
}

/** The ids among the texts of a value. An id inside of a longer text, such as a note, is no reference. */
export function idsOf(value: unknown): readonly string[] {
  return textsOf(value).filter((text) => ID.test(text))
}

/** Every text that a live resource holds: the ids of all that it refers to are among them. */
export function mentionsOf({ fields }: Pick<Resource, 'fields'>): ReadonlySet<string> {
  return new Set(textsOf(fields))
}
