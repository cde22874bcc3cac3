import { beforeAll, expect, test } from 'vitest'
import { programFile } from '../programs.ts'
import { testTemporal } from '../temporal.ts'
import { testBundle } from '../worker-runtime.ts'
import { sendMany } from './batch-sends.ts'
import { line } from './figures.ts'

// The first test that needs the run's programs builds them, which takes long on a slow machine and is no part of the test.
beforeAll(async () => {
  await testBundle()
  programFile('test/reliability/worker-process.ts')
  await testTemporal()
})

test('batch sends: a node that loses answers and is killed twice, and a worker killed, change nothing but time', async ({
  signal,
}) => {
  const sends = 60
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
  expect(figures.lostAnswers).toBeGreaterThan(5)
  expect(figures.keptRate).toBe(true)
})
