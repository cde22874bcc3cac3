import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ClientError,
  createRate,
  createRateWithin,
  createSubmitClient,
  type Rate,
  type Timing,
} from '../../src/client/index.ts'
import { post } from '../../src/client/post.ts'
import { readActual } from '../../src/live/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { type BusyService, startBusyService } from './busy-service.ts'
import { createSleepers } from './sleepers.ts'

interface Request {
  /** How long after the one before it was asked for. */
  readonly afterMs: number
  /** How long it takes to the API. @default 0 */
  readonly onTheWayMs?: number
  /** How long its answer takes. */
  readonly takesMs: number
  /** Refused, with how many milliseconds to wait or without a word; otherwise taken. */
  readonly refusal: number | 'silent' | undefined
}

interface Gone {
  readonly number: number
  readonly at: number
  /** When it is at the API. */
  readonly arrivesAt: number
}

/** As much as requests may take longer to the API at one time than at another. */
const ON_THE_WAY_MS = 50

/** Sends requests as they are asked for; where each answer comes in, the rate hears of it. */
async function send(rate: Rate, timing: Timing, requests: readonly Request[]) {
  const gone: Gone[] = []
  const held: { readonly from: number; readonly to: number }[] = []
  const all = requests.map(async ({ takesMs, refusal, onTheWayMs = 0 }, number) => {
    await timing.sleep(requests.slice(0, number + 1).reduce((sum, { afterMs }) => sum + afterMs, 0))
    const turn = await rate.take()
    gone.push({ number, at: timing.now(), arrivesAt: timing.now() + onTheWayMs })
    await timing.sleep(takesMs)
    if (refusal === undefined) return turn.taken()
    turn.refused(refusal === 'silent' ? undefined : refusal)
    if (refusal !== 'silent') held.push({ from: timing.now(), to: timing.now() + refusal })
  })
  await Promise.all(all)
  return { gone, held }
}

const mostInASecond = (gone: readonly Gone[]) =>
  Math.max(
    0,
    ...gone.map(
      ({ arrivesAt: from }) => gone.filter((one) => one.arrivesAt >= from && one.arrivesAt < from + 1000).length,
    ),
  )

const arbitraryRequests = fc.array(
  fc.record({
    afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 900 })),
    onTheWayMs: fc.double({ min: 0, max: ON_THE_WAY_MS, noNaN: true }),
    takesMs: fc.integer({ min: 0, max: 1500 }),
    refusal: fc.oneof(
      { weight: 6, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 20_000 }) },
      { weight: 1, arbitrary: fc.constant('silent' as const) },
    ),
  }),
  { maxLength: 40 },
)

describe('rate: whatever is asked and answered', () => {
  test('no second has more at the API than the rate, late as they come, all go in order, none while it wants quiet', async () => {
    let refusals = 0
    await fc.assert(
      fc.asyncProperty(
        fc.double({ min: 0.2, max: 60, noNaN: true }),
        arbitraryRequests,
        async (perSecond, requests) => {
          const { timing, run } = createSleepers()
          const rate = createRate({ requestsPerSecond: perSecond, timing })
          const { gone, held } = await run(send(rate, timing, requests))
          expect(mostInASecond(gone)).toBeLessThanOrEqual(Math.max(1, Math.floor(perSecond)))
          expect(gone.map(({ number }) => number)).toEqual(requests.map((_, number) => number))
          for (const { from, to } of held) expect(gone.filter(({ at }) => at > from && at < to)).toEqual([])
          refusals += held.length
        },
      ),
      { numRuns: 300 },
    )
    expect(refusals).toBeGreaterThan(100)
  })
})

