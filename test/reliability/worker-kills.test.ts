import { expect, test } from 'vitest'
import { testTemporal } from '../temporal.ts'
import { line } from './figures.ts'
import { killWorkers } from './worker-kills.ts'

test('worker kills: workers lost at random moments change nothing but time', async () => {
  const pairs = 12
  const figures = await killWorkers({ temporal: await testTemporal(), kills: 3, pairs })
  console.log(line(figures))
  expect(figures).toMatchObject({ kills: 3, pending: 3, lost: 0, dup: 0, state: 'done' })
  // An answer was lost, or the kills hit nothing that mattered.
  expect(figures.submits).toBeGreaterThan(2 * pairs)
})
