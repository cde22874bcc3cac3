/** Where in the organizations inside a suspect is looked for. */
import type { QueryClient } from '../client/index.ts'
import { listSubOrganizationIds } from '../live/index.ts'
import { locateGone } from './gone.ts'
import { type GoneKey, type KeyInside, type LocatedKey, listKeysInside, locateKey } from './locate.ts'

/**
 * Lists the organizations inside in which keys are registered; with `everywhere`, of the one key that leaked, all others as well: it
 * may be registered there no more. Throws `ClientError`.
 */
export async function listInside(
  client: QueryClient,
  {
    publicKeys,
    publicKey,
    everywhere,
  }: {
    readonly publicKeys: readonly string[]
    readonly publicKey?: string | undefined
    readonly everywhere?: boolean | undefined
  },
): Promise<readonly KeyInside[]> {
  const listed = await listKeysInside(client, publicKeys)
  if (!everywhere || publicKey === undefined) return listed
  const known = new Set(listed.map(({ organizationId }) => organizationId))
  const rest = (await listSubOrganizationIds(client)).filter((id) => !known.has(id))
  return [...listed, ...rest.map((organizationId) => ({ organizationId, publicKey, isGone: true }) as const)]
}

/** Finds the suspect in one of them. Throws `ClientError`. */
export async function locateInside(client: QueryClient, one: KeyInside): Promise<readonly (LocatedKey | GoneKey)[]> {
  return one.isGone ? locateGone(client, one) : locateKey(client, one)
}
