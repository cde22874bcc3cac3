/** Copies of parts of the source with one mistake put into each. */
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { expect, onTestFinished } from 'vitest'

const SRC = join(import.meta.dirname, '../src')

export interface Mutant {
  readonly mistake: string
  readonly file: string
  /** A text that the file has once. */
  readonly from: string
  readonly to: string
}

interface Copied {
  readonly module: string
  /** Folders, so that mistakes can be put into them; all other files but the module are the real ones. */
  readonly copied: readonly string[]
}

/** A module where a text of one of its files is changed; for the test that asks for it. */
export async function mutated<Module>(mutant: Mutant, copied: Copied): Promise<Module> {
  return import(pathToFileURL(await buildMutated(mutant, copied)).href)
}

/** As `mutated`: the path of the file, for a process of its own to start. */
export async function buildMutated({ file, from, to }: Mutant, { module, copied }: Copied): Promise<string> {
  const text = readFileSync(join(SRC, file), 'utf8')
  expect(text.split(from), `the text to change in ${file}`).toHaveLength(2)
  const isCopied = (path: string) => copied.some((folder) => path.startsWith(join(SRC, folder, '/')))
  const copy = mkdtempSync(join(tmpdir(), 'quorate-mutants-'))
  onTestFinished(() => rmSync(copy, { recursive: true }))
  symlinkSync(join(SRC, '../node_modules'), join(copy, 'node_modules'))
  // In one file, which loads in a tenth of the time of its many.
  const build = await rolldown({
    input: join(SRC, module),
    platform: 'node',
    plugins: [
      {
        name: 'mistake',
        resolveId(source, importer) {
          if (importer === undefined) return undefined
          if (!source.startsWith('.')) return { id: source, external: true }
          const id = join(importer, '..', source)
          return isCopied(id) ? id : { id, external: 'absolute' }
        },
        load: (id) => (id === join(SRC, file) ? { code: text.replace(from, () => to), moduleType: 'ts' } : undefined),
      },
    ],
  })
  const mistaken = join(copy, 'mistaken.js')
  await build.write({ file: mistaken, codeSplitting: false })
  await build.close()
  return mistaken
}
