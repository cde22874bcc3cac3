import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createPlaces, isThere, S3_CREDENTIALS } from '../activities/store-places.ts'
import { testTemporal } from '../temporal.ts'
import { line } from './figures.ts'
import { killWorkers } from './worker-kills.ts'

test('worker kills: workers lost at random moments change nothing but time', { timeout: 400_000 }, async () => {
  const pairs = 12
  const figures = await killWorkers({ temporal: await testTemporal(), kills: 3, pairs })
  console.log(line(figures))
  expect(figures).toMatchObject({ kills: 3, pending: 3, lost: 0, dup: 0, state: 'done' })
  // Some answers were lost, or the kills hit nothing that mattered.
  expect(figures.submits).toBeGreaterThan(2 * pairs)
})

test('worker kills: a body made inside the Temporal activity makes twins', { timeout: 400_000 }, async () => {
  const { kills, dup } = await killWorkers({ temporal: await testTemporal(), kills: 20, naive: true })
  console.log(`naive: kills=${kills} dup=${dup}`)
  expect(dup).toBeGreaterThan(0)
})

describe('machines that share no folder', () => {
  const places = createPlaces()
  beforeAll(() => {
    for (const [name, value] of Object.entries(S3_CREDENTIALS)) vi.stubEnv(name, value)
  })
  afterAll(async () => {
    await places.close()
    vi.unstubAllEnvs()
  })

  test.each((['PostgreSQL', 'S3'] as const).filter(isThere))(
    'worker kills: what one machine planned, others carry out and are lost in between, with the plan store in %s',
    { timeout: 400_000 },
    async (name) => {
      const { url } = await places.begin(name)
      const figures = await killWorkers({ temporal: await testTemporal(), kills: 2, pairs: 6, sharedPlace: url! })
      console.log(line(figures))
      expect(figures).toMatchObject({ kills: 2, lost: 0, dup: 0, state: 'done' })
      expect(figures.pending).toBeGreaterThan(0)
    },
  )
})
