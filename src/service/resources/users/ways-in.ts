/**
 * Every user must keep at least one way in: an API key that has not expired, a passkey, an OAuth provider, or a contact
 * whose login feature is on (docs/protocol/organizations.md#ways-in).
 */
import { apiError } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { LOGIN_FEATURES } from '../../readings.ts'
import type { ApiKeyRow, UserRow } from '../../store/index.ts'
import { listApiKeys } from '../api-keys/store.ts'
import { listAuthenticators } from '../authenticators/store.ts'
import { listOauthProviders } from '../oauth-providers/store.ts'
import { listFeatures } from '../organizations/features-store.ts'

type Contacts = Pick<UserRow, 'email' | 'phone_number'>

/** Whether one of these contacts logs its user in, given the names of the features that are on. */
export function isContactWayIn(contacts: Contacts, features: ReadonlySet<string>): boolean {
  const columns = ['email', 'phone_number'] as const
  return columns.some(
    (column) => contacts[column] !== null && LOGIN_FEATURES[column].some((feature) => features.has(feature)),
  )
}

/** Reads the names of the features that are on. */
export async function readFeatureNames(context: HandlerContext): Promise<Set<string>> {
  const rows = await listFeatures(context.tx, context.organizationId)
  return new Set(rows.map(({ name }) => name))
}

/** The credentials, contacts and features that a request is about to take from users. */
export interface Loss {
  readonly apiKeyIds?: readonly string[]
  readonly authenticatorIds?: readonly string[]
  readonly oauthProviderIds?: readonly string[]
  readonly contact?: keyof Contacts
  readonly features?: readonly string[]
}

/**
 * Throws the API's text for the first of these users that the loss would lock out; a user who is locked out already
 * does not count.
 */
export async function checkWaysIn(context: HandlerContext, users: readonly UserRow[], loss: Loss): Promise<void> {
  const before = await readFeatureNames(context)
  const after = new Set([...before].filter((name) => !loss.features?.includes(name)))
  const lost = new Set([...(loss.apiKeyIds ?? []), ...(loss.authenticatorIds ?? []), ...(loss.oauthProviderIds ?? [])])
  const credentials = await readCredentials(context, users)
  for (const user of users) {
    const held = credentials.get(user.id) ?? []
    const left = held.filter(({ id }) => !lost.has(id))
    const contacts = loss.contact === undefined ? user : { ...user, [loss.contact]: null }
    const hadOne = held.length > 0 || isContactWayIn(user, before)
    if (hadOne && left.length === 0 && !isContactWayIn(contacts, after))
      throw apiError('userWithoutCredential', user.id)
  }
}

interface HeldCredential {
  readonly id: string
  readonly user_id: string
}

/** Reads the credentials that let these users in, by user. */
async function readCredentials(
  { tx, organizationId, now }: HandlerContext,
  users: readonly UserRow[],
): Promise<Map<string, HeldCredential[]>> {
  const ids = users.map(({ id }) => id)
  const keys = await listApiKeys(tx, organizationId, ids)
  const held: readonly HeldCredential[] = [
    ...keys.filter((key) => isValid(key, now)),
    ...(await listAuthenticators(tx, organizationId, ids)),
    ...(await listOauthProviders(tx, organizationId, ids)),
  ]
  return Map.groupBy(held, ({ user_id }) => user_id)
}

function isValid(key: ApiKeyRow, now: number): boolean {
  return key.expiration_seconds === null || now < key.created_at + key.expiration_seconds * 1000
}
