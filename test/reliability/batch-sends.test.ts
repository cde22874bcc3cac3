import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { programFile } from '../programs.ts'
import { testTemporal } from '../temporal.ts'
import { testBundle } from '../worker-runtime.ts'
import { sendMany } from './batch-sends.ts'

// The first test that needs the run's programs builds them, which takes long on a slow machine and is no part of the test.
beforeAll(async () => {
  await testBundle()
  programFile('test/reliability/worker-process.ts')
  await testTemporal()
})

test('batch sends: a run whose time is up ends all that it has started, and says how far it came', async () => {
  const temporal = await testTemporal()
  const many = { temporal, sends: 200, senders: 1, workers: 1, requestsPerSecond: 10, mostMs: 9_000 }
  await expect(sendMany(many)).rejects.toThrow(/^the run was not over after 9000 ms: /)
  expect(startedHere().filter((name) => /anvil|worker-process/.test(name))).toEqual([])
})

/** The commands of the processes that this one has started and that still run; none where the system does not say. */
function startedHere(): readonly string[] {
  const names: string[] = []
  for (const pid of existsSync('/proc/self/stat') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (Number(parent) === process.pid && state !== 'Z') names.push(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
    } catch {
      // It has ended meanwhile.
    }
  }
  return names
}
