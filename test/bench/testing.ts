/** `quorate/testing`: until a service for tests is ready, without definitions and with them, and until it is as it was. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { startQuorate as Start } from '../../src/testing/index.ts'

const ROUNDS = 7
const root = join(import.meta.dirname, '../..')

export async function run(): Promise<void> {
  // As it is shipped.
  const folder = mkdtempSync(join(tmpdir(), 'quorate-bench-'))
  try {
    copyFileSync(join(root, 'package.json'), join(folder, 'package.json'))
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    execFileSync(process.execPath, [join(root, 'src/build/build.ts'), join(folder, 'dist/bin')])
    const { startQuorate } = (await import(join(folder, 'dist/bin/start-quorate.js'))) as { startQuorate: typeof Start }
    const times: Record<string, number[]> = {}
    const take = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
      const begun = performance.now()
      const result = await work()
      times[what] = [...(times[what] ?? []), performance.now() - begun]
      return result
    }
    for (let round = 0; round < ROUNDS; round++) {
      const bare = await take('ready', () => startQuorate())
      await take('closed', () => bare.close())
      const acme = await take('ready with definitions/acme', () =>
        startQuorate({ definitions: join(root, 'definitions/acme') }),
      )
      const snapshot = await take('snapshot', () => acme.snapshot())
      await take('restored', () => acme.restore(snapshot))
      await acme.close()
    }
    for (const [what, all] of Object.entries(times)) {
      const sorted = all.toSorted((a, b) => a - b)
      const [median, most] = [sorted[Math.floor(sorted.length / 2)]!, sorted.at(-1)!]
      console.log(`${what.padEnd(28)} ${Math.round(median)} ms median, ${Math.round(most)} ms at most`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
