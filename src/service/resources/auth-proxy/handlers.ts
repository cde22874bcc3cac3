/**
 * The authentication proxy as its organization sees it (docs/protocol/auth-proxy.md#administration): a user with one key,
 * which the service keeps sealed, and one policy, which says all that the user may do.
 */

import { decodeHex } from '../../../encoding/index.ts'
import { AUTH_PROXY_NAMES, type Wire } from '../../../protocol/index.ts'
import type { ExecutionContext, HandlerContext } from '../../engine/index.ts'
import { authProxyKeyPlace, createKeyPair } from '../../keys/index.ts'
import { authProxyOfParentsAlone } from '../../readings.ts'
import { listApiKeys } from '../api-keys/store.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { checkLimit } from '../limits.ts'
import { findOrganization } from '../organizations/store.ts'
import { policyHandlers } from '../policies/handlers.ts'
import { policyTable } from '../policies/store.ts'
import { userHandlers } from '../users/handlers.ts'
import { addUsers, toNewUser } from '../users/new-users.ts'
import { listUsers, userTable } from '../users/store.ts'
import { checkSettings, mergeSettings } from './settings.ts'
import { type AuthProxyRow, findAuthProxy, newAuthProxy, replaceAuthProxy } from './store.ts'

const createPolicy = policyHandlers.ACTIVITY_TYPE_CREATE_POLICY_V3
const deletePolicies = policyHandlers.ACTIVITY_TYPE_DELETE_POLICIES
const deleteUsers = userHandlers.ACTIVITY_TYPE_DELETE_USERS

/** All that a proxy may do: each a resource with an action. */
const PERMISSIONS = [
  { resource: 'AUTH', action: 'CREATE' },
  { resource: 'OTP', action: 'CREATE' },
  { resource: 'OTP', action: 'VERIFY' },
  { resource: 'ORGANIZATION', action: 'CREATE' },
] as const

/** Unstated: enabling what is enabled. It answers with the user that there is, and puts back what was deleted of the proxy. */
const enable: TypedHandler<Wire.EnableAuthProxyIntent, Wire.EnableAuthProxyResult> = {
  async validate(context) {
    await checkIsParent(context)
    const proxy = await readProxy(context)
    if (await isWhole(context, proxy)) return
    await checkRemoval(context, proxy)
    const { tx, organizationId } = context
    await checkLimit(context, 'users', { present: await userTable.count(tx, organizationId), added: 1 })
    await checkLimit(context, 'policies', { present: (await policyTable.list(tx, organizationId)).length, added: 1 })
  },
  async execute(context) {
    const before = await readProxy(context)
    if (before.user_id !== null && (await isWhole(context, before))) return { userId: before.user_id }
    await removeParts(context, before)
    const { tx, organizationId, now } = context
    const { privateKey, publicKey } = createKeyPair(context.randomBytes)
    const key = { apiKeyName: AUTH_PROXY_NAMES.key, publicKey, curveType: 'API_KEY_CURVE_P256' as const }
    const user = {
      userName: AUTH_PROXY_NAMES.user,
      apiKeys: [key],
      authenticators: [],
      oauthProviders: [],
      userTags: [],
    }
    const [userId] = await addUsers(context, [toNewUser(user)])
    const { policyId } = await createPolicy.execute(context, await policyOf(context, userId!))
    await replaceAuthProxy(tx, {
      ...before,
      enabled: 1,
      user_id: userId!,
      policy_id: policyId,
      public_key: publicKey,
      sealed_private_key: context.seal(decodeHex(privateKey), authProxyKeyPlace(organizationId)),
      updated_at: now,
    })
    return { userId: userId! }
  },
}

/** The settings stay, and so does the configuration id. Unstated: disabling what is disabled changes nothing. */
const disable: TypedHandler<Wire.DisableAuthProxyIntent, Wire.DisableAuthProxyResult> = {
  async validate(context) {
    await checkIsParent(context)
    await checkRemoval(context, await readProxy(context))
  },
  async execute(context) {
    const proxy = await readProxy(context)
    await removeParts(context, proxy)
    await replaceAuthProxy(context.tx, {
      ...newAuthProxy(proxy.organization_id, { configId: proxy.config_id, now: context.now }),
      settings: proxy.settings,
      created_at: proxy.created_at,
    })
    return {}
  },
}

