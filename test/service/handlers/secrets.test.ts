import { decryptSecretBundle, encryptSecretToBundle, generateP256KeyPair } from '@turnkey/crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestClock, createTestUser, startTestService, type TestService, type TestUser } from '../harness.ts'
import { storedBytes } from '../rows.ts'
import {
  addTenant,
  complete,
  fresh,
  invalid,
  invalidField,
  missing,
  NOBODY,
  type Refusal,
  refusalOf,
  type Tenant,
  taken,
} from './steps.ts'

const clock = createTestClock()
const encryptionSuite = 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1'
const WORDS = 'a secret that nobody else reads ✓'
let service: TestService
let stranger: Tenant
let desk: TestUser
let pinned: { readonly organizationId: string; readonly dangerouslyOverrideSignerPublicKey: string }
beforeAll(async () => {
  service = await startTestService({ clock })
  stranger = await addTenant(service)
  desk = await createTestUser(service, 'desk')
  pinned = {
    organizationId: service.organizationId,
    dangerouslyOverrideSignerPublicKey: service.service.bootstrap.signerPublicKey,
  }
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
    policyName: 'low secrets',
    effect: 'EFFECT_ALLOW',
    consensus: `approvers.any(user, user.id == '${desk.userId}')`,
    condition: "activity.kind == 'EXPORT_SECRETS' && secret.static_properties['level'] == 'low'",
  })
})
afterAll(() => service.close())

const init = (numSecrets: number, client = service.root) =>
  complete(client, 'ACTIVITY_TYPE_INIT_IMPORT_SECRETS', { encryptionSuite, numSecrets })

/** One entry of `import_secrets`, encrypted to a target of its own. */
async function newSecret(text: string, overrides: object = {}, client = service.root) {
  const { enclaveTargetMessages } = await init(1, client)
  const bundle = { plaintext: text, ingressTargetBundle: enclaveTargetMessages[0]!, ...pinned }
  return { ...(await encryptSecretToBundle(bundle)), encryptionSuite, ...overrides }
}
const importAll = async (...secrets: object[]) =>
  (await complete(service.root, 'ACTIVITY_TYPE_IMPORT_SECRETS', { secrets })).secretIds
const property = (key: string, value: string) => ({ staticProperties: [{ key, value }] })

/** One entry of `export_secrets`, and how the published library opens what comes. */
function wanted(secretId: string) {
  const { privateKey, publicKeyUncompressed: targetPublicKey } = generateP256KeyPair()
  const open = (secretPayload: string) =>
    decryptSecretBundle({ secretPayload, embeddedPrivateKey: privateKey, ...pinned })
  return { entry: { secretId, targetPublicKey, encryptionSuite }, open }
}

