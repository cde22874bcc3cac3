import { QuorateError } from '../../diagnostics/index.ts'
import { fromTimestamp } from '../../protocol/index.ts'

/** A record of an answer, not looked at yet. */
export type WireRecord = Readonly<Record<string, unknown>>

/** Takes a value that must be an object. `what` names it in the error, e.g. `user`. Throws `QuorateError`. */
export function takeRecord(value: unknown, what: string): WireRecord {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as WireRecord
  throw malformed(what, 'an object', value)
}

/** The records of a list in an answer. Throws `QuorateError`. */
export function recordsOf(answer: unknown, list: string): readonly WireRecord[] {
  return takeList(takeRecord(answer, 'the answer'), list, 'answer').map((one) =>
    takeRecord(one, `a record of \`${list}\``),
  )
}

/** Takes a text that must be there and not be empty. */
export function takeText(record: WireRecord, member: string, what: string): string {
  const value = own(record, member)
  if (typeof value === 'string' && value !== '') return value
  throw malformed(`\`${member}\` of a ${what}`, 'a text', value)
}

/** Takes a text that may be absent, null or empty: then undefined (docs/protocol/requests.md#times-and-numbers). */
export function takeOptionalText(record: WireRecord, member: string, what: string): string | undefined {
  const value = own(record, member)
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'string') return value
  throw malformed(`\`${member}\` of a ${what}`, 'a text or nothing', value)
}

/** Takes a list that must be there: a list that is missing is not an empty one, lest what is in it be thought gone. */
export function takeList(record: WireRecord, member: string, what: string): readonly unknown[] {
  const value = own(record, member)
  if (Array.isArray(value)) return value
  throw malformed(`\`${member}\` of a ${what}`, 'a list', value)
}

/** Takes a list that may be absent or null: then undefined. Only where the API says that absent is none. */
export function takeOptionalList(record: WireRecord, member: string, what: string): readonly unknown[] | undefined {
  const value = own(record, member)
  return value === undefined || value === null ? undefined : takeList(record, member, what)
}

/** Takes `true` or `false`. */
export function takeBoolean(record: WireRecord, member: string, what: string): boolean {
  const value = own(record, member)
  if (typeof value === 'boolean') return value
  throw malformed(`\`${member}\` of a ${what}`, '`true` or `false`', value)
}

/** Takes `true` or `false`, or nothing. */
export function takeOptionalBoolean(record: WireRecord, member: string, what: string): boolean | undefined {
  const value = own(record, member)
  return value === undefined || value === null ? undefined : takeBoolean(record, member, what)
}

/** Takes a list of texts that must be there. */
export function takeTexts(record: WireRecord, member: string, what: string): readonly string[] {
  return takeList(record, member, what).map((value) => {
    if (typeof value === 'string' && value !== '') return value
    throw malformed(`an element of \`${member}\` of a ${what}`, 'a text', value)
  })
}

/** Takes a whole number, which may be written as a text (docs/protocol/requests.md#leniency). */
export function takeInteger(record: WireRecord, member: string, what: string): number {
  const value = own(record, member)
  const number = typeof value === 'string' && /^[0-9]+$/.test(value) ? Number(value) : value
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number
  throw malformed(`\`${member}\` of a ${what}`, 'a whole number', value)
}

/** Takes a time in any form that the API writes, or nothing; in milliseconds since the epoch. */
export function takeOptionalTime(record: WireRecord, member: string, what: string): number | undefined {
  const value = own(record, member)
  if (value === undefined || value === null) return undefined
  try {
    return fromTimestamp(value as Parameters<typeof fromTimestamp>[0])
  } catch {
    // Said below, with what it is of.
  }
  throw malformed(`\`${member}\` of a ${what}`, 'a time or nothing', value)
}

export function malformed(what: string, expected: string, got: unknown): QuorateError {
  const seen = got === null ? 'null' : Array.isArray(got) ? 'a list' : got === undefined ? 'nothing' : `a ${typeof got}`
  return new QuorateError(
    'resources/malformed-record',
    `expected ${what} to be ${expected}, got ${got === '' ? 'an empty text' : seen}`,
    {
      next: 'check that the base URL is that of the API',
    },
  )
}

function own(record: WireRecord, member: string): unknown {
  return Object.hasOwn(record, member) ? record[member] : undefined
}
