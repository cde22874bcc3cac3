/**
 * `quorate/testing`: until a service for tests is ready, without definitions and with them, and until it is as it was. How soon it is
 * ready on a machine of its own is told by the processor time of both processes, which has bounds; by the clock it is as busy as this one.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { startQuorate as Start } from '../../src/testing/index.ts'

const ROUNDS = 7
/** Of processor time. */
const MOST_MS: Readonly<Record<string, number>> = { ready: 1_000, 'ready with definitions/acme': 2_000 }
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
    const spent: Record<string, number[]> = {}
    const take = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
      const [begun, own, others] = [performance.now(), process.cpuUsage(), msOfChildren()]
      const result = await work()
      times[what] = [...(times[what] ?? []), performance.now() - begun]
      const { user, system } = process.cpuUsage(own)
      spent[what] = [...(spent[what] ?? []), (user + system) / 1e3 + msOfChildren() - others]
      return result
    }
    for (let round = 0; round < ROUNDS; round++) {
      const bare = await take('ready', () => startQuorate())
      await take('closed', () => bare.close())
      const small = await take('ready with definitions/small-company', () =>
        startQuorate({ definitions: join(root, 'definitions/small-company') }),
      )
      await small.close()
      const acme = await take('ready with definitions/acme', () =>
        startQuorate({ definitions: join(root, 'definitions/acme') }),
      )
      const snapshot = await take('snapshot', () => acme.snapshot())
      await take('restored', () => acme.restore(snapshot))
      await acme.close()
    }
    for (const [what, all] of Object.entries(times)) {
      console.log(
        `${what.padEnd(36)} ${Math.round(medianOf(all))} ms median, ${Math.round(Math.max(...all))} ms at most`,
      )
      const most = MOST_MS[what]
      if (most === undefined) continue
      const processor = Math.round(medianOf(spent[what]!))
      console.log(`  ${processor} ms of processor time (bound: ${most})`)
      if (processor >= most) process.exitCode = 1
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function medianOf(all: readonly number[]): number {
  return all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)]!
}

/** Processor time of the processes that this one has started and that still run. */
function msOfChildren(): number {
  const pids = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').match(/\d+/g) ?? []
  return pids.reduce((sum, pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // After the name, which ends with the last parenthesis, fields are counted from 3; these are 14 and 15, in hundredths.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return sum + (Number(fields[11]) + Number(fields[12])) * 10
  }, 0)
}
