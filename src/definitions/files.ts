import { dirname, isAbsolute, join, relative } from 'node:path'
import { type Diagnostic, diagnostic } from '../diagnostics/index.ts'
import { decodeUtf8 } from '../encoding/index.ts'
import { KINDS, kinds } from '../resources/index.ts'
import { type FolderReader, reason } from './folder.ts'
import { childOf, type ScalarTree, type Tree } from './tree.ts'

/** The text of each file that a definition names, by the scalar that names it. */
export type NamedFiles = ReadonlyMap<ScalarTree, string>

/** More than any field takes; a file that is longer is not read into memory twice. */
const MOST_BYTES = 4_000_000

/**
 * Reads the files that definitions name (`fileOf`): from the folder of definitions and what is below it, by the path from
 * the file that names them. A file that cannot be read is a diagnostic where it is named.
 */
export async function readNamedFiles(
  files: readonly Tree[],
  { folder, reader }: { readonly folder: string; readonly reader: FolderReader },
): Promise<{ readonly texts: NamedFiles; readonly diagnostics: readonly Diagnostic[] }> {
  const texts = new Map<ScalarTree, string>()
  const diagnostics: Diagnostic[] = []
  const found = new Map<string, Promise<Uint8Array>>()
  // Definitions made from one template share the scalars that have nothing of their own in them.
  for (const scalar of new Set(files.flatMap(namesOfFiles))) {
    const wanted = String(scalar.value)
    const report = (message: string, help: string) =>
      diagnostics.push(diagnostic('definitions/unreadable-file', message, scalar.span, { help }))
    const path = join(dirname(scalar.span.source.path), wanted)
    if (isAbsolute(wanted) || relative(folder, path).split(/[\\/]/)[0] === '..') {
      report(
        `expected a path inside the folder of the definitions, got \`${wanted}\``,
        'copy the file to the definitions: what they say is all there',
      )
      continue
    }
    try {
      if (!found.has(path)) found.set(path, reader.read(path))
      const bytes = await found.get(path)!
      if (bytes.length > MOST_BYTES) report(`\`${wanted}\` is too large: ${bytes.length} bytes`, 'name another file')
      else texts.set(scalar, decodeUtf8(bytes))
    } catch (cause) {
      const why = cause instanceof TypeError ? 'it is not UTF-8 text' : reason(cause)
      report(`\`${wanted}\` cannot be read: ${why}`, 'paths are written from the file that names them')
    }
  }
  return { texts, diagnostics }
}

/** Scalars that name files, in the sections of the kinds that have such fields. */
function namesOfFiles(file: Tree): readonly ScalarTree[] {
  return KINDS.flatMap((kind) => {
    const { form, fields, parent } = kinds[kind]
    const rows = Object.entries(fields).filter(([, row]) => row.fileOf !== undefined)
    const section = rows.length === 0 || parent ? undefined : childOf(file, form.key)
    if (section?.kind !== 'map') return []
    return section.entries.flatMap(({ value }) =>
      rows.flatMap(([name]) => {
        const scalar = childOf(value, name)
        return scalar?.kind === 'scalar' && typeof scalar.value === 'string' && !scalar.missing ? [scalar] : []
      }),
    )
  })
}
