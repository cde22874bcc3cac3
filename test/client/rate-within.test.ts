/** A thousand organizations that share one source address, on a clock that only waiting moves. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRate, createRateWithin } from '../../src/client/index.ts'
import type { Turn } from '../../src/client/rate.ts'
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

const mostInASecond = (times: readonly number[]) =>
  Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1000).length))

describe('a key that takes its time for a signature', () => {
  const KEY_MS = 300

  /** Sends requests of organizations; keeps how many are prepared at once, or wait prepared. */
  function createStage(requestsPerSecond: number) {
    const { timing, run } = createSleepers()
    const shared = createRate({ requestsPerSecond, timing })
    const most = { ofOne: 0, ofAll: 0, signing: 0 }
    let [ofAll, signing] = [0, 0]
    const organization = () => {
      const own = createRate({ requestsPerSecond: Math.min(10, requestsPerSecond), timing })
      const rate = createRateWithin(own, shared, { isKnown: true })
      const gone: { readonly request: number; readonly at: number; readonly signedAt: number }[] = []
      let ofOne = 0
      /** Gives the turn, or why there is none. */
      const send = async (request: number, keyMs = KEY_MS, signal?: AbortSignal): Promise<Turn | string> => {
        let signedAt = Number.NaN
        const sign = async () => {
          // A request that has had its turn is told of it first.
          await timing.sleep(0)
          signedAt = timing.now()
          most.ofOne = Math.max(most.ofOne, ++ofOne)
          most.ofAll = Math.max(most.ofAll, ++ofAll)
          most.signing = Math.max(most.signing, ++signing)
          await timing.sleep(keyMs)
          signing--
        }
        try {
          const turn = await rate.take(signal, undefined, sign)
          gone.push({ request, at: timing.now(), signedAt })
          return turn
        } catch (error) {
          return (error as Error).message
        } finally {
          if (!Number.isNaN(signedAt)) {
            ofOne--
            ofAll--
          }
        }
      }
      const sendAll = (count: number, keyMs?: number) =>
        Promise.all(
          Array.from({ length: count }, async (_, request) => {
            const turn = await send(request, keyMs)
            if (typeof turn !== 'string') turn.taken()
          }),
        )
      return { gone, send, sendAll }
    }
    return { timing, run, organization, most }
  }

  test('costs what is asked inside one organization its time once, not once a request, and all go in order', async () => {
    const { run, organization, most } = createStage(60)
    const { gone, sendAll } = organization()
    await run(sendAll(30))
    expect(gone.map(({ request }) => request)).toEqual(Array.from({ length: 30 }, (_, request) => request))
    expect(mostInASecond(gone.map(({ at }) => at))).toBe(10)
    expect(gone.at(-1)!.at).toBeCloseTo(KEY_MS + 29 * 105)
    expect(most).toEqual({ ofOne: 5, ofAll: 5, signing: 5 })
  })

  test('signs for a thousand organizations 16 at a time, and none waits while another has a second turn', async () => {
    const { run, organization, most } = createStage(60)
    const all = Array.from({ length: ORGANIZATIONS }, organization)
    await run(Promise.all(all.map(({ sendAll }, at) => sendAll(at === 0 ? GREEDY : REQUESTS))))
    const [greedy, ...others] = all.map(({ gone }) => gone)
    const times = all.flatMap(({ gone }) => gone.map(({ at }) => at)).toSorted((one, other) => one - other)
    for (const [number, at] of times.entries()) expect(times[number + 60] ?? Infinity).toBeGreaterThanOrEqual(at + 1000)
    const last = Math.max(...others.map((gone) => gone.at(-1)!.at))
    expect(others.every((gone) => gone.length === REQUESTS)).toBe(true)
    expect(greedy!.filter(({ at }) => at < last).length).toBeLessThanOrEqual(REQUESTS + 2)
    expect(last).toBeLessThan(((ORGANIZATIONS * REQUESTS) / 16) * KEY_MS * 1.05)
    expect(most.ofAll).toBe(16)
  })

  test('takes nothing from the others while organizations are held, and they wait with what is signed already', async () => {
    const { timing, run, organization, most } = createStage(60)
    const held = Array.from({ length: 8 }, organization)
    const others = Array.from({ length: 40 }, organization)
    const refuse = async ({ send }: ReturnType<typeof organization>) => {
      // What goes first is refused when those behind it are signed.
      const requests = [0, 1, 2, 3, 4, 5, 6, 7].map((request) => send(request))
      const first = await requests[0]
      await timing.sleep(10)
      if (typeof first === 'object') first.refused(30_000)
      return requests
    }
    const refusing = held.map(refuse)
    const going = timing.sleep(2_000).then(() => Promise.all(others.map(({ sendAll }) => sendAll(10))))
    await run(going)
    expect(timing.now()).toBeLessThan(2_000 + (400 / 16) * KEY_MS * 1.1)
    const all = await run(Promise.all(refusing))
    await run(Promise.all(all.flat()))
    for (const { gone } of held) {
      const back = gone.filter(({ at }) => at >= 30_000)
      expect(gone).toHaveLength(8)
      expect(back.length).toBeGreaterThan(5)
      // None is signed while the API wants no requests.
      for (const { signedAt } of back) expect(signedAt < 2_000 || signedAt >= 30_000).toBe(true)
    }
    expect(most.ofOne).toBeLessThanOrEqual(5)
    expect(most.signing).toBeLessThanOrEqual(16)
  })

  test('takes nothing from the others where organizations were slowed: theirs is signed soon before its turn', async () => {
    const { timing, run, organization } = createStage(60)
    const slowed = Array.from({ length: 32 }, organization)
    const others = Array.from({ length: 40 }, organization)
    const slow = async ({ send }: ReturnType<typeof organization>) => {
      for (let refusals = 0; refusals < 5; refusals++) {
        const turn = await send(0)
        if (typeof turn === 'object') turn.refused(10)
      }
      return [1, 2, 3, 4, 5, 6].map((request) => send(request))
    }
    const slowing = await run(Promise.all(slowed.map(slow)))
    const from = timing.now()
    await run(Promise.all(others.map(({ sendAll }) => sendAll(20))))
    // As long as all requests that have gone since take by 16 at once.
    const gone = [...slowed, ...others].flatMap((one) => one.gone.filter(({ at }) => at > from))
    expect(timing.now() - from).toBeLessThan((gone.length / 16) * KEY_MS * 1.05)
    await run(Promise.all(slowing.flat()))
    for (const { gone } of slowed) {
      expect(gone).toHaveLength(11)
      for (const { at, signedAt } of gone) expect(at - signedAt).toBeLessThan(2_000)
    }
  })

  test('that signs nothing for one request holds up none of those behind it, and who is cancelled leaves its place', async () => {
    const { timing, run, organization } = createStage(60)
    const { gone, send, sendAll } = organization()
    const hung = new AbortController()
    const stuck = send(-1, 60_000, hung.signal)
    await run(sendAll(20))
    expect(gone.at(-1)!.at).toBeLessThan(20 * 105 + KEY_MS)
    // They wait for a place, and end at once, wherever in the line.
    const aborts = Array.from({ length: 60 }, () => new AbortController())
    const cancelled = aborts.map(({ signal }, number) => send(100 + number, KEY_MS, signal))
    await run(timing.sleep(50))
    for (const abort of aborts) abort.abort(new Error('enough'))
    hung.abort(new Error('hangs'))
    const before = timing.now()
    expect(new Set(await run(Promise.all(cancelled)))).toEqual(new Set(['enough']))
    expect(await stuck).toBe('hangs')
    expect(timing.now()).toBe(before)
    await run(sendAll(30))
    expect(timing.now() - before).toBeLessThan(30 * 105 + 2 * KEY_MS)
  })

  test('cancelled ones that waited for a place among those of all organizations keep none in their own', async () => {
    const { timing, run, organization } = createStage(60)
    const hung = Array.from({ length: 16 }, () => new AbortController())
    const stuck = hung.map(({ signal }) => organization().send(0, 60_000, signal))
    await run(timing.sleep(10))
    const { gone, send, sendAll } = organization()
    for (let round = 0; round < 10; round++) {
      const abort = new AbortController()
      const waiting = send(round, KEY_MS, abort.signal)
      await run(timing.sleep(10))
      abort.abort(new Error('enough'))
      expect(await run(waiting)).toBe('enough')
    }
    for (const abort of hung) abort.abort(new Error('hangs'))
    await run(Promise.all(stuck))
    const from = timing.now()
    await run(sendAll(10))
    expect(gone).toHaveLength(10)
    expect(timing.now() - from).toBeLessThan(10 * 105 + KEY_MS)
  })

  test('one that is cancelled at the moment in which it has a place leaves it', async () => {
    const { timing, run } = createSleepers()
    const shared = createRate({ requestsPerSecond: 60, timing })
    let cancel = () => {}
    const enter: typeof shared.enter = async (...given) => {
      const place = await shared.enter(...given)
      cancel()
      return place
    }
    const own = createRate({ requestsPerSecond: 10, timing })
    const rate = createRateWithin(own, { ...shared, enter }, { isKnown: true })
    for (let round = 0; round < 20; round++) {
      const abort = new AbortController()
      cancel = () => abort.abort(new Error('enough'))
      await expect(run(rate.take(abort.signal, undefined, async () => {}))).rejects.toThrow('enough')
    }
    cancel = () => {}
    await run(rate.take(undefined, undefined, async () => {}))
    expect(timing.now()).toBe(0)
  })

  test('one that waits for the shared turn while its organization is refused does not go', async () => {
    const { timing, run, organization } = createStage(10)
    const [refused, other] = [organization(), organization()]
    const refuse = refused.send(0, 0).then(async (turn) => {
      await timing.sleep(178)
      if (typeof turn === 'object') turn.refused(20_000)
    })
    await run(Promise.all([refuse, other.send(1, 0), refused.send(2, 0)]))
    expect(other.gone.map(({ at }) => at)).toEqual([105])
    expect(refused.gone.map(({ at }) => at)).toEqual([0, 20_178])
  })

  test('whatever it takes, and whatever is answered, no second has more than either rate, and all go', async () => {
    const requests = fc.array(
      fc.record({
        of: fc.integer({ min: 0, max: 2 }),
        afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 500 })),
        keyMs: fc.integer({ min: 0, max: 900 }),
        takesMs: fc.integer({ min: 0, max: 300 }),
        refusal: fc.oneof(
          { weight: 7, arbitrary: fc.constant('none' as const) },
          { weight: 1, arbitrary: fc.integer({ min: 0, max: 20_000 }) },
          { weight: 1, arbitrary: fc.constant(undefined) },
        ),
      }),
      { maxLength: 60 },
    )
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(1, 3, 10, 20, 60), requests, async (perSecond, asked) => {
        const { timing, run, organization, most } = createStage(perSecond)
        const all = [organization(), organization(), organization()]
        const holds: { readonly of: number; readonly from: number; readonly to: number }[] = []
        let afterMs = 0
        const sent = asked.map(async ({ of, keyMs, takesMs, refusal, ...one }, request) => {
          afterMs += one.afterMs
          await timing.sleep(afterMs)
          const turn = await all[of]!.send(request, keyMs)
          await timing.sleep(takesMs)
          if (typeof turn === 'string') throw new Error(turn)
          if (refusal === 'none') return turn.taken()
          turn.refused(refusal)
          if (refusal !== undefined) holds.push({ of, from: timing.now(), to: timing.now() + refusal })
        })
        await run(Promise.all(sent))
        const times = all.map(({ gone }) => gone.map(({ at }) => at))
        expect(times.flat()).toHaveLength(asked.length)
        expect(mostInASecond(times.flat())).toBeLessThanOrEqual(perSecond)
        for (const own of times) expect(mostInASecond(own)).toBeLessThanOrEqual(Math.min(10, perSecond))
        for (const { of, from, to } of holds)
          for (const { at, signedAt } of all[of]!.gone)
            expect([at, signedAt].filter((time) => time > from && time < to)).toEqual([])
        expect(most.signing).toBeLessThanOrEqual(Math.min(16, Math.max(2, perSecond / 2)))
        expect(most.ofOne).toBeLessThanOrEqual(Math.min(5, Math.max(2, perSecond / 2)))
      }),
      { numRuns: 200 },
    )
  })
})