describe('rate: the published ones', () => {
  test.each([1, 3, 10, 60])(
    '%i a second, asked for all at once, is not exceeded, and a twentieth is left',
    async (perSecond) => {
      const { timing, run } = createSleepers()
      const rate = createRate({ requestsPerSecond: perSecond, timing })
      const requests = Array.from({ length: perSecond * 5 }, () => ({ afterMs: 0, takesMs: 40, refusal: undefined }))
      const { gone } = await run(send(rate, timing, requests))
      expect(mostInASecond(gone)).toBeLessThanOrEqual(perSecond)
      expect(gone.at(-1)!.at).toBeLessThanOrEqual(5_250 + perSecond)
    },
  )
})

describe('rate: what a request needs before its turn', () => {
  test('however long it takes, no second has more at the API than the rate, and only as many are prepared as soon go', async () => {
    let prepared = 0
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(1, 3, 10, 60),
        fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 60 }),
        async (perSecond, takesMs) => {
          const { timing, run } = createSleepers()
          const rate = createRate({ requestsPerSecond: perSecond, timing })
          const gone: Gone[] = []
          let [ahead, most] = [0, 0]
          const all = takesMs.map(async (ms, number) => {
            await rate.take(undefined, undefined, async () => {
              // Whoever has had its turn has heard of it first.
              await timing.sleep(0)
              most = Math.max(most, ++ahead)
              await timing.sleep(ms)
            })
            ahead--
            gone.push({ number, at: timing.now(), arrivesAt: timing.now() })
          })
          await run(Promise.all(all))
          expect(mostInASecond(gone)).toBeLessThanOrEqual(perSecond)
          expect(most).toBeLessThanOrEqual(Math.min(16, Math.max(2, perSecond / 2)))
          prepared = Math.max(prepared, most)
        },
      ),
      { numRuns: 100 },
    )
    expect(prepared).toBeGreaterThan(4)
  })

  test('that lasts long takes no turn from those who are ready', async () => {
    const { timing, run } = createSleepers()
    const rate = createRate({ requestsPerSecond: 10, timing })
    const times: number[] = []
    const all = Array.from({ length: 20 }, async (_, number) => {
      await rate.take(undefined, undefined, () => timing.sleep(number === 0 ? 30_000 : 200))
      times.push(timing.now())
    })
    await run(Promise.all(all))
    expect(times[18]! - times[0]!).toBeCloseTo(18 * 105)
    expect(times[19]).toBe(30_000)
  })

  test('is not done while the API wants no requests, nor where that is for too long', async () => {
    const { timing, run } = createSleepers()
    const rate = createRate({ requestsPerSecond: 10, timing })
    const refused = await run(rate.take())
    refused.refused(20_000)
    const times: number[] = []
    const all = Array.from({ length: 3 }, () =>
      rate.take(undefined, undefined, async () => void times.push(timing.now())),
    )
    await run(Promise.all(all))
    expect(times).toEqual([20_000, 20_000, 20_000])
    refused.refused(90_000)
    const late = rate.take(undefined, undefined, async () => void times.push(timing.now()))
    await expect(run(late)).rejects.toMatchObject({ code: 'client/rate-limited' })
    expect(times).toHaveLength(3)
  })

  test('one that fails, or is cancelled, is thrown and leaves its place to the next', async () => {
    const { timing, run } = createSleepers()
    const rate = createRate({ requestsPerSecond: 1, timing })
    const abort = new AbortController()
    abort.abort(new Error('enough'))
    const failing = Array.from({ length: 9 }, () =>
      rate
        .take(undefined, undefined, () => Promise.reject(new Error('no stamp')))
        .catch((error: Error) => error.message),
    )
    const cancelled = rate.take(abort.signal, undefined, () => Promise.resolve()).catch((error: Error) => error.message)
    expect(await run(Promise.all(failing))).toEqual(Array.from({ length: 9 }, () => 'no stamp'))
    expect(await run(cancelled)).toBe('enough')
    await run(rate.take(undefined, undefined, () => Promise.resolve()))
    expect(timing.now()).toBe(0)
  })

  test('one that is cancelled while it waits to be prepared ends at once, and takes no place from the next', async () => {
    const { timing, run } = createSleepers()
    const rate = createRate({ requestsPerSecond: 1, timing })
    const hung = Promise.withResolvers<void>()
    const held = [
      rate.take(undefined, undefined, () => hung.promise),
      rate.take(undefined, undefined, () => hung.promise),
    ]
    const abort = new AbortController()
    let isPrepared = false
    const cancelled = rate.take(abort.signal, undefined, async () => {
      isPrepared = true
    })
    const next = rate.take(undefined, undefined, () => Promise.resolve())
    abort.abort(new Error('enough'))
    await expect(run(cancelled)).rejects.toThrow('enough')
    hung.resolve()
    await run(Promise.all([...held, next]))
    expect(isPrepared).toBe(false)
    expect(timing.now()).toBeLessThan(2_200)
  })
})

