import { createQueryClient } from '../../src/client/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { readActual } from '../../src/live/index.ts'
import type { Actual } from '../../src/resources/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { complete, newKey } from '../service/handlers/steps.ts'
import type { TestService } from '../service/harness.ts'
import { createPasskey } from '../service/passkey.ts'
import { type Shape, withIds } from './organization.ts'

/** Makes the organization of a shape in a service, and reads it back over the socket. The first user also holds a key that is read with. */
export async function inhabit(service: TestService, shape: Shape): Promise<Actual> {
  const key = generateP256KeyPair()
  const [first, ...others] = shape.users.map(({ name, email, keys, passkeys }, index) => ({
    userName: name,
    ...(email === undefined ? {} : { userEmail: email }),
    apiKeys: [
      ...keys.map((apiKeyName) => newKey({ apiKeyName })),
      ...(index > 0 ? [] : [newKey({ apiKeyName: 'reader', publicKey: key.publicKey })]),
      // Nobody is made without a way in.
      ...(index > 0 && keys.length + passkeys.length === 0 ? [newKey()] : []),
    ],
    authenticators: passkeys.map((authenticatorName) => ({ ...createPasskey().register(), authenticatorName })),
    oauthProviders: [],
  }))
  const { subOrganizationId: organizationId, rootUserIds = [] } = await complete(
    service.root,
    'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8',
    { subOrganizationName: 'Acme: holding #1', rootUsers: [first], rootQuorumThreshold: 1 },
  )
  const inside = service.client(key.privateKey)

  const tagIds: string[] = []
  for (const [index, userTagName] of shape.tags.entries()) {
    const userIds = shape.users[0]!.tags.includes(index) ? rootUserIds : []
    const parameters = { userTagName, userIds }
    tagIds.push((await complete(inside, 'ACTIVITY_TYPE_CREATE_USER_TAG', parameters, organizationId)).userTagId)
  }
  const users = others.map((user, index) => ({
    ...user,
    userTags: shape.users[index + 1]!.tags.map((tag) => tagIds[tag]!),
  }))
  const userIds: string[] = []
  if (users.length > 0) {
    userIds.push(...(await complete(inside, 'ACTIVITY_TYPE_CREATE_USERS_V4', { users }, organizationId)).userIds)
  }
  const walletIds: string[] = []
  for (const { name, accounts } of shape.wallets) {
    const parameters = { walletName: name, accounts: Array.from({ length: accounts }, (_, at) => account(at)) }
    walletIds.push((await complete(inside, 'ACTIVITY_TYPE_CREATE_WALLET', parameters, organizationId)).walletId)
  }
  const ids = { TAG: tagIds, USER: [...rootUserIds, ...userIds], WALLET: walletIds }
  const policies = shape.policies.map(({ name, effect, consensus, condition, notes }) => ({
    policyName: name,
    effect: `EFFECT_${effect.toUpperCase()}`,
    ...(consensus === undefined ? {} : { consensus: withIds(consensus, ids) }),
    ...(condition === undefined ? {} : { condition: withIds(condition, ids) }),
    notes: notes ?? '',
  }))
  if (policies.length > 0) await complete(inside, 'ACTIVITY_TYPE_CREATE_POLICIES', { policies }, organizationId)
  const [userId] = userIds
  if (userId !== undefined) {
    const any = [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }, { type: 'AUTHENTICATION_TYPE_SESSION', id: userId }]
    const condition = `wallet.id == '${walletIds[0] ?? userId}'`
    const policy = { mfaPolicyName: 'Second factor: #1', condition, requiredAuthenticationMethods: [{ any }], order: 1 }
    await complete(inside, 'ACTIVITY_TYPE_CREATE_MFA_POLICY', { userId, ...policy }, organizationId)
  }

  const stamper = createApiKeyStamper({ privateKey: new Secret(key.privateKey) })
  return readActual(createQueryClient({ baseUrl: service.url, organizationId, stamper }))
}

function account(at: number) {
  const path = `m/44'/60'/0'/0/${at}`
  return { curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', path, addressFormat: 'ADDRESS_FORMAT_ETHEREUM' }
}
