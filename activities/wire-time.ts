/**
 * Reads a wire timestamp as milliseconds since the epoch. Objects carry `{seconds, nanos}` as strings; some answers
 * print RFC 3339 (docs/protocol/requests.md#times-and-numbers).
 */
export function toUnixMs(time: string | { readonly seconds: string; readonly nanos: string }): number {
  if (typeof time === 'string') return /^\d+$/.test(time) ? Number(time) : Date.parse(time)
  return Number(time.seconds) * 1000 + Math.floor(Number(time.nanos) / 1e6)
}