describe('rate: who is cancelled', () => {
  const perSecond = 1
  const hung = () => new Promise<void>(() => {})
  const place = (given: Parameters<Rate['take']>[2], within: boolean) => {
    const { timing, run } = createSleepers()
    const rate = createRate({ requestsPerSecond: perSecond, timing })
    const shared = createRate({ requestsPerSecond: perSecond, timing })
    return { run, timing, rate: within ? createRateWithin(rate, shared, { isKnown: true }) : rate, prepare: given }
  }

  test.each([
    ['in a line of one organization', false],
    ['within the line of a source address', true],
  ])('ends at once while others are prepared, %s, and takes no turn from who comes next', async (_, within) => {
    const { run, timing, rate, prepare } = place(hung, within)
    const stuck = Array.from({ length: 2 }, () => new AbortController())
    const ends = stuck.map(({ signal }) => rate.take(signal, undefined, prepare).catch((error: Error) => error.message))
    const abort = new AbortController()
    const waiting = rate.take(abort.signal, undefined, () => Promise.resolve()).catch((error: Error) => error.message)
    const next = rate.take(undefined, undefined, () => Promise.resolve())
    await run(Promise.resolve())
    abort.abort(new Error('enough'))
    expect(await run(waiting)).toBe('enough')
    for (const one of stuck) one.abort(new Error('stuck'))
    expect(await run(Promise.all(ends))).toEqual(['stuck', 'stuck'])
    await run(next)
    expect(timing.now()).toBeLessThanOrEqual(1_050)
  })

  test('ends at once where its turn is far away, and the others keep theirs', async () => {
    const { run, timing, rate } = place(undefined, false)
    await run(rate.take())
    const second = rate.take()
    const abort = new AbortController()
    const third = rate.take(abort.signal).catch((error: Error) => error.message)
    const fourth = rate.take()
    abort.abort(new Error('enough'))
    expect(await run(third)).toBe('enough')
    expect(timing.now()).toBe(0)
    await run(Promise.all([second, fourth]))
    expect(timing.now()).toBe(2_100)
  })
})

