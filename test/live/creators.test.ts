/** Who created what lives, read from the activities of a real service. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createQueryClient } from '../../src/client/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { creatorsOf, readActual } from '../../src/live/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { allowAlone, createTestUser, startTestService, type TestService } from '../service/harness.ts'
import { createPasskey } from '../service/passkey.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

const apiKey = (apiKeyName: string) => {
  const { publicKey } = generateP256KeyPair()
  return { apiKeyName, publicKey, curveType: 'API_KEY_CURVE_P256' }
}

test('creators: credentials that came with their user are of who created the user, later ones of who added them', async () => {
  const bob = await createTestUser(service, 'bob')
  await allowAlone(service, bob, 'true')
  const passkey = createPasskey().register()
  const user = {
    userName: 'carol',
    userTags: [],
    oauthProviders: [],
    apiKeys: [apiKey('laptop')],
    authenticators: [passkey],
  }
  const second = { ...user, userName: 'dora', apiKeys: [apiKey('laptop'), apiKey('spare')], authenticators: [] }
  const { result } = await bob.client.submit('ACTIVITY_TYPE_CREATE_USERS_V3', { users: [user, second] })
  const [userId] = result.createUsersResult!.userIds
  await service.root.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId: userId!, apiKeys: [apiKey('later')] })

  const { organizationId, url: baseUrl } = service
  const stamper = createApiKeyStamper({ privateKey: service.service.bootstrap.apiPrivateKey! })
  const client = createQueryClient({ baseUrl, organizationId, stamper })
  const actual = await readActual(client)
  const found = await creatorsOf(client, actual, {})
  const said = actual.resources.flatMap(({ address, id }) => {
    const creator = id === undefined ? undefined : found.get(id)
    return creator && /carol|dora/.test(address) ? [[address, creator.userName, creator.cameWithUser ?? false]] : []
  })
  expect(said.toSorted()).toEqual(
    [
      ['user.carol', 'bob', false],
      [`authenticator.carol.${passkey.authenticatorName}`, 'bob', true],
      ['apiKey.carol.laptop', 'bob', true],
      ['apiKey.carol.later', 'root', false],
      ['user.dora', 'bob', false],
      ['apiKey.dora.laptop', 'bob', true],
      ['apiKey.dora.spare', 'bob', true],
    ].toSorted(),
  )
})
