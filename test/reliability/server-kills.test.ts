import { expect, test } from 'vitest'
import { line } from './figures.ts'
import { killServer } from './server-kills.ts'

test('server kills: a Temporal server lost while it applies changes nothing but time', async () => {
  const figures = await killServer({ kills: 1, pairs: 15 })
  console.log(line(figures))
  expect(figures).toMatchObject({ kills: 1, pending: 1, lost: 0, dup: 0, state: 'done' })
})
