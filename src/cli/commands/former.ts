/** An organization as it was, read from its activities. */
import { thingsAt } from '../../analysis/index.ts'
import { QuorateError } from '../../diagnostics/index.ts'
import { listRecorded, type reader } from '../../operations/index.ts'
import type { Actual } from '../../resources/index.ts'

/** Milliseconds of an ISO 8601 date or date with time; a date alone is its first moment in UTC. Undefined for anything else. */
export function parseTime(text: string): number | undefined {
  const isTime = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)
  const ms = isTime ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}

/** A time that an option names. Throws `cli/usage` for what is none, and for one that is still to come. */
export function readTime(text: string, { option, nowMs }: { readonly option: string; readonly nowMs: number }): number {
  const ms = parseTime(text)
  if (ms !== undefined && ms <= nowMs) return ms
  const what = ms === undefined ? 'a time such as 2026-06-30 or 2026-06-30T12:00:00Z' : 'a time that is past'
  throw new QuorateError('cli/usage', `expected \`${option}\` to be ${what}, got \`${text}\``, {
    next: 'give a date, or a date with time and zone',
  })
}

/** Things as they were at a time, and what is not known of them. */
export async function formerThings(
  { client, actual }: { readonly client: ReturnType<typeof reader>; readonly actual: Actual },
  atMs: number,
): Promise<ReturnType<typeof thingsAt>> {
  const { activities, cut } = await listRecorded(client)
  const former = thingsAt(actual, { activities, atMs })
  return cut === undefined ? former : { ...former, unknown: [...former.unknown, cut] }
}
