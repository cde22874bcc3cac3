import { apiError, type Wire } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import type { ApiKeyRow } from '../../store/index.ts'
import { type HandlerRows, mapIntent, type TypedHandler } from '../handler-table.ts'
import { requireDistinct, requireUser } from '../require.ts'
import { checkWaysIn } from '../users/ways-in.ts'
import { addApiKeys, checkApiKeyLimits, checkNewApiKeys, type NewApiKey, toNewApiKey } from './new-api-keys.ts'
import { apiKeyTable, listApiKeys } from './store.ts'

interface NewKeysOfUser {
  readonly userId: string
  readonly keys: readonly NewApiKey[]
}

const createApiKeys: TypedHandler<NewKeysOfUser, Wire.CreateApiKeysResult> = {
  async validate(context, { userId, keys }) {
    await requireUser(context, userId)
    await checkNewApiKeys(context, keys)
    checkApiKeyLimits(await keysOf(context, userId), keys)
  },
  async execute(context, { userId, keys }) {
    return { apiKeyIds: await addApiKeys(context, userId, keys, await keysOf(context, userId)) }
  },
}

const deleteApiKeys: TypedHandler<Wire.DeleteApiKeysIntent, Wire.DeleteApiKeysResult> = {
  async validate(context, { userId, apiKeyIds }) {
    const user = await requireUser(context, userId)
    requireDistinct('apiKeyIds', apiKeyIds)
    const held = new Set((await keysOf(context, userId)).map(({ id }) => id))
    const unknown = apiKeyIds.find((id) => !held.has(id))
    if (unknown !== undefined) throw apiError('notFound', 'api key', unknown)
    await checkWaysIn(context, [user], { apiKeyIds })
  },
  async execute({ tx, organizationId }, { apiKeyIds }) {
    await apiKeyTable.delete(tx, organizationId, apiKeyIds)
    return { apiKeyIds }
  },
}

const toKeysOfUser = ({ userId, apiKeys }: Wire.CreateApiKeysIntent | Wire.CreateApiKeysIntentV2): NewKeysOfUser => ({
  userId,
  keys: apiKeys.map(toNewApiKey),
})

export const apiKeyHandlers = {
  ACTIVITY_TYPE_CREATE_API_KEYS: mapIntent(createApiKeys, toKeysOfUser),
  ACTIVITY_TYPE_CREATE_API_KEYS_V2: mapIntent(createApiKeys, toKeysOfUser),
  ACTIVITY_TYPE_DELETE_API_KEYS: deleteApiKeys,
} satisfies HandlerRows

async function keysOf({ tx, organizationId }: HandlerContext, userId: string): Promise<readonly ApiKeyRow[]> {
  return listApiKeys(tx, organizationId, [userId])
}
