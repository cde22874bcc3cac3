import type { Diagnostic } from '../diagnostics/index.ts'
import { type KindName, kinds } from '../resources/index.ts'
import { definedTwice } from './organization.ts'
import { MANAGEABLE } from './schema.ts'
import { childOf, entryOf, type MapEntry, type Tree, textOf } from './tree.ts'

/** The largest share of each kind that one plan may delete, in percent, from every file's `limits`. */
export function readLimits(files: readonly Tree[]): {
  readonly deletes: Readonly<Partial<Record<KindName, number>>>
  readonly diagnostics: readonly Diagnostic[]
} {
  const diagnostics: Diagnostic[] = []
  const deletes: Partial<Record<KindName, number>> = {}
  for (const kind of MANAGEABLE) {
    const entries = files.flatMap((file): readonly MapEntry[] => {
      const entry = entryOf(childOf(childOf(file, 'limits'), kinds[kind].form.key), 'deletes')
      return entry ? [entry] : []
    })
    const [first, ...others] = entries
    for (const other of others) diagnostics.push(definedTwice('deletes', first!, other))
    const percent = /^(\d+)%$/.exec(textOf(first?.value) ?? '')?.[1]
    if (percent !== undefined) deletes[kind] = Number(percent)
  }
  return { deletes, diagnostics }
}
