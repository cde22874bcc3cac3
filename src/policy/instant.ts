/**
 * The text of a point in time (RFC 3339; docs/protocol/policies.md#time): an offset of zero alone, fractions down to a
 * nanosecond, no leap second, `T` between date and time (U-rfc3339).
 */
const RFC_3339 =
  /^(?<date>\d{4}-\d{2}-\d{2})[Tt](?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2})(?:\.(?<fraction>\d+))?(?<offset>[Zz]|[+-]\d{2}:\d{2})$/

/** Reads a time as nanoseconds since the epoch, or says what is wrong with it. */
export function parseInstant(text: string): { readonly nanoseconds: bigint } | { readonly wrong: string } {
  const parts = RFC_3339.exec(text)?.groups
  if (parts === undefined) return { wrong: 'is not a time like `2026-01-31T12:00:00Z`' }
  const { date, hour, minute, second, fraction = '', offset } = parts
  if (!/^(?:[Zz]|[+-]00:00)$/.test(offset!)) return { wrong: `has the offset \`${offset}\`, expected \`Z\`` }
  if (fraction.length > 9) return { wrong: 'has more than nine digits of a second' }
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return { wrong: 'is not a time of day' }
  const milliseconds = Date.parse(`${date}T${hour}:${minute}:${second}Z`)
  // Date.parse lets 31 February be 3 March in some engines: the date must come back as it went in.
  if (Number.isNaN(milliseconds) || !new Date(milliseconds).toISOString().startsWith(date!))
    return { wrong: 'is not a date of the calendar' }
  return { nanoseconds: BigInt(milliseconds) * 1_000_000n + BigInt(fraction.padEnd(9, '0')) }
}
