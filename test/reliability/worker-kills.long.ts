import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createPlaces, isThere, S3_CREDENTIALS } from '../activities/store-places.ts'
import { testTemporal } from '../temporal.ts'
import { line } from './figures.ts'
import { killWorkers } from './worker-kills.ts'

test('worker kills: a body made inside the Temporal activity makes twins', async () => {
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
    async (name) => {
      const { url } = await places.begin(name)
      const figures = await killWorkers({ temporal: await testTemporal(), kills: 2, pairs: 6, sharedPlace: url! })
      console.log(line(figures))
      expect(figures).toMatchObject({ kills: 2, lost: 0, dup: 0, state: 'done' })
      expect(figures.pending).toBeGreaterThan(0)
    },
  )
})
