import { decryptCredentialBundle } from '@turnkey/crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair, KEY_CURVES, uncompressP256 } from '../../../src/crypto/index.ts'
import { refusalOf } from '../handlers/steps.ts'
import { createTestClock, createTestUser, startTestService, type TestService } from '../harness.ts'

let service: TestService
const clock = createTestClock()
beforeAll(async () => {
  service = await startTestService({ clock })
})
afterAll(() => service.close())

const keysOf = async (userId: string) => (await service.root.query('get_user', { userId })).user.apiKeys
const newKey = () => KEY_CURVES.p256.generateKeyPair()

describe('login keys', () => {
  test('login keys: the eleventh evicts the oldest, and its session is at an end with the answer', async () => {
    const { userId, client } = await createTestUser(service, 'many')
    const keys = Array.from({ length: 11 }, newKey)
    for (const { publicKey } of keys.slice(0, 10)) await client.submit('ACTIVITY_TYPE_STAMP_LOGIN', { publicKey })
    const first = service.client(keys[0]!.privateKey)
    expect(await first.query('whoami')).toMatchObject({ userId })
    // A session is refreshed by the session itself, which is the one that gives way.
    await first.submit('ACTIVITY_TYPE_STAMP_LOGIN', { publicKey: keys[10]!.publicKey })
    expect((await refusalOf(first.query('whoami'))).slice(0, 2)).toEqual([401, 16])
    expect((await keysOf(userId)).map(({ credential }) => credential.publicKey)).toEqual([
      client.publicKey,
      ...keys.slice(1).map(({ publicKey }) => publicKey),
    ])
  })

  test('login keys: invalidateExisting ends those of its own kind alone', async () => {
    const { userId, client } = await createTestUser(service, 'again')
    const target = generateP256KeyPair()
    const rw = { targetPublicKey: target.publicKey }
    await client.submit('ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2', rw)
    for (const key of [newKey(), newKey()])
      await client.submit('ACTIVITY_TYPE_STAMP_LOGIN', { publicKey: key.publicKey })
    const last = newKey()
    await client.submit('ACTIVITY_TYPE_STAMP_LOGIN', { publicKey: last.publicKey, invalidateExisting: true })
    expect((await keysOf(userId)).map(({ credential }) => credential.type)).toEqual([
      'CREDENTIAL_TYPE_API_KEY_P256',
      'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256',
      'CREDENTIAL_TYPE_LOGIN',
    ])
    await client.submit('ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2', { ...rw, invalidateExisting: true })
    expect(await keysOf(userId)).toHaveLength(3)
    expect(await service.client(last.privateKey).query('whoami')).toMatchObject({ userId })
  })

  test('login keys: a key of a wallet logs in, and one that has expired may come again', async () => {
    const { userId, client } = await createTestUser(service, 'wallets')
    for (const curve of ['secp256k1', 'ed25519'] as const) {
      const { publicKey } = KEY_CURVES[curve].generateKeyPair()
      const login = { publicKey, expirationSeconds: '1' }
      await client.submit('ACTIVITY_TYPE_STAMP_LOGIN', login)
      expect((await refusalOf(client.submit('ACTIVITY_TYPE_STAMP_LOGIN', login))).slice(0, 2)).toEqual([409, 6])
      clock.advance(1000)
      await client.submit('ACTIVITY_TYPE_STAMP_LOGIN', login)
      expect((await keysOf(userId)).at(-1)!.credential).toEqual({ publicKey, type: 'CREDENTIAL_TYPE_LOGIN' })
    }
  })
})

describe('read-write sessions', () => {
  test('read-write sessions: the bundle holds the key of a session, in both versions', async () => {
    const { userId, client } = await createTestUser(service, 'bundled')
    await service.root.submit('ACTIVITY_TYPE_UPDATE_USER_EMAIL', { userId, userEmail: 'bundled@example.com' })
    const target = generateP256KeyPair()
    const own = await client.submit('ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2', {
      targetPublicKey: uncompressP256(target.publicKey),
      userId,
    })
    const older = await service.root.submit('ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION', {
      targetPublicKey: target.publicKey,
      email: 'Bundled@example.com',
      apiKeyName: 'mine',
    })
    const results = [own.result.createReadWriteSessionResultV2!, older.result.createReadWriteSessionResult!]
    for (const { credentialBundle, apiKeyId, ...subject } of results) {
      expect(subject).toEqual({
        organizationId: service.organizationId,
        organizationName: 'quorate',
        userId,
        username: 'bundled',
      })
      const session = service.client(decryptCredentialBundle(credentialBundle, target.privateKey))
      expect(await session.query('whoami')).toMatchObject({ userId })
      expect((await keysOf(userId)).find((key) => key.apiKeyId === apiKeyId)).toMatchObject({
        credential: { publicKey: session.publicKey, type: 'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256' },
        expirationSeconds: '900',
      })
    }
    expect((await keysOf(userId)).map(({ apiKeyName }) => apiKeyName)).toEqual([
      'bundled-key',
      `Read Write Session - ${new Date(clock()).toISOString()}`,
      'mine',
    ])
  })

  test('read-write sessions: nobody but the root quorum names another user', async () => {
    const [ada, bob] = [await createTestUser(service, 'ada'), await createTestUser(service, 'bob')]
    const parameters = { targetPublicKey: newKey().publicKey, userId: bob.userId }
    const refused = await refusalOf(ada.client.submit('ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2', parameters))
    expect(refused.slice(0, 2)).toEqual([403, 7])
    const { status } = await service.root.submit('ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2', parameters)
    expect(status).toBe('ACTIVITY_STATUS_COMPLETED')
  })
})
