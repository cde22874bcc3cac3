/** What one organization has, in the hands of another: ids of nothing. `npm run soak -- strangers` asks for everything everywhere. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStrangers, strangers } from './strangers.ts'

let opened: Awaited<ReturnType<typeof openStrangers>>
beforeAll(async () => {
  opened = await openStrangers()
})
afterAll(() => opened.close())

test.each(strangers)(
  'ids of others: to $who those of $whose are ids of nothing, in any field of $of',
  async (stranger) => {
    const { wrong, compared } = await opened.ask(stranger, { every: false })
    expect(wrong).toEqual([])
    expect(compared).toBeGreaterThan(stranger.of === 'an activity' ? 700 : 250)
  },
  600_000,
)