describe('secrets', () => {
  test('secrets: what the published library encrypts comes back as it was, in the order asked for, and stands nowhere', async () => {
    const name = fresh('token')
    const ids = await importAll(
      await newSecret(WORDS, { name, ...property('level', 'low') }),
      await newSecret('another', property('level', 'high')),
    )
    const [one, two] = [wanted(ids[1]!), wanted(ids[0]!)]
    const { secretPayloads } = await complete(service.root, 'ACTIVITY_TYPE_EXPORT_SECRETS', {
      secrets: [one.entry, two.entry],
    })
    expect(await one.open(secretPayloads[0]!)).toBe('another')
    expect(await two.open(secretPayloads[1]!)).toBe(WORDS)
    const { secrets } = await service.root.query('list_secrets')
    const createdAtUnixMs = String(clock())
    expect(secrets).toEqual([
      { secretId: ids[1], ...property('level', 'high'), createdAtUnixMs },
      { secretId: ids[0], name, ...property('level', 'low'), createdAtUnixMs },
    ])
    expect((await storedBytes(service.dataDir)).includes(WORDS)).toBe(false)
  })

  test('secrets: they are listed in pages, newest first, and a cursor of nobody is refused', async () => {
    const ids = await importAll(await newSecret('1'), await newSecret('2'), await newSecret('3'))
    const page = async (paginationOptions: object) =>
      (await service.root.query('list_secrets', { paginationOptions })).secrets.map(({ secretId }) => secretId)
    expect(await page({ limit: '2' })).toEqual([ids[2], ids[1]])
    expect(await page({ limit: '1', before: ids[2] })).toEqual([ids[1]])
    expect(await page({ limit: '1', after: ids[0] })).toEqual([ids[1]])
    expect((await refusalOf(page({ before: NOBODY })))[0]).toBe(400)
    const organizationId = stranger.organizationId
    const elsewhere = stranger.client.query('list_secrets', { organizationId, paginationOptions: { before: ids[0] } })
    expect((await refusalOf(elsewhere))[0]).toBe(400)
    expect((await stranger.client.query('list_secrets', { organizationId })).secrets).toEqual([])
  })

  test('secrets: a target serves its user and once; a failed import takes no target and leaves no secret', async () => {
    const before = (await service.root.query('list_secrets')).secrets
    const secret = await newSecret('once')
    const other = await newSecret('desk', {}, service.root)
    const swapped = { ...secret, targetPublicKey: other.targetPublicKey }
    expect(await refusalOf(importAll(swapped))).toEqual(
      invalidField('secretPayload', 'does not open with any import target of this user'),
    )
    expect(await refusalOf(importAll(secret, secret))).toEqual(
      invalidField('targetPublicKey', `must not mention \`${secret.targetPublicKey}\` twice`),
    )
    expect((await service.root.query('list_secrets')).secrets).toEqual(before)
    await importAll(secret)
    expect((await refusalOf(importAll(secret)))[0]).toBe(404)
    const late = await newSecret('late')
    clock.advance(24 * 60 * 60 * 1000 + 1_000)
    expect((await refusalOf(importAll(late)))[0]).toBe(404)
  })

  test.each<{ name: string; overrides: () => Promise<object> | object; expected: Refusal }>([
    {
      name: 'an empty secret',
      overrides: () => newSecret(''),
      expected: invalidField('secretPayload', 'must not be empty'),
    },
    {
      name: 'a secret that is too large',
      overrides: () => newSecret('x'.repeat(65_537)),
      expected: invalidField('secretPayload', 'must hold at most 65536 bytes'),
    },
    {
      name: 'a payload that is no bundle',
      overrides: () => ({ secretPayload: 'x' }),
      expected: invalidField('secretPayload', 'must be JSON with `encappedPublic` and `ciphertext` in hex'),
    },
    {
      name: 'another suite',
      overrides: () => ({ encryptionSuite: 'TRANSPORT_ENCRYPTION_SUITE_NONE' }),
      expected: invalid(expect.stringContaining('encryptionSuite')),
    },
    {
      name: 'a property without a key',
      overrides: () => property('', 'x'),
      expected: invalidField('staticProperties.key', 'must not be empty'),
    },
    {
      name: 'a property that is given twice',
      overrides: () => ({ staticProperties: [...property('a', '1').staticProperties, { key: 'a', value: '2' }] }),
      expected: invalidField('staticProperties.key', 'must not mention `a` twice'),
    },
    {
      name: 'a property that is too long',
      overrides: () => property('a', 'x'.repeat(257)),
      expected: invalidField('staticProperties', 'must have at most 256 characters in a key or a value'),
    },
  ])('secrets: $name is refused', async ({ overrides, expected }) => {
    expect(await refusalOf(importAll({ ...(await newSecret('x')), ...(await overrides()) }))).toEqual(expected)
  })

  test('secrets: a name is one of a kind in its organization', async () => {
    const name = fresh('name')
    await importAll(await newSecret('1', { name }))
    expect(await refusalOf(importAll(await newSecret('2', { name })))).toEqual(
      taken(`secret with name ${name} already exists in this organization`),
    )
  })

  test('secrets: of one activity there may be 32', async () => {
    expect(await refusalOf(init(33))).toEqual(invalidField('numSecrets', 'must be from 1 to 32'))
    expect((await refusalOf(init(0)))[0]).toBe(400)
    const first = await newSecret('made before the others')
    expect((await init(32)).enclaveTargetMessages).toHaveLength(32)
    expect((await refusalOf(importAll(first)))[0]).toBe(404)
    await importAll(await newSecret('made after the others'))
    const { entry } = wanted(NOBODY)
    const secrets = Array.from({ length: 33 }, () => entry)
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_EXPORT_SECRETS', { secrets }))).toEqual(
      invalidField('secrets', 'must be from 1 to 32'),
    )
  })

  test('secrets: a policy decides about each by its properties, and one that it does not allow refuses all', async () => {
    const [low, high, plain] = await importAll(
      await newSecret('low', property('level', 'low')),
      await newSecret('high', property('level', 'high')),
      await newSecret('plain'),
    )
    const ask = (...ids: string[]) =>
      desk.client.submit('ACTIVITY_TYPE_EXPORT_SECRETS', { secrets: ids.map((id) => wanted(id).entry) })
    expect((await ask(low!)).status).toBe('ACTIVITY_STATUS_COMPLETED')
    for (const ids of [[high!], [plain!], [low!, high!]]) expect((await refusalOf(ask(...ids)))[0]).toBe(403)
    const denied = desk.client.submit('ACTIVITY_TYPE_INIT_IMPORT_SECRETS', { encryptionSuite, numSecrets: 1 })
    expect((await refusalOf(denied))[0]).toBe(403)
  })

  test('secrets: one of another organization is not there, and a key to export to must be one', async () => {
    const [secretId] = await importAll(await newSecret('mine'))
    const ask = (entry: object) =>
      stranger.client.submit(
        'ACTIVITY_TYPE_EXPORT_SECRETS',
        { secrets: [entry] },
        { organizationId: stranger.organizationId },
      )
    expect(await refusalOf(ask(wanted(secretId!).entry))).toEqual(missing(`secret not found: ${secretId}`))
    expect(await refusalOf(ask(wanted(NOBODY).entry))).toEqual(missing(`secret not found: ${NOBODY}`))
    const twice = { secrets: [wanted(secretId!).entry, wanted(secretId!).entry] }
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_EXPORT_SECRETS', twice))).toEqual(
      invalidField('secretId', `must not mention \`${secretId}\` twice`),
    )
    const badKey = { ...wanted(secretId!).entry, targetPublicKey: '04' }
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_EXPORT_SECRETS', { secrets: [badKey] }))).toEqual(
      invalidField('targetPublicKey', 'must be a P-256 public key in hex'),
    )
  })
})
