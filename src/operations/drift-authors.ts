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
 */
export async function withAuthors(
  client: QueryClient,
  plan: Plan,
  { lock, actual }: { readonly lock: Lock; readonly actual?: Actual },
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
  const authors = await authorsOf(
    client.organizationId === organizationId ? client : inside(client, organizationId),
    drifted,
  )
  const keyNames = keyNamesOf(actual)
  const changes = plan.changes.map((change, index): Change => {
    if (!drifted.has(String(index))) return change
    const author = authors.get(String(index))
    return { ...change, author: author ? toChangeAuthor(author, keyNames) : null }
  })
  const whole: Plan = { ...plan, changes }
  return sealed(whole)
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
