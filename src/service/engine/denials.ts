/**
 * The record of a denied request: its caller, its intent, and the decision. Premise: a user without any right may still send
 * as many requests as it wants. So the size of one record is bounded, a repetition is only counted, and only the first
 * so many denials of one user and day are kept: if the newest were, an attacker could push older records out.
 */
import type { Json, JsonObject } from '../../protocol/index.ts'
import { countDenial, countKeptDenials, hasKeptDenial, type Transaction } from '../store/index.ts'
import { textOfIntent } from './intent-text.ts'

/** Denied requests of one user that are kept of one day. */
export const KEPT_DENIALS_A_DAY = 100

/** Most bytes of a kept intent, and of a kept body: more than any ordinary request has. */
const MOST_BYTES = 4_096

const DAY_MS = 86_400_000

/** Counts a denied request, and says whether it is to be kept. */
export async function admitDenial(
  tx: Transaction,
  denied: {
    readonly organizationId: string
    readonly userId: string
    readonly now: number
    readonly mostADay: number
    /** The bytes and what was decided about them, where the request began an activity. */
    readonly request?: { readonly fingerprint: string; readonly failure: string }
  },
): Promise<boolean> {
  const { organizationId, userId, now, mostADay, request } = denied
  const day = { organizationId, userId, day: Math.floor(now / DAY_MS) }
  const isKept =
    (await countKeptDenials(tx, day)) < mostADay &&
    !(request && (await hasKeptDenial(tx, { organizationId, userId, ...request })))
  await countDenial(tx, day, isKept)
  return isKept
}

/** The kept form of the bytes of a denied request: the bytes, or their digest where they are too many. */
export function keptMessage(message: string, fingerprint: string): string {
  const bytes = Buffer.byteLength(message)
  return bytes <= MOST_BYTES
    ? message
    : `${fingerprint} is the digest of ${bytes} bytes, which were denied and are not kept`
}

/** How much of a long text and of a long list is kept, less and less until it fits. */
const CUTS = [
  { characters: 256, entries: 16 },
  { characters: 64, entries: 4 },
  { characters: 64, entries: 1 },
  { characters: 8, entries: 1 },
  { characters: 8, entries: 0 },
] as const

/** An intent as it is kept: with long texts and lists cut where it is large. */
export function keptIntent(intent: JsonObject): string {
  let text = textOfIntent(intent)
  for (const cut of CUTS) {
    if (Buffer.byteLength(text) <= MOST_BYTES) return text
    text = JSON.stringify(shorten(intent, cut))
  }
  return Buffer.byteLength(text) <= MOST_BYTES ? text : '{}'
}

function shorten(value: Json, cut: (typeof CUTS)[number]): Json {
  if (typeof value === 'string') return value.length > cut.characters ? `${value.slice(0, cut.characters)}…` : value
  if (Array.isArray(value)) return value.slice(0, cut.entries).map((entry) => shorten(entry, cut))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shorten(member, cut)]))
}
