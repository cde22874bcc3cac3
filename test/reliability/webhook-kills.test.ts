import { expect, test } from 'vitest'
import { line } from './figures.ts'
import { dieWhileNoting, killWhileTelling } from './webhook-kills.ts'

test('webhook kills: killed while it tells, to a receiver that fails, a service tells every endpoint of every send once', async () => {
  const figures = await killWhileTelling({ sends: 4, kills: 1 })
  console.log(line(figures))
  expect(figures).toMatchObject({ sends: 4, events: 80, kills: 1, lost: 0, twice: 0, strange: 0, unverified: 0 })
  expect(figures.pending).toBeGreaterThan(0)
  expect(figures.failed).toBeGreaterThan(5)
})

test.each([
  { point: 'before-commit', died: { status: 'INITIALIZED', waiting: 0 } },
  { point: 'after-commit', died: { status: 'FAILED', waiting: 1 } },
] as const)(
  'webhook kills: a service that dies $point of a status has the event with the status, or neither',
  async ({ point, died }) => {
    expect(await dieWhileNoting(point)).toEqual({ ...died, toldBefore: 0, events: 1 })
  },
)
