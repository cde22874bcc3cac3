import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { diskReader, readSources } from '../../../definitions/index.ts'
import { type Diagnostic, QuorateError, type Source } from '../../../diagnostics/index.ts'

/** Reads the files of definitions that folders hold, and files that are named one by one. */
export async function readDefinitionFiles(
  paths: readonly string[],
): Promise<{ readonly sources: readonly Source[]; readonly diagnostics: readonly Diagnostic[] }> {
  const sources: Source[] = []
  const diagnostics: Diagnostic[] = []
  for (const path of paths) {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found === undefined) {
      throw new QuorateError('cli/no-definitions', `expected \`${path}\` to be a folder or a file of definitions`, {
        next: 'name one that exists',
      })
    }
    const isWanted = (source: Source) => found.isDirectory() || resolve(source.path) === resolve(path)
    const read = await readSources(found.isDirectory() ? path : dirname(path), diskReader)
    diagnostics.push(...read.diagnostics.filter(({ span }) => isWanted(span.source)))
    sources.push(...read.sources.filter(isWanted))
  }
  return { sources, diagnostics }
}
