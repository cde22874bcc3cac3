import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { programFile } from '../programs.ts'
import { testTemporal } from '../temporal.ts'
import { testBundle } from '../worker-runtime.ts'
import { keepsRate, sendMany } from './batch-sends.ts'
import { line } from './figures.ts'

// The run's programs are built by whoever is first, which takes long on a slow machine and is no part of the test.
beforeAll(async () => {
  await testBundle()
  programFile('test/reliability/worker-process.ts')
  await testTemporal()
})

test('batch sends: a node that loses answers and is killed twice, and a worker killed, change nothing but time', async ({
  signal,
}) => {
  const sends = 20
  const figures = await sendMany({
    temporal: await testTemporal(),
    sends,
    senders: 5,
    workers: 2,
    requestsPerSecond: 20,
    mostMs: 200_000,
    signal,
  })
  console.log(line(figures))
  expect(figures).toMatchObject({ included: sends, hashes: sends, paid: sends, nonces: sends })
  expect(figures).toMatchObject({ nodeKills: 2, workerKills: 1 })
  expect(figures.lostAnswers).toBeGreaterThan(1)
  expect(keepsRate(figures.mostASecond, 20)).toBe(true)
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
