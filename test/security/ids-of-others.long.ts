/** What one organization has, in the hands of another: ids of nothing. `npm run soak -- strangers` asks for everything everywhere. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStrangers, strangers } from './strangers.ts'

const pairs = strangers.filter(({ of }) => of === 'a query')

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

test.each(pairs)(
  'attested stamps: who has proved themselves in $who is nobody in $whose, whatever they have proved',
  async ({ who, whose }) => {
    const [{ organizationId: home, userName }, victim] = [opened.own(who), opened.victims[whose]]
    const identity = await opened.attested(who, 'OIDC', userName!)
    expect((await identity.ask(home!, false))[0]).toBe(200)
    const [theirs, nobodys] = await Promise.all(
      [victim['userName']!, 'nobody'].map((name) => opened.attested(who, 'VERIFICATION_TOKEN', name)),
    )
    for (const submits of [false, true]) {
      // The id of a parent is how a login finds the sub-organization below it, and for nothing else.
      const [status, text] = await identity.ask(victim['organizationId']!, submits)
      const below = submits
        ? [400, expect.stringContaining('organization mismatch')]
        : [200, expect.stringContaining(home!)]
      if (whose === 'its parent') expect([status, text]).toEqual(below)
      else expect([status, text]).toEqual([401, expect.stringContaining('attested identity could not be found')])
      const refusal = await theirs!.ask(victim['organizationId']!, submits)
      expect(refusal).toEqual(await nobodys!.ask(victim['organizationId']!, submits))
      expect(refusal[0]).toBeGreaterThanOrEqual(400)
    }
  },
)
