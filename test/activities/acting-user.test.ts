/** Whose key a worker has, as the API says it: once in a minute for the right user, each time for another. */
import { afterEach, expect, test, vi } from 'vitest'
import { assertActsAs } from '../../activities/acting-user.ts'
import { createSubmitClient } from '../../src/client/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { createTestUser, startTestService } from '../service/harness.ts'

afterEach(() => vi.restoreAllMocks())

test('another key of the user is asked for once in a minute and each client; the key of another user each time', async () => {
  const service = await startTestService()
  try {
    const bob = await createTestUser(service, 'bob')
    const second = generateP256KeyPair()
    const apiKeys = [{ apiKeyName: 'second', publicKey: second.publicKey, curveType: 'API_KEY_CURVE_P256' }]
    await service.root.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId: service.rootUserId, apiKeys })
    const clientOf = (privateKey: string) => {
      const stamper = createApiKeyStamper({ privateKey: new Secret(privateKey) })
      const client = createSubmitClient({ baseUrl: service.url, organizationId: service.organizationId, stamper })
      return { client, asked: vi.spyOn(client, 'query') }
    }
    const by = { userId: service.rootUserId, userName: 'root', publicKey: service.root.publicKey }
    const what = { what: 'the plan was made for' }
    const mine = clientOf(second.privateKey)
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    for (let step = 0; step < 3; step++) await assertActsAs(mine.client, by, what)
    expect(mine.asked).toHaveBeenCalledTimes(1)
    now = 60_000
    for (let step = 0; step < 3; step++) await assertActsAs(mine.client, by, what)
    expect(mine.asked).toHaveBeenCalledTimes(2)
    // What is known of one client is not believed of another, nor for another user.
    const theirs = clientOf(bob.privateKey)
    for (let step = 0; step < 2; step++) {
      await expect(assertActsAs(theirs.client, by, what)).rejects.toMatchObject({ code: 'apply/other-user' })
    }
    expect(theirs.asked).toHaveBeenCalledTimes(2)
    const ofBob = { userId: bob.userId, userName: 'bob', publicKey: '02ab' }
    await expect(assertActsAs(mine.client, ofBob, what)).rejects.toMatchObject({ code: 'apply/other-user' })
  } finally {
    await service.close()
  }
})
