import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addressOf } from '../../../src/chain/index.ts'
import type { ActivityType } from '../../../src/protocol/index.ts'
import {
  allowAlone,
  createTestClock,
  createTestUser,
  startTestService,
  type TestService,
  type TestUser,
} from '../harness.ts'
import { rowsOf } from '../rows.ts'
import {
  complete,
  exhausted,
  fresh,
  invalid,
  invalidField,
  makePrivateKey,
  missing,
  NOBODY,
  newPrivateKey,
  type Refusal,
  refusalOf,
} from './steps.ts'

const clock = createTestClock()
let service: TestService
beforeAll(async () => {
  service = await startTestService({ clock })
})
afterAll(() => service.close())

const create = (...privateKeys: object[]) =>
  complete(service.root, 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', { privateKeys })
const read = async (privateKeyId: string) => (await service.root.query('get_private_key', { privateKeyId })).privateKey
const list = async () => (await service.root.query('list_private_keys')).privateKeys
const remove = (parameters: object) => complete(service.root, 'ACTIVITY_TYPE_DELETE_PRIVATE_KEYS', parameters)
const makeTag = (privateKeyIds: string[] = []) => {
  const parameters = { privateKeyTagName: fresh('tag'), privateKeyIds }
  return complete(service.root, 'ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG', parameters)
}

describe('create_private_keys', () => {
  test.each([
    { curve: 'CURVE_SECP256K1', format: 'ADDRESS_FORMAT_ETHEREUM', publicKey: /^0[23][0-9a-f]{64}$/ },
    { curve: 'CURVE_ED25519', format: 'ADDRESS_FORMAT_SOLANA', publicKey: /^[0-9a-f]{64}$/ },
    { curve: 'CURVE_P256', format: 'ADDRESS_FORMAT_UNCOMPRESSED', publicKey: /^0[23][0-9a-f]{64}$/ },
  ] as const)('create_private_keys: a key on $curve has its addresses in the order asked for', async (row) => {
    const { curve, format, publicKey } = row
    const { privateKeyTagId } = await makeTag()
    const name = fresh('key')
    const addressFormats = [format, 'ADDRESS_FORMAT_COMPRESSED']
    const params = { privateKeyName: name, curve, privateKeyTags: [privateKeyTagId], addressFormats }
    const { privateKeys } = await create(params)
    const record = await read(privateKeys[0]!.privateKeyId!)
    const now = { seconds: '1750000000', nanos: '0' }
    expect(record).toEqual({
      privateKeyId: privateKeys[0]!.privateKeyId,
      publicKey: expect.stringMatching(publicKey),
      privateKeyName: name,
      curve,
      addresses: privateKeys[0]!.addresses,
      privateKeyTags: [privateKeyTagId],
      createdAt: now,
      updatedAt: now,
      exported: false,
      imported: false,
    })
    expect(record.addresses).toEqual([
      { format, address: addressOf(curve, record.publicKey, format) },
      { format: 'ADDRESS_FORMAT_COMPRESSED', address: record.publicKey },
    ])
  })

  test('create_private_keys: several are made in the order given, names may repeat, and the first version answers with ids', async () => {
    const privateKeys = [newPrivateKey({ privateKeyName: 'same' }), newPrivateKey({ privateKeyName: 'same' })]
    const made = await complete(service.root, 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS', { privateKeys })
    expect(made).toEqual({ privateKeyIds: [expect.any(String), expect.any(String)] })
    const listed = (await list()).filter(({ privateKeyName }) => privateKeyName === 'same')
    expect(listed.map(({ privateKeyId }) => privateKeyId)).toEqual(made.privateKeyIds)
    expect(listed[0]!.publicKey).not.toBe(listed[1]!.publicKey)
  })

  test('create_private_keys: at rest a key is sealed to its own row', async () => {
    const id = await makePrivateKey(service.root)
    const [row] = await rowsOf(service.dataDir, 'select sealed_private_key from private_keys where id = ?', id)
    const sealed = row!['sealed_private_key'] as Uint8Array
    // 32 bytes of key, and the nonce and tag of AES-GCM.
    expect(sealed.length).toBeGreaterThanOrEqual(32 + 12 + 16)
    expect(new Set(sealed).size).toBeGreaterThan(20)
  })

  test.each<{ name: string; given: () => object | Promise<object>; expected: () => Refusal }>([
    {
      name: 'an address format of another curve',
      given: () => newPrivateKey({ addressFormats: ['ADDRESS_FORMAT_SOLANA'] }),
      expected: () => invalid('invalid address format'),
    },
    {
      name: 'an unknown curve',
      given: () => newPrivateKey({ curve: 'CURVE_ROUND' }),
      expected: () => invalid('invalid curve'),
    },
    {
      name: 'a format twice',
      given: () => newPrivateKey({ addressFormats: ['ADDRESS_FORMAT_ETHEREUM', 'ADDRESS_FORMAT_ETHEREUM'] }),
      expected: () => invalidField('addressFormats', 'must not mention `ADDRESS_FORMAT_ETHEREUM` twice'),
    },
    {
      name: 'an unknown tag',
      given: () => newPrivateKey({ privateKeyTags: [NOBODY] }),
      expected: () => missing(`private key tag not found: ${NOBODY}`),
    },
    {
      name: 'no name',
      given: () => newPrivateKey({ privateKeyName: '' }),
      expected: () => invalidField('privateKeys[1].privateKeyName', 'must not be empty'),
    },
  ])('create_private_keys: $name is refused, and none is made', async ({ given, expected }) => {
    const before = await list()
    const privateKeys = [newPrivateKey(), await given()]
    const sent = service.root.submit('ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', { privateKeys })
    expect(await refusalOf(sent)).toEqual(expected())
    expect(await list()).toEqual(before)
  })

  test('create_private_keys: a tag of users is no tag of keys', async () => {
    const tag = { userTagName: fresh('tag'), userIds: [] }
    const { userTagId } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_USER_TAG', tag)
    const refusal = await refusalOf(create(newPrivateKey({ privateKeyTags: [userTagId] })))
    expect(refusal).toEqual(missing(`private key tag not found: ${userTagId}`))
  })
})

describe('delete_private_keys', () => {
  test('delete_private_keys: a key that was never exported goes only when that is said', async () => {
    const ids = [await makePrivateKey(service.root), await makePrivateKey(service.root)]
    const { privateKeyTagId } = await makeTag(ids)
    const notExported: Refusal = [400, 3, 'wallet account has not been exported', 'WALLET_ACCOUNT_NOT_EXPORTED']
    expect(await refusalOf(remove({ privateKeyIds: ids }))).toEqual(notExported)
    expect(await refusalOf(remove({ privateKeyIds: ids, deleteWithoutExport: false }))).toEqual(notExported)
    expect(await remove({ privateKeyIds: ids, deleteWithoutExport: true })).toEqual({ privateKeyIds: ids })
    const refusal = await refusalOf(service.root.query('get_private_key', { privateKeyId: ids[0] }))
    expect(refusal).toEqual(missing(`private key not found: ${ids[0]}`))
    expect((await list()).some(({ privateKeyId }) => ids.includes(privateKeyId))).toBe(false)
    const deleted = { privateKeyTagIds: [privateKeyTagId] }
    expect(await complete(service.root, 'ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS', deleted)).toEqual({
      ...deleted,
      privateKeyIds: [],
    })
  })

  test('delete_private_keys: with one that is unknown, none goes', async () => {
    const id = await makePrivateKey(service.root)
    const privateKeyIds = [id, NOBODY]
    const refusal = await refusalOf(remove({ privateKeyIds, deleteWithoutExport: true }))
    expect(refusal).toEqual(missing(`private key not found: ${NOBODY}`))
    expect((await read(id)).privateKeyId).toBe(id)
  })
})

describe('disable_private_key', () => {
  test('disable_private_key: the key stays in the lists and says when it changed', async () => {
    const privateKeyId = await makePrivateKey(service.root)
    clock.advance(2_000)
    const disable = () => complete(service.root, 'ACTIVITY_TYPE_DISABLE_PRIVATE_KEY', { privateKeyId })
    expect(await disable()).toEqual({ privateKeyId })
    expect(await disable()).toEqual({ privateKeyId })
    const { createdAt, updatedAt } = await read(privateKeyId)
    expect(Number(updatedAt.seconds) - Number(createdAt.seconds)).toBe(2)
  })

  test('disable_private_key: an unknown one is refused', async () => {
    const sent = service.root.submit('ACTIVITY_TYPE_DISABLE_PRIVATE_KEY', { privateKeyId: NOBODY })
    expect(await refusalOf(sent)).toEqual(missing(`private key not found: ${NOBODY}`))
  })
})

describe('private key tags', () => {
  test('private key tags: a tag is made, renamed, moved and deleted', async () => {
    const [first, second] = [await makePrivateKey(service.root), await makePrivateKey(service.root)]
    const made = await makeTag([first])
    const { privateKeyTagId } = made
    expect(made).toEqual({ privateKeyTagId, privateKeyIds: [first] })
    const change = { newPrivateKeyTagName: 'cold', addPrivateKeyIds: [second], removePrivateKeyIds: [first] }
    const update = { privateKeyTagId, ...change }
    expect(await complete(service.root, 'ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG', update)).toEqual({ privateKeyTagId })
    const tags = (await service.root.query('list_private_key_tags')).privateKeyTags
    expect(tags.find(({ tagId }) => tagId === privateKeyTagId)).toMatchObject({
      tagName: 'cold',
      tagType: 'TAG_TYPE_PRIVATE_KEY',
    })
    expect([(await read(first)).privateKeyTags, (await read(second)).privateKeyTags]).toEqual([[], [privateKeyTagId]])
    const deletion = { privateKeyTagIds: [privateKeyTagId] }
    expect(await complete(service.root, 'ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS', deletion)).toEqual({
      ...deletion,
      privateKeyIds: [second],
    })
    expect((await read(second)).privateKeyTags).toEqual([])
  })

  test.each<{ name: string; type: ActivityType; parameters: () => object | Promise<object>; expected: () => Refusal }>([
    {
      name: 'making one with an unknown key',
      type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG',
      parameters: () => ({ privateKeyTagName: 'x', privateKeyIds: [NOBODY] }),
      expected: () => missing(`private key not found: ${NOBODY}`),
    },
    {
      name: 'updating an unknown one',
      type: 'ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG',
      parameters: () => ({ privateKeyTagId: NOBODY, addPrivateKeyIds: [], removePrivateKeyIds: [] }),
      expected: () => missing(`private key tag not found: ${NOBODY}`),
    },
    {
      name: 'giving one to an unknown key',
      type: 'ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG',
      parameters: async () => ({ ...(await makeTag()), addPrivateKeyIds: [NOBODY], removePrivateKeyIds: [] }),
      expected: () => missing(`private key not found: ${NOBODY}`),
    },
    {
      name: 'taking one from an unknown key',
      type: 'ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG',
      parameters: async () => ({ ...(await makeTag()), addPrivateKeyIds: [], removePrivateKeyIds: [NOBODY] }),
      expected: () => missing(`private key not found: ${NOBODY}`),
    },
    {
      name: 'deleting an unknown one',
      type: 'ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS',
      parameters: () => ({ privateKeyTagIds: [NOBODY] }),
      expected: () => missing(`private key tag not found: ${NOBODY}`),
    },
  ])('private key tags: $name is refused', async ({ type, parameters, expected }) => {
    expect(await refusalOf(service.root.submit(type, await parameters()))).toEqual(expected())
  })

  test('private key tags: giving and taking at once is refused', async () => {
    const id = await makePrivateKey(service.root)
    const { privateKeyTagId } = await makeTag()
    const change = { privateKeyTagId, addPrivateKeyIds: [id], removePrivateKeyIds: [id] }
    const refusal = await refusalOf(service.root.submit('ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG', change))
    expect(refusal).toEqual(invalidField('addPrivateKeyIds, removePrivateKeyIds', `must not mention \`${id}\` twice`))
  })

  test('private key tags: those of users and of keys share one limit', async () => {
    const { organizationData } = await service.root.query('get_organization')
    for (let count = organizationData.tags.length; count < 100; count++) await makeTag()
    const full = exhausted('organization has exceeded maximum tags (100)')
    expect(await refusalOf(makeTag())).toEqual(full)
    const userTag = { userTagName: fresh('tag'), userIds: [] }
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', userTag))).toEqual(full)
  })
})

describe('private keys', () => {
  let bob: TestUser
  test('private keys: a policy by resource and action lets somebody make them and not delete them', async () => {
    bob = await createTestUser(service, 'bob')
    await allowAlone(service, bob, "activity.resource == 'PRIVATE_KEY' && activity.action == 'CREATE'")
    const privateKeyId = await makePrivateKey(bob.client)
    const deletion = { privateKeyIds: [privateKeyId], deleteWithoutExport: true }
    const refusal = await refusalOf(bob.client.submit('ACTIVITY_TYPE_DELETE_PRIVATE_KEYS', deletion))
    expect(refusal.slice(0, 2)).toEqual([403, 7])
  })

  test('private keys: the thousand and first is refused', async () => {
    const { length } = await list()
    const many = Array.from({ length: 1000 - length }, () => newPrivateKey({ addressFormats: [] }))
    await create(...many)
    const refusal = await refusalOf(create(newPrivateKey()))
    expect(refusal).toEqual(exhausted('organization has exceeded maximum private keys (1000)'))
    expect(await list()).toHaveLength(1000)
  })
})
