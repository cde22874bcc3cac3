import type { Timestamp } from './generated/wire.gen.ts'

/**
 * Writes milliseconds since the epoch in the API's object form; both members are decimal text
 * (docs/protocol/requests.md#times-and-numbers).
 */
export function toTimestamp(ms: number): Timestamp {
  if (!Number.isSafeInteger(ms) || ms < 0) throw new RangeError(`expected milliseconds since the epoch, got ${ms}`)
  return { seconds: String(Math.floor(ms / 1000)), nanos: String((ms % 1000) * 1_000_000) }
}

/**
 * Reads a time in any form that the API writes: the object, RFC 3339, or a decimal count since the epoch. A count from
 * 10^11 on is milliseconds, a smaller one seconds: as seconds it would be after the year 5000, as milliseconds before
 * March 1973. Returns milliseconds; finer parts are dropped. Throws a `RangeError` for anything else.
 */
export function fromTimestamp(value: Timestamp | string | number): number {
  if (typeof value === 'object') {
    const { seconds, nanos } = value
    // Protobuf's JSON mapping may leave out a member that is zero.
    const ms = Number(seconds ?? 0) * 1000 + Math.floor(Number(nanos ?? 0) / 1_000_000)
    if (Number.isSafeInteger(ms)) return ms
  } else if (typeof value === 'number' || /^[0-9]+$/.test(value)) {
    const count = Number(value)
    if (Number.isSafeInteger(count)) return count >= 100_000_000_000 ? count : count * 1000
  } else if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(value)) {
    const ms = Date.parse(value)
    if (Number.isFinite(ms)) return ms
  }
  throw new RangeError(`expected a timestamp, got ${JSON.stringify(value)}`)
}
