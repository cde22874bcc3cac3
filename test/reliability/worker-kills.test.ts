import { expect, test } from 'vitest'
import { testTemporal } from '../temporal.ts'
import { line } from './figures.ts'
import { killWorkers } from './worker-kills.ts'

test('worker kills: workers lost at random moments change nothing but time', { timeout: 400_000 }, async () => {
  const figures = await killWorkers({ temporal: await testTemporal(), kills: 6, pairs: 20 })
  console.log(line(figures))
  expect(figures).toMatchObject({ kills: 6, pending: 6, lost: 0, dup: 0, state: 'done' })
  // Some answers were lost, or the kills hit nothing that mattered.
  expect(figures.submits).toBeGreaterThan(40)
})

test('worker kills: a body made inside the Temporal activity makes twins', { timeout: 400_000 }, async () => {
  const { kills, dup } = await killWorkers({ temporal: await testTemporal(), kills: 20, naive: true })
  console.log(`naive: kills=${kills} dup=${dup}`)
  expect(dup).toBeGreaterThan(0)
})
