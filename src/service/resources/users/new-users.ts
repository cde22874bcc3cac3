import { apiError, type Wire } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import {
  addApiKeys,
  checkApiKeyLimits,
  checkNewApiKeys,
  type NewApiKey,
  toNewApiKey,
} from '../api-keys/new-api-keys.ts'
import {
  addAuthenticators,
  checkAuthenticatorLimit,
  checkNewAuthenticators,
  type NewAuthenticator,
  toNewAuthenticator,
} from '../authenticators/new-authenticators.ts'
import {
  addOauthProviders,
  checkNewOauthProviders,
  checkOauthProviderLimit,
  type NewOauthProvider,
  toNewOauthProvider,
} from '../oauth-providers/new-oauth-providers.ts'
import { requireUserTags } from '../require.ts'
import { insertTagMembers } from '../tags/store.ts'
import { insertUser } from './store.ts'
import { isContactWayIn } from './ways-in.ts'

/** A user to be made, from any version of any intent that makes some. */
export interface NewUser {
  readonly name: string
  readonly email: string | null
  readonly phone_number: string | null
  readonly keys: readonly NewApiKey[]
  readonly authenticators: readonly NewAuthenticator[]
  readonly oauthProviders: readonly NewOauthProvider[]
  readonly tagIds: readonly string[]
}

type UserParams =
  | Wire.UserParams
  | Wire.UserParamsV2
  | Wire.UserParamsV3
  | Wire.UserParamsV4
  | Wire.ApiOnlyUserParams
  | Wire.RootUserParams
  | Wire.RootUserParamsV2
  | Wire.RootUserParamsV3
  | Wire.RootUserParamsV4
  | Wire.RootUserParamsV5

/** The obsolete access type of the first version says nothing that a user's credentials do not say. */
export function toNewUser(user: UserParams): NewUser {
  const phone = 'userPhoneNumber' in user ? user.userPhoneNumber : undefined
  const providers = 'oauthProviders' in user ? user.oauthProviders : []
  return {
    name: user.userName,
    email: user.userEmail || null,
    phone_number: phone || null,
    keys: user.apiKeys.map(toNewApiKey),
    authenticators: ('authenticators' in user ? user.authenticators : []).map(toNewAuthenticator),
    oauthProviders: providers.map(toNewOauthProvider),
    tagIds: 'userTags' in user ? user.userTags : [],
  }
}

/**
 * Throws the refusal of the first user who cannot be made, or who would have no way in.
 * @param options.features names of the login features that will be on for them
 * @param options.originsOf the organization whose origins their passkeys must be from
 */
export async function checkNewUsers(
  context: HandlerContext,
  users: readonly NewUser[],
  options: { readonly features: ReadonlySet<string>; readonly originsOf: string },
): Promise<void> {
  for (const user of users) {
    await requireUserTags(context, 'userTags', user.tagIds)
    checkApiKeyLimits([], user.keys)
    checkAuthenticatorLimit({ present: 0, added: user.authenticators.length })
    checkOauthProviderLimit({ present: 0, added: user.oauthProviders.length })
  }
  await checkNewApiKeys(
    context,
    users.flatMap((user) => user.keys),
  )
  const authenticators = users.flatMap((user) => user.authenticators)
  await checkNewAuthenticators(context, authenticators, options)
  const providers = users.map((user) => user.oauthProviders)
  await checkNewOauthProviders(context, providers)
  const lockedOut = users.find((user) => !hasCredential(user) && !isContactWayIn(user, options.features))
  if (lockedOut) throw apiError('userWithoutCredential', lockedOut.name)
}

/** Makes users, who have been checked, and returns their ids. */
export async function addUsers(context: HandlerContext, users: readonly NewUser[]): Promise<string[]> {
  const { tx, organizationId, now } = context
  const userIds: string[] = []
  for (const { name, email, phone_number, keys, authenticators, oauthProviders, tagIds } of users) {
    const id = context.newId()
    userIds.push(id)
    const made = { created_at: now, updated_at: now }
    await insertUser(tx, { id, organization_id: organizationId, name, email, phone_number, ...made })
    await addApiKeys(context, id, keys, [])
    await addAuthenticators(context, id, authenticators)
    await addOauthProviders(context, { id, email }, oauthProviders)
    const members = tagIds.map((tagId) => ({ tagId, memberId: id }))
    await insertTagMembers(tx, organizationId, members)
  }
  return userIds
}

function hasCredential({ keys, authenticators, oauthProviders }: NewUser): boolean {
  return keys.length + authenticators.length + oauthProviders.length > 0
}
