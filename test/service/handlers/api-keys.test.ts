import { ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../../src/crypto/index.ts'
import { encodeHex } from '../../../src/encoding/index.ts'
import type { ActivityType } from '../../../src/protocol/index.ts'
import { createTestClock, startTestService, type TestService } from '../harness.ts'
import {
  complete,
  exhausted,
  invalid,
  invalidField,
  makeUser,
  missing,
  NOBODY,
  newKey,
  type Refusal,
  refusalOf,
  taken,
} from './steps.ts'

const clock = createTestClock()
let service: TestService
let userId: string
const known = newKey()
beforeAll(async () => {
  service = await startTestService({ clock })
  userId = await makeUser(service.root, { apiKeys: [known] })
})
afterAll(() => service.close())

const add = (of: string, ...apiKeys: object[]) =>
  complete(service.root, 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId: of, apiKeys })
const keysOf = async (of: string) => (await service.root.query('get_api_keys', { userId: of })).apiKeys
const expiring = (seconds: number) => newKey({ expirationSeconds: String(seconds) })
const secp256k1Key = () => encodeHex(secp256k1.getPublicKey(secp256k1.utils.randomSecretKey()))
const ed25519Key = () => encodeHex(ed25519.getPublicKey(ed25519.utils.randomSecretKey()))

describe('create_api_keys', () => {
  test.each([
    { curveType: 'API_KEY_CURVE_P256', publicKey: () => generateP256KeyPair().publicKey },
    { curveType: 'API_KEY_CURVE_SECP256K1', publicKey: secp256k1Key },
    { curveType: 'API_KEY_CURVE_ED25519', publicKey: ed25519Key },
  ])('create_api_keys: a key on $curveType is registered in lower case', async ({ curveType, publicKey }) => {
    const key = publicKey()
    const entry = { apiKeyName: 'laptop', publicKey: key.toUpperCase(), curveType, expirationSeconds: '900' }
    const { apiKeyIds } = await add(userId, entry)
    expect((await service.root.query('get_api_key', { apiKeyId: apiKeyIds[0] })).apiKey).toEqual({
      credential: { publicKey: key, type: curveType.replace('API_KEY_CURVE', 'CREDENTIAL_TYPE_API_KEY') },
      apiKeyId: apiKeyIds[0],
      apiKeyName: 'laptop',
      createdAt: { seconds: '1750000000', nanos: '0' },
      updatedAt: { seconds: '1750000000', nanos: '0' },
      expirationSeconds: '900',
    })
  })

  test('create_api_keys: the first version means P-256', async () => {
    const { curveType: _, ...entry } = newKey()
    const { apiKeyIds } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_API_KEYS', { userId, apiKeys: [entry] })
    const { apiKey } = await service.root.query('get_api_key', { apiKeyId: apiKeyIds[0] })
    expect(apiKey.credential).toEqual({ publicKey: entry.publicKey, type: 'CREDENTIAL_TYPE_API_KEY_P256' })
    expect(apiKey).not.toHaveProperty('expirationSeconds')
  })

  const twice = newKey()
  const notAKey = invalidField('publicKey', 'must be a public key of its curve')
  test.each<{ name: string; keys: () => object[]; expected: Refusal }>([
    {
      name: 'a point that is not on P-256',
      keys: () => [newKey({ publicKey: `02${'f'.repeat(64)}` })],
      expected: notAKey,
    },
    {
      name: 'a point that is not on secp256k1',
      keys: () => [newKey({ publicKey: `02${'f'.repeat(64)}`, curveType: 'API_KEY_CURVE_SECP256K1' })],
      expected: notAKey,
    },
    {
      name: 'an Ed25519 key of small order',
      keys: () => [newKey({ publicKey: `01${'0'.repeat(62)}`, curveType: 'API_KEY_CURVE_ED25519' })],
      expected: notAKey,
    },
    {
      name: 'a prefix that is no point',
      keys: () => [newKey({ publicKey: `05${'1'.repeat(64)}` })],
      expected: notAKey,
    },
    {
      name: 'a key that is known',
      keys: () => [newKey(), { ...known, apiKeyName: 'again' }],
      expected: taken(`api key with public key ${known.publicKey} already exists in this organization`),
    },
    {
      name: 'a known key in capitals',
      keys: () => [{ ...known, publicKey: known.publicKey.toUpperCase() }],
      expected: taken(`api key with public key ${known.publicKey} already exists in this organization`),
    },
    {
      name: 'one key twice',
      keys: () => [twice, twice],
      expected: invalidField('publicKey', `must not mention \`${twice.publicKey}\` twice`),
    },
    { name: 'no validity at all', keys: () => [expiring(0)], expected: invalid('invalid api key expiration') },
    {
      name: 'a validity that is no number',
      keys: () => [newKey({ expirationSeconds: 'soon' })],
      expected: invalid('invalid api key expiration'),
    },
    {
      name: 'more expiring keys than can stay',
      keys: () => Array.from({ length: 11 }, () => expiring(60)),
      expected: exhausted('user has exceeded maximum short-lived api keys'),
    },
  ])('create_api_keys: $name is refused, and no key is made', async ({ keys, expected }) => {
    const before = await keysOf(userId)
    expect(
      await refusalOf(service.root.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId, apiKeys: keys() })),
    ).toEqual(expected)
    expect(await keysOf(userId)).toEqual(before)
  })

  test('create_api_keys: an unknown user is refused', async () => {
    expect(
      await refusalOf(service.root.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId: NOBODY, apiKeys: [newKey()] })),
    ).toEqual(missing(`unable to find user ${NOBODY} in organization ${service.organizationId}`))
  })
})

