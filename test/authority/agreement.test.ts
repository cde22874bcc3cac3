/** Who may decide is told alike everywhere, and is what the service then does. */
import { expect, test } from 'vitest'
import { agree } from './agreement.ts'

const SEED = Number(process.env['CI'] ? 20_261_121 : Math.floor(Math.random() * 2 ** 31))

test('authority: plan, send --dry-run, policy explain --live, who-can and the approver’s view agree with the service', async () => {
  const figures = await agree({ count: 30, seed: SEED, tries: 40 })
  // Enough was seen, or this would show nothing.
  expect(figures.waits).toBeGreaterThan(4)
  expect(figures.played).toBeGreaterThan(10)
})
