/** An organization as it was, read from its activities. */
import { beginningOf, type Former, thingsAt } from '../../analysis/index.ts'
import { QuorateError } from '../../diagnostics/index.ts'
import { listRecorded, type reader } from '../../operations/index.ts'
import { fromTimestamp, type Wire } from '../../protocol/index.ts'
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

/** Things as they were at a time, and when the organization began where that was later: then there were none. */
export interface FormerThings extends Former {
  readonly beganMs?: number
}

/** Things as they were at a time, and what is not known of them. */
export async function formerThings(
  { client, actual }: { readonly client: ReturnType<typeof reader>; readonly actual: Actual },
  atMs: number,
): Promise<FormerThings> {
  const { activities, cut } = await listRecorded(client)
  const oldest = activities.at(-1)
  const isOlder = cut === undefined && (!oldest || atMs < fromTimestamp(oldest.createdAt))
  const began = isOlder ? await readBeginning(client, { activities, atMs }) : {}
  if (began.ms !== undefined) return { things: [], unknown: [], beganMs: began.ms }
  const former = thingsAt(actual, { activities, atMs })
  return { ...former, unknown: [...former.unknown, ...[cut, began.unknown].filter((one) => one !== undefined)] }
}

/** When the organization began, where that was after a time that is older than all activities; nothing where it was there already. */
async function readBeginning(
  client: ReturnType<typeof reader>,
  { activities, atMs }: { readonly activities: readonly Wire.Activity[]; readonly atMs: number },
): Promise<{ readonly ms?: number; readonly unknown?: string }> {
  const { users } = await client.query('list_users', {})
  const dated = users.flatMap(({ userId: id, createdAt }) =>
    createdAt === undefined ? [] : [{ id, createdMs: fromTimestamp(createdAt) }],
  )
  if (dated.some(({ createdMs }) => createdMs <= atMs)) return {}
  const ms = dated.length === users.length ? beginningOf(activities, dated) : undefined
  const unknown = 'nothing on record is so old: whether the organization was there by then is not known'
  return ms === undefined ? { unknown } : { ms }
}