describe('limits of API keys', () => {
  test('limits of API keys: the eleventh long-lived one is refused, whatever expires beside them', async () => {
    const user = await makeUser(service.root)
    await add(user, ...Array.from({ length: 9 }, () => newKey()), expiring(60))
    expect(
      await refusalOf(service.root.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId: user, apiKeys: [newKey()] })),
    ).toEqual(exhausted('user has exceeded maximum long-lived api keys'))
    await add(user, expiring(60))
  })

  test('limits of API keys: the eleventh expiring one evicts an expired one, otherwise the oldest', async () => {
    const user = await makeUser(service.root)
    const longLived = (await keysOf(user))[0]!.apiKeyId
    const first = await add(user, expiring(1_000))
    const short = await add(user, expiring(10))
    const rest = await add(user, ...Array.from({ length: 8 }, () => expiring(1_000)))
    clock.advance(10_000)
    const eleventh = await add(user, expiring(1_000))
    const ids = async () => (await keysOf(user)).map(({ apiKeyId }) => apiKeyId)
    expect(short.apiKeyIds).toHaveLength(1)
    expect(await ids()).toEqual([longLived, ...first.apiKeyIds, ...rest.apiKeyIds, ...eleventh.apiKeyIds])
    const twelfth = await add(user, expiring(1_000), expiring(1_000))
    expect(await ids()).toEqual([longLived, ...rest.apiKeyIds.slice(1), ...eleventh.apiKeyIds, ...twelfth.apiKeyIds])
  })
})

describe('delete_api_keys', () => {
  test('delete_api_keys: a key goes and can be registered again', async () => {
    const key = newKey()
    const { apiKeyIds } = await add(userId, key)
    expect(await complete(service.root, 'ACTIVITY_TYPE_DELETE_API_KEYS', { userId, apiKeyIds })).toEqual({ apiKeyIds })
    expect(await refusalOf(service.root.query('get_api_key', { apiKeyId: apiKeyIds[0] }))).toEqual(
      missing(`api key not found: ${apiKeyIds[0]}`),
    )
    await add(userId, key)
  })

  test('delete_api_keys: a valid key must be left, an expired one is none', async () => {
    const user = await makeUser(service.root)
    const [only] = await keysOf(user)
    const remove = (...apiKeyIds: string[]) => ({ userId: user, apiKeyIds })
    const locked = invalid(`user missing valid credential: ${user}`)
    const short = await add(user, expiring(10))
    const type: ActivityType = 'ACTIVITY_TYPE_DELETE_API_KEYS'
    expect(await refusalOf(service.root.submit(type, remove(only!.apiKeyId, ...short.apiKeyIds)))).toEqual(locked)
    clock.advance(10_000)
    expect(await refusalOf(service.root.submit(type, remove(only!.apiKeyId)))).toEqual(locked)
    await complete(service.root, type, remove(...short.apiKeyIds))
    await add(user, newKey())
    await complete(service.root, type, remove(only!.apiKeyId))
  })

  test.each<{ name: string; parameters: () => Promise<object>; expected: () => Refusal }>([
    {
      name: 'an unknown key',
      parameters: async () => ({ userId, apiKeyIds: [NOBODY] }),
      expected: () => missing(`api key not found: ${NOBODY}`),
    },
    {
      name: 'an unknown user',
      parameters: async () => ({ userId: NOBODY, apiKeyIds: [NOBODY] }),
      expected: () => missing(`unable to find user ${NOBODY} in organization ${service.organizationId}`),
    },
    {
      name: 'a key twice',
      parameters: async () => ({ userId, apiKeyIds: [NOBODY, NOBODY] }),
      expected: () => invalidField('apiKeyIds', `must not mention \`${NOBODY}\` twice`),
    },
  ])('delete_api_keys: $name is refused', async ({ parameters, expected }) => {
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_DELETE_API_KEYS', await parameters()))).toEqual(
      expected(),
    )
  })

  test('delete_api_keys: the key of another user is not found', async () => {
    const [key] = await keysOf(service.rootUserId)
    expect(
      await refusalOf(service.root.submit('ACTIVITY_TYPE_DELETE_API_KEYS', { userId, apiKeyIds: [key!.apiKeyId] })),
    ).toEqual(missing(`api key not found: ${key!.apiKeyId}`))
  })
})
