import type { QueryClient } from '../client/index.ts'
import { type Author, authorsOf, type Changed, inside } from '../live/index.ts'
import { type Change, isStandIn, type Lock, type Plan, sealed } from '../plan/index.ts'
import { type Actual, formatAddress, parseAddress } from '../resources/index.ts'

const DRIFT: ReadonlySet<Change['cause']> = new Set(['live changed', 'both changed', 'live only'])

/** Whether somebody changed what lives, or made it, outside of the definitions. */
export const isDrift = ({ cause }: Pick<Change, 'cause'>): boolean => DRIFT.has(cause)

/**
 * The plan with the author of each drifted row: the activity that left it so, whose it was, with which credential, when, and who
 * approved it. Where the organization's newest activities do not tell, the author is `null`.
 *
 * A row that an apply of one's own changed last, where nobody else voted for a change of it after that apply was planned, is no drift,
 * though the lock does not name that apply yet: the definition has changed since.
 */
export async function withAuthors(
  client: QueryClient,
  plan: Plan,
  { lock, actual, own }: { readonly lock: Lock; readonly actual?: Actual; readonly own: () => Promise<OwnActivities> },
): Promise<Plan> {
  const { id: organizationId } = plan.organization
  const rows = lock[organizationId] ?? {}
  const idOf = (address: string) => rows[address]?.id
  const drifted = new Map<string, Changed>()
  for (const [index, { kind, address, id, cause }] of plan.changes.entries()) {
    if (!isDrift({ cause })) continue
    const parsed = parseAddress(address)
    const parent = parsed && parsed.names.length > 1 ? idOf(formatAddress('user', parsed.names[0]!)) : undefined
    // Of what was deleted only the lock knows the id; kinds without ids are known by their names.
    const ids = [id, idOf(address), parent, parsed?.kind === 'feature' ? parsed.names[0] : undefined]
    drifted.set(String(index), { kind, ids: ids.filter((one) => one !== undefined) })
  }
  if (drifted.size === 0 || isStandIn(organizationId)) return plan
  const asked = client.organizationId === organizationId ? client : inside(client, organizationId)
  const authors = await authorsOf(asked, drifted)
  const others =
    authors.size === 0 ? new Map<string, undefined>() : await othersSince(asked, { drifted, authors, own: await own() })
  const keyNames = keyNamesOf(actual)
  const changes = plan.changes.map((change, index): Change => {
    const key = String(index)
    if (!drifted.has(key)) return change
    const author = others.has(key) ? others.get(key) : authors.get(key)
    if (others.has(key) && !author) return toDefined(change)
    return { ...change, author: author ? toChangeAuthor(author, keyNames) : null }
  })
  const whole: Plan = { ...plan, changes }
  return sealed(whole)
}

/** Activities of applies of one's own that the lock may not tell of yet, each with when its plan was made (ISO 8601). */
type OwnActivities = ReadonlyMap<string, string>

/**
 * For each thing that an apply of one's own changed last: who else changed it since the plan of that apply was made, though another
 * activity of that plan completed later; undefined where nobody did.
 */
async function othersSince(
  client: QueryClient,
  {
    drifted,
    authors,
    own,
  }: {
    readonly drifted: ReadonlyMap<string, Changed>
    readonly authors: ReadonlyMap<string, Author>
    readonly own: OwnActivities
  },
): Promise<ReadonlyMap<string, Author | undefined>> {
  const plannedAt = (key: string) => own.get(authors.get(key)?.activityId ?? '')
  const mine = new Map([...drifted].filter(([key]) => plannedAt(key) !== undefined))
  const others = await authorsOf(client, mine, { except: own })
  return new Map(
    [...mine.keys()].map((key) => {
      const other = others.get(key)
      const isSince = other && [other.by, ...other.approvedBy].some(({ at }) => at >= plannedAt(key)!)
      return [key, isSince ? other : undefined]
    }),
  )
}

/** A change of what one's own apply left as it is: the definition is another since. */
function toDefined(change: Change): Change {
  return {
    ...change,
    cause: change.action === 'create' ? 'declared only' : 'definition changed',
    fields: change.fields.map(({ cause: _, ...field }) => field),
  }
}

/** The names of API keys by their public keys. */
export function keyNamesOf(actual: Actual | undefined): ReadonlyMap<string, string> {
  const keys = (actual?.resources ?? []).filter(({ kind }) => kind === 'apiKey')
  return new Map(keys.map(({ fields, name }) => [String(fields['publicKey']).toLowerCase(), name]))
}

/** An author as plans have it. */
export function toChangeAuthor(
  { activityId, type, by, approvedBy }: Author,
  keyNames: ReadonlyMap<string, string>,
): NonNullable<Change['author']> {
  const credential = keyNames.get(by.publicKey.toLowerCase())
  return {
    activityId,
    type,
    userName: by.userName,
    publicKey: by.publicKey,
    ...(credential === undefined ? {} : { credential }),
    at: by.at,
    approvedBy: approvedBy.map(({ userName, publicKey, at }) => ({ userName, publicKey, at })),
  }
}
