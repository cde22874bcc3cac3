import { parse, readsOf } from '../policy/index.ts'
import { kinds } from './catalogue.ts'
import type { Resource, Value } from './model.ts'

/** The ids that stand anywhere in a text. */
export function idsIn(text: string): readonly string[] {
  return text.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi) ?? []
}

/**
 * Every text among the values of live fields, and every one that an expression compares with: the ids of all that a resource
 * refers to are among them. An id inside of a longer text, such as a note, is no reference.
 */
export function mentionsOf({ kind, fields }: Pick<Resource, 'kind' | 'fields'>): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (value: Value): void => {
    if (typeof value === 'string') found.add(value)
    else if (Array.isArray(value)) for (const element of value as readonly Value[]) visit(element)
    else if (typeof value === 'object' && value !== null)
      for (const member of Object.values(value)) visit(member as Value)
  }
  for (const [name, value] of Object.entries(fields)) {
    if (kinds[kind].fields[name]?.expression === undefined || typeof value !== 'string') visit(value)
    else {
      const { tree, problems } = parse(value)
      for (const text of readsOf(tree).literals) found.add(text)
      // What this version cannot read, such as a live expression of a newer language, is searched as a text.
      if (problems.length > 0) for (const id of idsIn(value)) found.add(id)
    }
  }
  return found
}
