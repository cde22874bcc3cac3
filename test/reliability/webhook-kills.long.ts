import { expect, test } from 'vitest'
import { line } from './figures.ts'
import { killWhileTelling } from './webhook-kills.ts'

test('webhook kills: killed while it tells, to a receiver that fails, a service tells every endpoint of every send once', async () => {
  const figures = await killWhileTelling({ sends: 15, kills: 3 })
  console.log(line(figures))
  expect(figures).toMatchObject({ sends: 15, events: 300, kills: 3, lost: 0, twice: 0, strange: 0, unverified: 0 })
  expect(figures.pending).toBeGreaterThan(0)
  expect(figures.failed).toBeGreaterThan(40)
})
