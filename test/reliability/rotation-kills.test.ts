import { expect, test } from 'vitest'
import { testTemporal } from '../temporal.ts'
import { line } from './figures.ts'
import { DEATH_POINTS, killInRotations } from './rotation-kills.ts'

test('rotation kills: a worker that dies around a submit or the handing over leaves one new key, and refuses no signer', {
  timeout: 300_000,
}, async () => {
  const points = DEATH_POINTS.filter(({ step, when }) => when === 'after' && /^(submit|handOver)/.test(step))
  const figures = await killInRotations({ temporal: await testTemporal(), points })
  console.log(line(figures))
  expect(figures).toMatchObject({ points: 3, killed: 3, done: 3, renewed: 3, refused: 0 })
  expect(figures.fewestKeys).toBe(1)
  expect(figures.signed).toBeGreaterThan(0)
})
