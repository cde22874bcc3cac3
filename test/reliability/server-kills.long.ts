import { expect, test } from 'vitest'
import { line } from './figures.ts'
import { killServer } from './server-kills.ts'

test('server kills: a Temporal server lost three times changes nothing but time', async () => {
  const figures = await killServer({ kills: 3, pairs: 15 })
  console.log(line(figures))
  expect(figures).toMatchObject({ kills: 3, pending: 3, lost: 0, dup: 0, state: 'done' })
})

test('server kills: a server that comes back without its database loses what was pending', async () => {
  const figures = await killServer({ kills: 1, pairs: 15, forget: true })
  console.log(`without its database: ${line(figures)}`)
  expect(figures.lost).toBeGreaterThan(0)
})
