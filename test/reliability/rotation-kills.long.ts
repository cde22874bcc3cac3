import { expect, test } from 'vitest'
import { testTemporal } from '../temporal.ts'
import { line } from './figures.ts'
import { DEATH_POINTS, killInRotations, type RotationKills } from './rotation-kills.ts'

function expectSound(figures: RotationKills, points: number): void {
  console.log(line(figures))
  expect(figures).toMatchObject({ points, killed: points, ended: points, right: points, dup: 0, refused: 0 })
  expect(figures.fewestKeys).toBe(1)
  expect(figures.signed).toBeGreaterThan(0)
}

test('rotation kills: a worker that dies around a submit, the handing over or an approval leaves the right keys, and refuses no signer', async () => {
  const points = DEATH_POINTS.filter(({ step, when, quorum, finds }) => {
    if (when !== 'after') return false
    return quorum ? finds === 'completed' : /^(submit|handOver)/.test(step)
  })
  expectSound(await killInRotations({ temporal: await testTemporal(), points, atOnce: 5 }), 9)
})

test('rotation kills: a service that dies after a key is made or deleted is asked again, and makes no second one', async () => {
  const points = DEATH_POINTS.filter(
    ({ step, when, quorum, way = 'through' }) =>
      !quorum && way === 'through' && when === 'after' && step === 'submitRotation',
  )
  expectSound(await killInRotations({ temporal: await testTemporal(), points, victim: 'service' }), 2)
})
