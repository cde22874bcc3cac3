import { expect, test } from 'vitest'
import { testTemporal } from '../temporal.ts'
import { keepsRate, sendMany } from './batch-sends.ts'
import { line } from './figures.ts'

test('batch sends: a node that loses answers and is killed twice, and a worker killed, change nothing but time', {
  timeout: 240_000,
}, async () => {
  const sends = 60
  const figures = await sendMany({
    temporal: await testTemporal(),
    sends,
    senders: 5,
    workers: 2,
    requestsPerSecond: 20,
  })
  console.log(line(figures))
  expect(figures).toMatchObject({ included: sends, hashes: sends, paid: sends, nonces: sends })
  expect(figures).toMatchObject({ nodeKills: 2, workerKills: 1 })
  expect(figures.lostAnswers).toBeGreaterThan(5)
  expect(keepsRate(figures.mostASecond, 20)).toBe(true)
})
