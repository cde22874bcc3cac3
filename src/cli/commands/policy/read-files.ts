import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { createDiskReader, readSources } from '../../../definitions/index.ts'
import { type Diagnostic, QuorateError, type Source } from '../../../diagnostics/index.ts'

/** Reads the files of definitions that folders and the folders in them hold, and files that are named one by one. */
export async function readDefinitionFiles(
  paths: readonly string[],
): Promise<{ readonly sources: readonly Source[]; readonly diagnostics: readonly Diagnostic[] }> {
  const sources: Source[] = []
  const diagnostics: Diagnostic[] = []
  const open = paths.map((path) => ({ path, root: path }))
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const { path, root } = next
    const found = statSync(path, { throwIfNoEntry: false })
    if (found === undefined) {
      throw new QuorateError('cli/no-definitions', `expected \`${path}\` to be a folder or a file of definitions`, {
        next: 'name one that exists',
      })
    }
    const file = found.isDirectory() ? undefined : resolve(path)
    const isWanted = (source: Source) => file === undefined || resolve(source.path) === file
    const read =
      file === undefined
        ? await readSources(path, createDiskReader(root))
        : await readSources(dirname(path), createDiskReader(dirname(path)))
    if (file === undefined) open.unshift(...read.folders.map((one) => ({ path: one, root })))
    diagnostics.push(...read.diagnostics.filter(({ span }) => isWanted(span.source)))
    sources.push(...read.sources.filter(isWanted))
  }
  return { sources, diagnostics }
}
