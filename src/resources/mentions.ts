import { parse, readsOf } from '../policy/index.ts'
import { kinds } from './catalogue.ts'
import type { Resource, Value } from './model.ts'

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
    else for (const text of readsOf(parse(value).tree).literals) found.add(text)
  }
  return found
}
