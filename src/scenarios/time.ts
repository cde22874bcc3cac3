/**
 * Reads a point in time of RFC 3339, with any offset, as nanoseconds since the epoch; undefined when it is none.
 * Wider than the language's own `Timestamp`, which takes a zero offset alone.
 */
export function parseTime(text: string): bigint | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}(?::\d{2})?)(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})?)?$/.exec(
    text.trim(),
  )
  if (!match) return undefined
  const [, date, clock = '00:00:00', fraction = '', offset = 'Z'] = match
  const milliseconds = Date.parse(`${date}T${clock}${offset.toUpperCase()}`)
  if (Number.isNaN(milliseconds)) return undefined
  return BigInt(milliseconds) * 1_000_000n + BigInt(fraction.padEnd(9, '0') || '0')
}
