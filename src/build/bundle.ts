import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { directImports } from './direct-imports.ts'
import { lazyImports } from './lazy-imports.ts'
import { precompile } from './precompile.ts'

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
  'micro-key-producer',
  'micro-packed',
  'yaml',
])

const packages: Plugin = {
  name: 'packages',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
      if (kind === 'entry-point') return undefined
      const name = path.split('/', path.startsWith('@') ? 2 : 1).join('/')
      return BUNDLED.has(name) ? undefined : { path, external: true }
    })
  },
}

/** Writes programs, given by their paths in the repository, into a folder as few files, with the packages that all need. */
export async function bundle(entryPoints: readonly string[], folder: string): Promise<void> {
  await build({
    absWorkingDir: join(import.meta.dirname, '../..'),
    entryPoints: [...entryPoints],
    entryNames: '[name]',
    chunkNames: 'part-[hash]',
    outdir: folder,
    bundle: true,
    splitting: true,
    plugins: [lazyImports(BUNDLED), packages, precompile, directImports],
    platform: 'node',
    format: 'esm',
    target: 'node22',
    logLevel: 'warning',
  })
}
