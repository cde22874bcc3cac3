/**
 * Writes `generated/readers.gen.ts` (`npm run generate`): one function for each chain of fields below a root, and for each
 * field of what is walked. The engine makes a read of a member fast by what the place in the code has seen; one place that
 * reads every field has seen too much, and takes five times as long.
 */
import { writeFileSync } from 'node:fs'
import { roots, structRow } from './environment.ts'
import type { Type } from './types.ts'

/** Renders the readers, from the tables of the environment alone. */
export function renderReaders(): string {
  const chains = Object.entries(roots).flatMap(([name, { type }]) => chainsBelow([name], type))
  const fields = [...new Set(Object.values(roots).flatMap(({ type }) => elementsBelow(type)))]
  return [
    '// Generated from src/policy/environment.ts by src/policy/generate.ts. Do not edit.',
    "import type { Frame } from '../frame.ts'",
    '',
    '/** What a context may hold: anything, so that a member of it may be there or not. */',
    'type Raw = { readonly [name: string]: Raw } | null | undefined',
    '',
    '/** Reads a chain of fields below a root; nothing where anything of it is not there. */',
    'export const chainReaders: Readonly<Record<string, (frame: Frame) => unknown>> = {',
    ...chains.map((chain) => `  '${chain.join('.')}': ${chainReader(chain)},`),
    '}',
    '',
    '/** Reads a field of an element of a list, by the name of its struct. */',
    'export const fieldReaders: Readonly<Record<string, (element: Raw) => unknown>> = {',
    ...fields
      .flatMap((struct) => structRow(struct).fields.map((row) => ({ struct, name: row.reads ?? row.name })))
      .filter((one, at, all) => all.findIndex(({ struct, name }) => struct === one.struct && name === one.name) === at)
      .map(({ struct, name }) => `  '${struct}.${name}': (element) => element?.${name},`),
    '}',
    '',
  ].join('\n')
}

function chainReader([root = '', ...names]: readonly string[]): string {
  // Of these the frame has more to say than the context does.
  if (root === 'time') return '({ context }) => context.now'
  if (root === 'activity') {
    const [field = '', ...inner] = names
    return field === 'params'
      ? `({ context }) => ${['(context.activity.params as Raw)', ...inner].join('?.')}`
      : field === 'type'
        ? '({ row, context }) => row?.type ?? context.activity.type'
        : `({ row }) => row?.${field}`
  }
  if (names.length === 0) return `({ context }) => context.${root}`
  return `({ context }) => ${[`(context.${root} as Raw)`, ...names].join('?.')}`
}

/** The chains of fields below a chain that end in something else than a struct. */
function chainsBelow(chain: readonly string[], type: Type): readonly (readonly string[])[] {
  if (type.kind !== 'struct') return [chain]
  return structRow(type.name).fields.flatMap((row) => chainsBelow([...chain, row.reads ?? row.name], row.type))
}

/** The structs that are elements of lists at or below a type. */
function elementsBelow(type: Type): readonly string[] {
  if (type.kind === 'list')
    return type.element.kind === 'struct'
      ? [type.element.name, ...elementsBelow(type.element)]
      : elementsBelow(type.element)
  return type.kind === 'struct' ? structRow(type.name).fields.flatMap((row) => elementsBelow(row.type)) : []
}

if (import.meta.main) writeFileSync(new URL('generated/readers.gen.ts', import.meta.url), renderReaders())
