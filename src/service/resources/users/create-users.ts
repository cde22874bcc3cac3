import type { Wire } from '../../../protocol/index.ts'
import { type HandlerRows, mapIntent, type TypedHandler } from '../handler-table.ts'
import { checkLimit } from '../limits.ts'
import { addUsers, checkNewUsers, type NewUser, toNewUser } from './new-users.ts'
import { userTable } from './store.ts'
import { readFeatureNames } from './ways-in.ts'

const createUsers: TypedHandler<readonly NewUser[], Wire.CreateUsersResult> = {
  async validate(context, users) {
    const features = await readFeatureNames(context)
    await checkNewUsers(context, users, { features, originsOf: context.organizationId })
    const present = await userTable.count(context.tx, context.organizationId)
    await checkLimit(context, 'users', { present, added: users.length })
  },
  execute: async (context, users) => ({ userIds: await addUsers(context, users) }),
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