describe('rate: what a refusal does', () => {
  const at = async (perSecond: number | undefined, requests: readonly Request[]) => {
    const { timing, run } = createSleepers()
    const { gone } = await run(send(createRate({ requestsPerSecond: perSecond, timing }), timing, requests))
    return gone.map((one) => one.at)
  }
  const taken: Request = { afterMs: 0, takesMs: 1, refusal: undefined }

  test('holds back those who wait already, as long as the API says, then halves the rate', async () => {
    const times = await at(10, [{ ...taken, refusal: 3_000 }, taken, taken, taken])
    expect(times[1]).toBe(3_001)
    expect(times[2]! - times[1]!).toBeGreaterThanOrEqual(190)
  })

  test('is forgotten after some requests that were taken', async () => {
    const times = await at(10, [{ ...taken, refusal: 'silent' }, ...Array.from({ length: 60 }, () => taken)])
    expect(times.at(-1)! - times.at(-2)!).toBe(105)
  })

  test('is forgotten with time, where hardly anything is asked', async () => {
    const { timing, run } = createSleepers()
    const rate = createRate({ requestsPerSecond: 10, timing })
    const times: number[] = []
    const ask = async () => {
      for (let count = 0; count < 15; count++) (await rate.take()).refused(10)
      await timing.sleep(120_000)
      for (let count = 0; count < 3; count++) {
        await rate.take()
        times.push(timing.now())
      }
    }
    await run(ask())
    expect([times[1]! - times[0]!, times[2]! - times[1]!]).toEqual([105, 105])
  })

  test('of many at once is one lowering: they are the same news', async () => {
    const burst = Array.from({ length: 30 }, () => ({ afterMs: 0, takesMs: 50, refusal: 'silent' as const }))
    const times = await at(undefined, [...burst, ...Array.from({ length: 3 }, () => ({ ...taken, afterMs: 1_000 }))])
    expect(times.slice(0, 30).every((time) => time === 0)).toBe(true)
    expect(times.slice(30)).toEqual([1_000, 2_000, 3_000])
  })

  test('twenty in a row are no storm: the distance grows', async () => {
    const { timing, run } = createSleepers()
    const rate = createRate({ timing })
    const times: number[] = []
    const insist = async () => {
      while (times.length < 20) {
        const turn = await rate.take()
        times.push(timing.now())
        turn.refused()
      }
    }
    await run(insist())
    expect(times.slice(0, 5)).toEqual([0, 500, 1_500, 3_500, 7_500])
    expect(times[19]! - times[18]!).toBe(60_000)
  })

  test('with a longer wait than a minute is an error that says how long, for everybody', async () => {
    const { timing, run } = createSleepers()
    const rate = createRate({ timing })
    const first = await run(rate.take())
    first.refused(3_600_000)
    const second = await run(rate.take().catch((error: unknown) => error))
    expect(second).toBeInstanceOf(ClientError)
    expect(second).toMatchObject({ code: 'client/rate-limited', submitted: 'no', retryAfterMs: 3_600_000 })
    expect((second as ClientError).message).toBe('the API asks for no request in the next 3600 s')
  })

  test('of one organization holds back no other', async () => {
    const { timing, run } = createSleepers()
    const [busy, other] = [createRate({ timing }), createRate({ requestsPerSecond: 10, timing })]
    const [held, free] = await run(
      Promise.all([
        send(busy, timing, [
          { ...taken, refusal: 30_000 },
          { ...taken, afterMs: 10 },
        ]),
        send(
          other,
          timing,
          Array.from({ length: 20 }, () => taken),
        ),
      ]),
    )
    expect(held.gone[1]!.at).toBe(30_001)
    expect(free.gone[19]!.at).toBeCloseTo(19 * 105)
  })

  test('one that gives up leaves the line to the next', async () => {
    const rate = createRate({ requestsPerSecond: 20 })
    const abort = new AbortController()
    await rate.take()
    const second = rate.take(abort.signal)
    const third = rate.take()
    abort.abort(new Error('enough'))
    await expect(second).rejects.toThrow()
    await third
  })
})

