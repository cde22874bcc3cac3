import { expect, test } from 'vitest'
import { testTemporal } from '../temporal.ts'
import { line } from './figures.ts'
import { DEATH_POINTS, killInRotations } from './rotation-kills.ts'

test('rotation kills: a worker that dies after the new key is made, handed over or the old one deleted leaves the right keys, and refuses no signer', async () => {
  const points = DEATH_POINTS.filter(
    ({ step, when, quorum, way = 'through' }) =>
      !quorum && way === 'through' && when === 'after' && /^(submit|handOver)/.test(step),
  )
  const figures = await killInRotations({ temporal: await testTemporal(), points, atOnce: points.length })
  console.log(line(figures))
  const all = points.length
  expect(figures).toMatchObject({ killed: all, ended: all, right: all, dup: 0, refused: 0, fewestKeys: 1 })
  expect(all).toBeGreaterThan(2)
  expect(figures.signed).toBeGreaterThan(0)
})