const updateConfig: TypedHandler<Wire.UpdateAuthProxyConfigIntent, Wire.UpdateAuthProxyConfigResult> = {
  async validate(context, change) {
    await checkIsParent(context)
    checkSettings(change)
    checkSettings(mergeSettings(JSON.parse((await readProxy(context)).settings), change))
  },
  async execute(context, change) {
    const proxy = await readProxy(context)
    const settings = JSON.stringify(mergeSettings(JSON.parse(proxy.settings), change))
    await replaceAuthProxy(context.tx, { ...proxy, settings, updated_at: context.now })
    return { configId: proxy.config_id }
  },
}

export const authProxyHandlers = {
  ACTIVITY_TYPE_ENABLE_AUTH_PROXY: enable,
  ACTIVITY_TYPE_DISABLE_AUTH_PROXY: disable,
  ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG: updateConfig,
} satisfies HandlerRows

async function checkIsParent({ tx, organizationId }: HandlerContext): Promise<void> {
  const organization = await findOrganization(tx, organizationId)
  if (organization?.parent_id != null) throw authProxyOfParentsAlone()
}

/** The proxy of the organization; a new one that is off, where nothing was ever said about it. */
async function readProxy({ tx, organizationId, newId, now }: HandlerContext): Promise<AuthProxyRow> {
  return (await findAuthProxy(tx, organizationId)) ?? newAuthProxy(organizationId, { configId: newId(), now })
}

/** The proxy's user and policy, as far as they still exist: a user with the permission can delete them. */
async function findParts({ tx, organizationId }: HandlerContext, { user_id, policy_id }: AuthProxyRow) {
  const [user] = user_id === null ? [] : await listUsers(tx, organizationId, [user_id])
  const policy = policy_id === null ? undefined : await policyTable.find(tx, organizationId, policy_id)
  return { userIds: user ? [user.id] : [], policyIds: policy ? [policy.id] : [] }
}

async function isWhole(context: HandlerContext, proxy: AuthProxyRow): Promise<boolean> {
  const { userIds, policyIds } = await findParts(context, proxy)
  const keys = await listApiKeys(context.tx, context.organizationId, userIds)
  return policyIds.length === 1 && keys.some(({ public_key }) => public_key === proxy.public_key)
}

/** Throws the refusal of a proxy whose user cannot go: it was made a member of the root quorum. */
async function checkRemoval(context: HandlerContext<never>, proxy: AuthProxyRow): Promise<void> {
  const { userIds } = await findParts(context, proxy)
  if (userIds.length > 0) await deleteUsers.validate!(context, { userIds })
}

async function removeParts(context: ExecutionContext<never>, proxy: AuthProxyRow): Promise<void> {
  const { userIds, policyIds } = await findParts(context, proxy)
  if (policyIds.length > 0) await deletePolicies.execute(context, { policyIds })
  if (userIds.length > 0) await deleteUsers.execute(context, { userIds })
}

/** The one policy of the proxy's user. Names of policies are unique: where this one is taken, the user's id is added. */
async function policyOf({ tx, organizationId }: HandlerContext, userId: string): Promise<Wire.CreatePolicyIntentV3> {
  const names = (await policyTable.list(tx, organizationId)).map(({ name }) => name)
  const condition = PERMISSIONS.map(
    ({ resource, action }) => `(activity.resource == '${resource}' && activity.action == '${action}')`,
  ).join(' || ')
  return {
    policyName: names.includes(AUTH_PROXY_NAMES.policy)
      ? `${AUTH_PROXY_NAMES.policy} ${userId}`
      : AUTH_PROXY_NAMES.policy,
    effect: 'EFFECT_ALLOW',
    consensus: `approvers.any(user, user.id == '${userId}')`,
    condition,
    notes: 'All that the authentication proxy may do.',
  }
}
