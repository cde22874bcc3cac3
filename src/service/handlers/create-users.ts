import { apiError, type Wire } from '../../protocol/index.ts'
import { insertTagMembers } from '../store/tags.ts'
import { countUsers, insertUser } from '../store/users.ts'
import { checkLimit } from './limits.ts'
import { addApiKeys, checkApiKeyLimits, checkNewApiKeys, type NewApiKey, toNewApiKey } from './new-api-keys.ts'
import { requireUserTags } from './require.ts'
import { type HandlerRows, mapIntent, type TypedHandler } from './table.ts'
import { isContactWayIn, readFeatureNames } from './ways-in.ts'

/** A user to be made, from any version of the intent. */
interface NewUser {
  readonly name: string
  readonly email: string | null
  readonly phone_number: string | null
  readonly keys: readonly NewApiKey[]
  readonly tagIds: readonly string[]
  /** Credentials in the request that this service does not register. */
  readonly unsupported: readonly string[]
}

const createUsers: TypedHandler<readonly NewUser[], Wire.CreateUsersResult> = {
  async validate(context, users) {
    const unsupported = users.flatMap((user) => user.unsupported)[0]
    if (unsupported !== undefined) throw apiError('notImplemented', `registering ${unsupported} with a user`)
    for (const user of users) {
      await requireUserTags(context, 'userTags', user.tagIds)
      checkApiKeyLimits([], user.keys)
    }
    const keys = users.flatMap((user) => user.keys)
    await checkNewApiKeys(context, keys)
    const features = await readFeatureNames(context)
    const lockedOut = users.find((user) => user.keys.length === 0 && !isContactWayIn(user, features))
    if (lockedOut) throw apiError('userWithoutCredential', lockedOut.name)
    const present = await countUsers(context.tx, context.organizationId)
    await checkLimit(context, 'users', { present, added: users.length })
  },
  async execute(context, users) {
    const { tx, organizationId, now } = context
    const userIds: string[] = []
    for (const { name, email, phone_number, keys, tagIds } of users) {
      const id = context.newId()
      userIds.push(id)
      const made = { created_at: now, updated_at: now }
      await insertUser(tx, { id, organization_id: organizationId, name, email, phone_number, ...made })
      await addApiKeys(context, id, keys, [])
      await insertTagMembers(
        tx,
        organizationId,
        tagIds.map((tagId) => ({ tagId, memberId: id })),
      )
    }
    return { userIds }
  },
}

/** The obsolete access type of the first version says nothing that a user's credentials do not say. */
function toNewUser(
  user: Wire.UserParams | Wire.UserParamsV2 | Wire.UserParamsV3 | Wire.UserParamsV4 | Wire.ApiOnlyUserParams,
): NewUser {
  const authenticators = 'authenticators' in user ? user.authenticators : []
  const oauthProviders = 'oauthProviders' in user ? user.oauthProviders : []
  const phone = 'userPhoneNumber' in user ? user.userPhoneNumber : undefined
  return {
    name: user.userName,
    email: user.userEmail || null,
    phone_number: phone || null,
    keys: user.apiKeys.map(toNewApiKey),
    tagIds: user.userTags,
    unsupported: [
      ...(authenticators.length > 0 ? ['authenticators'] : []),
      ...(oauthProviders.length > 0 ? ['oauthProviders'] : []),
    ],
  }
}

type UsersIntent = { readonly users: readonly Parameters<typeof toNewUser>[0][] }
const ofUsers = mapIntent(createUsers, ({ users }: UsersIntent) => users.map(toNewUser))

export const createUserHandlers = {
  ACTIVITY_TYPE_CREATE_USERS: ofUsers,
  ACTIVITY_TYPE_CREATE_USERS_V2: ofUsers,
  ACTIVITY_TYPE_CREATE_USERS_V3: ofUsers,
  ACTIVITY_TYPE_CREATE_USERS_V4: ofUsers,
  ACTIVITY_TYPE_CREATE_API_ONLY_USERS: mapIntent(createUsers, (intent: Wire.CreateApiOnlyUsersIntent) =>
    intent.apiOnlyUsers.map(toNewUser),
  ),
} satisfies HandlerRows
