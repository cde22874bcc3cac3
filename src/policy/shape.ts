/** The declared types of the policy context, for readers of a context from text. */
import { fieldRow, isRootName, roots, structRow } from './environment.ts'
import { struct, type Type } from './types.ts'

/** The type of a root of the context; undefined for what is none. `activity` and `batch` are taken apart by the caller. */
export function rootType(name: string): Type | undefined {
  if (name === 'params') return struct('ActivityParams')
  return isRootName(name) ? roots[name].type : undefined
}

/** The type of a member of a struct or of a map. */
export function memberType(type: Type | undefined, name: string): Type | undefined {
  if (type?.kind === 'struct') return fieldRow(type.name, name)?.type
  return type?.kind === 'map' ? type.value : undefined
}

/** The type of the elements of a list. */
export function elementType(type: Type | undefined): Type | undefined {
  return type?.kind === 'list' ? type.element : undefined
}

/** The names of the fields of a struct. */
export function memberNames(type: Type | undefined): readonly string[] {
  return type?.kind === 'struct' ? structRow(type.name).fields.map(({ name }) => name) : []
}
