/**
 * The time in the body of a send. The API takes bodies with the same bytes for one request, and a body only while its
 * `timestampMs` is less than an hour old (docs/protocol/activities.md#liveness). So the time follows from the reference: in each
 * hour a reference has one time at which its hour begins, and whoever makes the body of that send, on whatever machine, makes
 * the same bytes, of which the API carries out one. A reference's next hour begins when the API no longer takes the bytes of
 * the hour before: whoever uses the next one looks at the list of activities first, and misses none.
 *
 * What is asked for again after a rejection is another round of its reference, with times of its own: machines that have read of
 * the same rejection make the same bytes again.
 *
 * The fingerprint of an activity, which every service publishes, tells by the same rule which reference it was sent under.
 */
import { sha256 } from '../src/crypto/index.ts'
import { encodeHex, encodeUtf8 } from '../src/encoding/index.ts'
import { makeBody } from '../src/plan/index.ts'
import type { Wire } from '../src/protocol/index.ts'
import type { SendOrder } from './send-model.ts'
import { toUnixMs } from './wire-time.ts'

export const HOUR_MS = 60 * 60 * 1000
/** How far ahead of the API's clock a body may be, and a margin for how long the API took. */
const AHEAD_MS = 6 * 60 * 1000
/** Orders of one reference that would have other orders' bytes take a further time, up to so many looked for. */
const MOST_SHIFTS = 1
/** How far clocks of machines that are set by a time server differ at most. */
const CLOCKS_DIFFER_MS = 10_000

/** How often a reference is asked for again: so many rounds are looked for. */
export const MOST_ROUNDS = 8

type Named = Pick<SendOrder, 'organization' | 'reference' | 'round'>

/**
 * The time for the body of a send that is ordered at `atMs`: in the hour before it. With `shift`, another one, for where
 * another send in this ledger has these bytes.
 */
export function bodyTimeOf(order: Named, atMs: number, shift = 0): number {
  const offset = offsetOf(order, shift)
  return atMs - ((((atMs - offset) % HOUR_MS) + HOUR_MS) % HOUR_MS)
}

/** From when the list of activities is believed to have all that was sent in the hour before that of an order. */
export function listedFrom(orders: readonly (Named & Pick<SendOrder, 'orderedAt'>)[]): number {
  const times = orders.map((one) => bodyTimeOf(one, Date.parse(one.orderedAt)))
  return Math.max(...times) + CLOCKS_DIFFER_MS
}

type Asked = Pick<SendOrder, 'organization' | 'reference' | 'type' | 'parameters' | 'round'>

/** In which round of its reference an order became an activity, and with which time; undefined when it is another's. */
export function roundIn(order: Asked, activity: Wire.Activity) {
  for (let round = 0; round <= MOST_ROUNDS; round++) {
    const bodyTimeMs = bodyTimeIn({ ...order, round }, activity)
    if (bodyTimeMs !== undefined) return { round, bodyTimeMs }
  }
  return undefined
}

/** The time of the body, in the round of an order, that became an activity; undefined when it is another's. */
export function bodyTimeIn(order: Asked, activity: Wire.Activity): number | undefined {
  const { type, parameters, organization } = order
  const createdMs = toUnixMs(activity.createdAt)
  for (let shift = 0; shift <= MOST_SHIFTS; shift++) {
    for (
      let time = bodyTimeOf(order, createdMs + AHEAD_MS, shift);
      time > createdMs - HOUR_MS - AHEAD_MS;
      time -= HOUR_MS
    ) {
      const body = makeBody({ type, organizationId: organization.id, parameters, timestampMs: time })
      if (fingerprintOf(body) === activity.fingerprint) return time
    }
  }
  return undefined
}

/** docs/protocol/activities.md#fingerprint */
export function fingerprintOf(body: string): string {
  return `sha256:${encodeHex(sha256(encodeUtf8(body)))}`
}

function offsetOf({ organization, reference, round = 0 }: Named, shift: number): number {
  const of = ['quorate.send-time/1', organization.id, reference, shift, ...(round === 0 ? [] : [round])]
  const digest = sha256(encodeUtf8(JSON.stringify(of)))
  return Number.parseInt(encodeHex(digest).slice(0, 12), 16) % HOUR_MS
}
