import { refusePayload } from './refuse.ts'

export type JsonRecord = Readonly<Record<string, unknown>>

/** 78 digits are enough for 2^256; a million would be read for a second. */
const WHOLE = /^-?\d{1,78}$/

/**
 * Parses the JSON of a payload that is signed by its encoding. Whole numbers become bigints, from their own digits: as
 * doubles, amounts above 2^53 would be other amounts than those that are signed.
 */
export function parsePayload(payload: string): JsonRecord {
  let value: unknown
  try {
    value = JSON.parse(payload, (_key, member: unknown, context?: { readonly source?: string }) =>
      typeof member === 'number' && WHOLE.test(context?.source ?? '') ? BigInt(context!.source!) : member,
    )
  } catch (cause) {
    refusePayload('it is no JSON', cause)
  }
  return asRecord(value, 'the payload')
}

export function asRecord(value: unknown, what: string): JsonRecord {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    refusePayload(`expected ${what} to be an object`)
  return value as JsonRecord
}

/** A member that the object itself has, so that `constructor` and its like are not found. */
export function member(record: JsonRecord, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/** A whole number as payloads write it: a JSON number, or decimal or hex text (docs/protocol/signing.md#raw-payloads). */
export function wholeNumber(value: unknown, what: string): bigint {
  if (typeof value === 'bigint') return value
  if (typeof value === 'string' && (WHOLE.test(value) || /^0x[0-9a-fA-F]{1,64}$/.test(value))) return BigInt(value)
  return refusePayload(`expected ${what} to be a whole number`)
}

/** Lower-case hex with `0x`, of that many bytes or of any. */
export function hexText(value: unknown, what: string, size?: number): string {
  if (typeof value !== 'string' || !/^0x(?:[0-9a-fA-F]{2})*$/.test(value)) {
    refusePayload(`expected ${what} to be hex of whole bytes with \`0x\``)
  }
  if (size !== undefined && value.length !== 2 + 2 * size) refusePayload(`expected ${what} to have ${size} bytes`)
  return value.toLowerCase()
}