describe('rate: clients of one organization at the real service', () => {
  let service: TestService
  let busy: BusyService
  beforeAll(async () => {
    service = await startTestService()
    busy = await startBusyService(service.url)
  })
  afterAll(async () => {
    await busy.close()
    await service.close()
  })

  /** Time that only waiting moves, so that twenty refusals take no minutes. */
  function createClients(requestsPerSecond?: number) {
    let now = 0
    const timing: Timing = {
      now: () => now,
      sleep: async (ms) => {
        now += ms
      },
      random: () => 0.5,
    }
    const rate = createRate({ requestsPerSecond, timing })
    const stamper = createApiKeyStamper({ privateKey: new Secret(service.root.privateKey) })
    const sentAt: number[] = []
    const create = () =>
      createSubmitClient({
        baseUrl: busy.url,
        organizationId: service.organizationId,
        stamper,
        rate,
        timing,
        post: (...request) => {
          sentAt.push(now)
          return post(...request)
        },
      })
    return { create, sentAt }
  }

  test('a store that is slow before some submits, and a key that is slow to sign, make no second fuller', async () => {
    const perSecond = 20
    const own = createApiKeyStamper({ privateKey: new Secret(service.root.privateKey) })
    let [signing, most] = [0, 0]
    const sentAt: number[] = []
    const client = createSubmitClient({
      baseUrl: busy.url,
      organizationId: service.organizationId,
      stamper: {
        publicKey: own.publicKey,
        async stamp(body) {
          most = Math.max(most, ++signing)
          await new Promise((resolve) => setTimeout(resolve, 20))
          signing--
          return own.stamp(body)
        },
      },
      rate: createRate({ requestsPerSecond: perSecond }),
      post: (...request) => {
        sentAt.push(performance.now())
        return post(...request)
      },
    })
    const submits = Array.from({ length: 60 }, (_, number) => {
      const body = service.body('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: `slow ${number}`, userIds: [] })
      const beforeSending = () => new Promise<void>((resolve) => setTimeout(resolve, number < 10 ? 500 : 5))
      return client.submit(body.path, body.text, { beforeSending })
    })
    await Promise.all(submits)
    // A timer may fire a millisecond early, and this process may be late by what is left for the way.
    const within = sentAt.map((from) => sentAt.filter((at) => at >= from && at < from + 1_000).length)
    expect(Math.max(...within)).toBeLessThanOrEqual(perSecond)
    expect(sentAt).toHaveLength(60)
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(10)
  })

  test('reads of one and submits of another keep one rate together', async () => {
    const { create, sentAt } = createClients(3)
    const [one, other] = [create(), create()]
    for (let round = 0; round < 5; round++) {
      await one.query('whoami', {})
      await other.query('list_users', {})
    }
    const most = Math.max(...sentAt.map((from) => sentAt.filter((at) => at >= from && at < from + 1000).length))
    expect({ sent: sentAt.length, most }).toEqual({ sent: 10, most: 3 })
  })

  test('a read that is refused twenty times is an error, never a smaller world; the next one reads it all', async () => {
    const { create, sentAt } = createClients()
    const whole = await readActual(create())
    const sent = sentAt.length
    const seen = busy.seen.length
    busy.refuseNext(20)
    await expect(readActual(create())).rejects.toMatchObject({ code: 'client/rate-limited' })
    expect(busy.seen.slice(seen).map(({ path, refused }) => ({ path, refused }))).toEqual(
      Array.from({ length: 6 }, () => ({ path: '/public/v1/query/whoami', refused: true })),
    )
    expect(sentAt.at(-1)! - sentAt[sent]!).toBeGreaterThan(15_000)
    busy.refuseNext(0)
    expect(await readActual(create())).toEqual(whole)
  })

  test('a submit that is refused twenty times, sent again each time, makes one activity', async () => {
    const { create } = createClients()
    const body = service.body('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'busy', userIds: [] })
    busy.refuseNext(20)
    let refused = 0
    const submit = async () => {
      for (;;) {
        try {
          return await create().submit(body.path, body.text)
        } catch (error) {
          expect(error).toMatchObject({ code: 'client/rate-limited', submitted: 'no' })
          refused++
        }
      }
    }
    const activity = await submit()
    expect(refused).toBe(20)
    expect(await create().submit(body.path, body.text)).toMatchObject({ id: activity.id })
    const { userTags } = await service.root.query('list_user_tags')
    expect(userTags.filter(({ tagName }) => tagName === 'busy')).toHaveLength(1)
  })

  test('`Retry-After` is waited for, and no longer', async () => {
    const { create, sentAt } = createClients()
    busy.refuseNext(1, '7')
    await create().query('whoami', {})
    expect(sentAt).toEqual([0, 7_000])
  })
})
