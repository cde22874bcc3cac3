import { expect, test } from 'vitest'
import { line } from './figures.ts'
import { killService } from './service-kills.ts'

test('service kills: killed at random while 8 clients submit, every acknowledged activity is there and none twice', async () => {
  const figures = await killService({ kills: 5 })
  console.log(line(figures))
  expect(figures).toMatchObject({ kills: 5, lost: 0, twice: 0, half: 0, integrity: 'ok' })
  expect(figures.pending).toBeGreaterThan(0)
  expect(figures.resent).toBeGreaterThan(0)
  expect(figures.acknowledged).toBeGreaterThan(50)
})

test('service kills: a service that answers before it has committed loses what it acknowledged', async () => {
  const { lost } = await killService({ kills: 3, lateCommit: true })
  console.log(`late commit: lost=${lost}`)
  expect(lost).toBeGreaterThan(0)
})
