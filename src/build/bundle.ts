import { join } from 'node:path'
import { build } from 'esbuild'
import { precompile } from './precompile.ts'

/** Writes programs, given by their paths in the repository, into a folder as few files; packages are not bundled. */
export async function bundle(entryPoints: readonly string[], folder: string): Promise<void> {
  await build({
    absWorkingDir: join(import.meta.dirname, '../..'),
    entryPoints: [...entryPoints],
    entryNames: '[name]',
    chunkNames: 'part-[hash]',
    outdir: folder,
    bundle: true,
    splitting: true,
    packages: 'external',
    plugins: [precompile],
    platform: 'node',
    format: 'esm',
    target: 'node22',
    logLevel: 'warning',
  })
}
