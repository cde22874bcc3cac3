import { apiError, type Wire } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import type { AuthenticatorRow } from '../../store/index.ts'
import { type HandlerRows, mapIntent, type TypedHandler } from '../handler-table.ts'
import { requireDistinct, requireUser } from '../require.ts'
import { checkWaysIn } from '../users/ways-in.ts'
import {
  addAuthenticators,
  checkAuthenticatorLimit,
  checkNewAuthenticators,
  type NewAuthenticator,
  toNewAuthenticator,
} from './new-authenticators.ts'
import { authenticatorTable, listAuthenticators } from './store.ts'

interface NewAuthenticatorsOfUser {
  readonly userId: string
  readonly authenticators: readonly NewAuthenticator[]
}

const createAuthenticators: TypedHandler<NewAuthenticatorsOfUser, Wire.CreateAuthenticatorsResult> = {
  async validate(context, { userId, authenticators }) {
    await requireUser(context, userId)
    await checkNewAuthenticators(context, authenticators, { originsOf: context.organizationId })
    const { length: present } = await authenticatorsOf(context, userId)
    checkAuthenticatorLimit({ present, added: authenticators.length })
  },
  async execute(context, { userId, authenticators }) {
    return { authenticatorIds: await addAuthenticators(context, userId, authenticators) }
  },
}

const deleteAuthenticators: TypedHandler<Wire.DeleteAuthenticatorsIntent, Wire.DeleteAuthenticatorsResult> = {
  async validate(context, { userId, authenticatorIds }) {
    const user = await requireUser(context, userId)
    requireDistinct('authenticatorIds', authenticatorIds)
    const held = new Set((await authenticatorsOf(context, userId)).map(({ id }) => id))
    if (authenticatorIds.some((id) => !held.has(id))) throw apiError('authenticatorNotFound')
    await checkWaysIn(context, [user], { authenticatorIds })
  },
  async execute({ tx, organizationId }, { authenticatorIds }) {
    await authenticatorTable.delete(tx, organizationId, authenticatorIds)
    return { authenticatorIds }
  },
}

type CreateIntent = Wire.CreateAuthenticatorsIntent | Wire.CreateAuthenticatorsIntentV2
const ofUser = mapIntent(createAuthenticators, ({ userId, authenticators }: CreateIntent) => ({
  userId,
  authenticators: authenticators.map(toNewAuthenticator),
}))

export const authenticatorHandlers = {
  ACTIVITY_TYPE_CREATE_AUTHENTICATORS: ofUser,
  ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2: ofUser,
  ACTIVITY_TYPE_DELETE_AUTHENTICATORS: deleteAuthenticators,
} satisfies HandlerRows

async function authenticatorsOf(
  { tx, organizationId }: HandlerContext,
  userId: string,
): Promise<readonly AuthenticatorRow[]> {
  return listAuthenticators(tx, organizationId, [userId])
}
