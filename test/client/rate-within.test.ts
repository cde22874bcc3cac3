/** A thousand organizations that share one source address, on a clock that only waiting moves. */
import { expect, test } from 'vitest'
import { createRate, createRateWithin } from '../../src/client/index.ts'
import { createSleepers } from './sleepers.ts'

const ORGANIZATIONS = 1_000
/** Of each in a cycle; one has many more. */
const REQUESTS = 3
const GREEDY = 200

interface Gone {
  readonly organization: number
  readonly request: number
  readonly at: number
}

async function cycle(requestsPerSecond: number, refused: ReadonlySet<number> = new Set()) {
  const { timing, run } = createSleepers()
  const shared = createRate({ requestsPerSecond, timing })
  const gone: Gone[] = []
  const all = Array.from({ length: ORGANIZATIONS }, async (_, organization) => {
    const own = createRate({ requestsPerSecond: Math.min(10, requestsPerSecond), timing })
    const rate = createRateWithin(own, shared, { isKnown: true })
    const requests = Array.from({ length: organization === 0 ? GREEDY : REQUESTS }, async (__, request) => {
      const turn = await rate.take()
      gone.push({ organization, request, at: timing.now() })
      if (refused.has(organization) && request === 0) turn.refused(30_000)
      else turn.taken()
    })
    await Promise.all(requests)
  })
  await run(Promise.all(all))
  return gone
}

test.each([1, 3, 60])(
  '%i a second: never more in any second, and none waits while another has a second turn',
  async (rate) => {
    const gone = await cycle(rate)
    expect(gone).toHaveLength((ORGANIZATIONS - 1) * REQUESTS + GREEDY)
    let from = 0
    for (const [to, { at }] of gone.entries()) {
      while (gone[from]!.at <= at - 1000) from++
      expect(to - from + 1).toBeLessThanOrEqual(rate)
    }
    const greedy = gone.filter(({ organization }) => organization === 0)
    for (const { at } of greedy)
      expect(greedy.filter((one) => one.at >= at && one.at < at + 1000).length).toBeLessThanOrEqual(Math.min(10, rate))
    // Of the one with many requests, as few go before the last of the others as of each other.
    const last = gone.findLastIndex(({ organization, request }) => organization !== 0 && request === REQUESTS - 1)
    expect(gone.slice(0, last).filter(({ organization }) => organization === 0).length).toBeLessThanOrEqual(
      REQUESTS + 1,
    )
    const seconds = gone[last]!.at / 1000
    console.log(
      `rate=${rate} organizations=${ORGANIZATIONS} requests=${ORGANIZATIONS * REQUESTS} cycle=${seconds.toFixed(0)}s`,
    )
    expect(seconds).toBeLessThan(((ORGANIZATIONS * REQUESTS) / rate) * 1.05 + 5)
  },
)

test('one that is refused waits by itself: the others go on at the full rate', async () => {
  const gone = await cycle(60, new Set([1, 2, 3]))
  const others = gone.filter(({ organization }) => organization > 3)
  expect(others.at(-1)!.at).toBeLessThan(60_000)
  const held = gone.filter(({ organization, request }) => organization === 2 && request === 1)
  expect(held[0]!.at).toBeGreaterThanOrEqual(30_000)
})

test('only as many are stamped as soon go, though each organization has its own turn', async () => {
  const { timing, run } = createSleepers()
  const shared = createRate({ requestsPerSecond: 60, timing })
  let [stamped, most, gone] = [0, 0, 0]
  const all = Array.from({ length: ORGANIZATIONS }, async () => {
    const rate = createRateWithin(createRate({ requestsPerSecond: 10, timing }), shared, { isKnown: true })
    await rate.take(undefined, undefined, async () => {
      await timing.sleep(0)
      most = Math.max(most, ++stamped - gone)
      await timing.sleep(100)
    })
    gone++
  })
  await run(Promise.all(all))
  expect([stamped, gone, most]).toEqual([ORGANIZATIONS, ORGANIZATIONS, 16])
  expect(timing.now()).toBeLessThan(17.5 * ORGANIZATIONS + 200)
})
