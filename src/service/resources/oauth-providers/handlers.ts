import { apiError, type Wire } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import type { OauthProviderRow } from '../../store/index.ts'
import { type HandlerRows, mapIntent, type TypedHandler } from '../handler-table.ts'
import { requireDistinct, requireUser } from '../require.ts'
import { checkWaysIn } from '../users/ways-in.ts'
import {
  addOauthProviders,
  checkNewOauthProviders,
  checkOauthProviderLimit,
  type NewOauthProvider,
  toNewOauthProvider,
} from './new-oauth-providers.ts'
import { listOauthProviders, oauthProviderTable } from './store.ts'

interface NewProvidersOfUser {
  readonly userId: string
  readonly oauthProviders: readonly NewOauthProvider[]
}

const createOauthProviders: TypedHandler<NewProvidersOfUser, Wire.CreateOauthProvidersResult> = {
  async validate(context, { userId, oauthProviders }) {
    const user = await requireUser(context, userId)
    await checkNewOauthProviders(context, [oauthProviders], user)
    const { length: present } = await providersOf(context, userId)
    checkOauthProviderLimit({ present, added: oauthProviders.length })
  },
  async execute(context, { userId, oauthProviders }) {
    return { providerIds: await addOauthProviders(context, await requireUser(context, userId), oauthProviders) }
  },
}

const deleteOauthProviders: TypedHandler<Wire.DeleteOauthProvidersIntent, Wire.DeleteOauthProvidersResult> = {
  async validate(context, { userId, providerIds }) {
    const user = await requireUser(context, userId)
    requireDistinct('providerIds', providerIds)
    const held = new Set((await providersOf(context, userId)).map(({ id }) => id))
    const unknown = providerIds.find((id) => !held.has(id))
    if (unknown !== undefined) throw apiError('notFound', 'oauth provider', unknown)
    await checkWaysIn(context, [user], { oauthProviderIds: providerIds })
  },
  async execute({ tx, organizationId }, { providerIds }) {
    await oauthProviderTable.delete(tx, organizationId, providerIds)
    return { providerIds }
  },
}

type CreateIntent = Wire.CreateOauthProvidersIntent | Wire.CreateOauthProvidersIntentV2
const ofUser = mapIntent(createOauthProviders, ({ userId, oauthProviders }: CreateIntent) => ({
  userId,
  oauthProviders: oauthProviders.map(toNewOauthProvider),
}))

export const oauthProviderHandlers = {
  ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS: ofUser,
  ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2: ofUser,
  ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS: deleteOauthProviders,
} satisfies HandlerRows

async function providersOf(
  { tx, organizationId }: HandlerContext,
  userId: string,
): Promise<readonly OauthProviderRow[]> {
  return listOauthProviders(tx, organizationId, [userId])
}
