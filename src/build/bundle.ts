import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { directImports } from './direct-imports.ts'
import { lazyImports } from './lazy-imports.ts'
import { loadedTogether } from './loaded-together.ts'
import { precompile } from './precompile.ts'

const ROOT = join(import.meta.dirname, '../..')

/** What is loaded by its path, from beside the file that loads it: each keeps its own name, in the same folder. */
export const LOADED_BY_PATH = [
  'src/scenarios/worker.ts',
  'src/service/work/thread.ts',
  'src/worker/payload-converter.ts',
] as const

/**
 * Packages that are bundled: those that many commands load, and that are plain JavaScript in many small files, which Node.js
 * takes longer to find than to run. Others stay where npm puts them.
 */
const BUNDLED = new Set([
  '@hpke/common',
  '@hpke/core',
  '@noble/curves',
  '@noble/hashes',
  '@scure/base',
  '@scure/bip39',
  '@scure/btc-signer',
  'ajv',
  'commander',
  'csv-parse',
  'diff',
  'kysely',
  'micro-key-producer',
  'micro-packed',
  'yaml',
])

/** What the commands that people wait for load, in the order in which they have more to load. */
const WAITED_FOR = [
  'src/cli/start.ts',
  'src/cli/run.ts',
  'src/cli/deadline.ts',
  'src/cli/commands/validate.ts',
  'src/cli/commands/plan.ts',
]

/** Writes programs, given by their paths in the repository, into a folder as few files, with the packages that all need. */
export async function bundle(entryPoints: readonly string[], folder: string): Promise<void> {
  const build = await rolldown({
    cwd: ROOT,
    input: entryPoints.map((path) => join(ROOT, path)),
    platform: 'node',
    plugins: [lazyImports(BUNDLED), precompile, directImports],
    transform: { target: 'node22' },
  })
  await build.write({
    dir: folder,
    format: 'esm',
    // Every start reads and hashes the text; comments are an eighth of it.
    comments: { legal: true, annotation: false, jsdoc: false },
    entryFileNames: '[name].js',
    chunkFileNames: 'part-[hash].js',
    codeSplitting: { groups: [loadedTogether(WAITED_FOR.map((path) => join(ROOT, path)))] },
  })
  await build.close()
}
