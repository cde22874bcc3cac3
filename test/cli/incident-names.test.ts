/** An incident whose suspect has named things after the ids of other things, so that a response harms who did nothing. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { generateP256KeyPair, uncompressP256 } from '../../src/crypto/index.ts'
import { complete, newKey, newUser } from '../service/handlers/steps.ts'
import { createTestUser, startTestService } from '../service/harness.ts'
import { createPasskey } from '../service/passkey.ts'
import { environmentOf, quorateShared as quorate, testFolder } from './harness.ts'

async function open(options: Parameters<typeof startTestService>[0] = {}) {
  const service = await startTestService({ allowedWebhookHosts: ['127.0.0.1'], ...options })
  onTestFinished(() => service.close())
  const folder = testFolder()
  const place = { env: environmentOf(service, folder, service.root.privateKey), cwd: folder }
  const { userId, client } = await createTestUser(service, 'mallory')
  await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 1, userIds: [service.rootUserId, userId] })
  return { service, folder, place, mallory: userId, client }
}

test('incident --revert: only what a result names as made is deleted, whatever names are ids of other things', async () => {
  const { service, folder, place, mallory, client } = await open()
  const { policyId } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
    policyName: 'brake',
    effect: 'EFFECT_DENY',
    consensus: 'true',
    condition: "activity.resource == 'EXPORT'",
    notes: '',
  })
  // A session of her own: the result names her as its user.
  await complete(client, 'ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2', {
    targetPublicKey: uncompressP256(generateP256KeyPair().publicKey),
    userId: mallory,
  })
  // A result that repeats a name.
  await complete(client, 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', {
    name: policyId,
    url: 'https://127.0.0.1:9/',
    subscriptions: [],
  })
  await complete(client, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
    policyName: 'backdoor',
    effect: 'EFFECT_ALLOW',
    consensus: 'true',
    condition: 'true',
    notes: '',
  })
  const looked = await quorate(['incident', 'key', client.publicKey, '--revert', 'revert.json', '--json'], place)
  expect(looked.exit, looked.stderr).toBe(0)
  expect(JSON.parse(looked.stdout).revert.deletes).toEqual(['policy.backdoor'])
  const { changes } = JSON.parse(readFileSync(join(folder, 'revert.json'), 'utf8'))
  expect(changes.map(({ address }: { address: string }) => address)).toEqual(['policy.backdoor'])
})

test('incident --contain: a name that is the id of a credential does not have that credential deleted', async () => {
  const { service, place, mallory, client } = await open()
  const bob = await createTestUser(service, 'bob')
  const keyOf = async (userId: string) =>
    (await service.root.query('get_api_keys', { userId })).apiKeys.map(({ apiKeyName, apiKeyId }) => [
      apiKeyName,
      apiKeyId,
    ])
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', {
    userId: mallory,
    apiKeys: [newKey({ apiKeyName: 'honest' })],
  })
  const honest = new Map((await keyOf(mallory)) as [string, string][]).get('honest')!
  const [[, bobs]] = (await keyOf(bob.userId)) as [[string, string]]
  for (const [userId, apiKeyName] of [
    [mallory, honest],
    [service.rootUserId, bobs],
  ] as const)
    await complete(client, 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId, apiKeys: [newKey({ apiKeyName })] })
  const cut = await quorate(
    ['incident', 'key', client.publicKey, '--contain', '--made-for-others', '--since', '1h', '--yes', '--json'],
    place,
  )
  expect(cut.exit, cut.stderr + cut.stdout).toBe(0)
  const namesOf = async (userId: string) => (await keyOf(userId)).map(([name]) => name)
  expect(await namesOf(mallory)).toEqual(['honest'])
  expect(await namesOf(bob.userId)).toEqual(['bob-key'])
  expect(await namesOf(service.rootUserId)).not.toContain(bobs)
})

test('incident --contain: what a key made by way of a key that lives no more, or by a login by e-mail, is deleted too', async () => {
  const { service, place, mallory, client } = await open()
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', {
    userId: mallory,
    apiKeys: [newKey({ apiKeyName: 'honest' })],
  })
  const [middle, last] = [generateP256KeyPair(), generateP256KeyPair()]
  const make = (apiKeyName: string, { publicKey }: { readonly publicKey: string }) => ({
    userId: mallory,
    apiKeys: [newKey({ apiKeyName, publicKey })],
  })
  const { apiKeyIds } = await complete(client, 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', make('middle', middle))
  await complete(service.client(middle.privateKey), 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', make('last', last))
  await complete(service.client(last.privateKey), 'ACTIVITY_TYPE_DELETE_API_KEYS', { userId: mallory, apiKeyIds })
  await complete(client, 'ACTIVITY_TYPE_UPDATE_USER', { userId: mallory, userEmail: 'mallory@evil.example' })
  await complete(service.root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', { name: 'FEATURE_NAME_EMAIL_AUTH' })
  await complete(client, 'ACTIVITY_TYPE_EMAIL_AUTH', {
    email: 'mallory@evil.example',
    targetPublicKey: uncompressP256(generateP256KeyPair().publicKey),
    apiKeyName: 'by mail',
  })
  const cut = await quorate(['incident', 'key', client.publicKey, '--contain', '--yes', '--json'], place)
  expect(cut.exit, cut.stderr + cut.stdout).toBe(0)
  const { apiKeys } = await service.root.query('get_api_keys', { userId: mallory })
  expect(apiKeys.map(({ apiKeyName }) => apiKeyName)).toEqual(['honest'])
})

test('incident --contain: a policy that denies nothing is not taken for the denial, and a taken name holds nothing up', async () => {
  const { service, place, mallory, client } = await open()
  const denial = { policyName: `incident user ${mallory}`, consensus: `approvers.any(user, user.id == '${mallory}')` }
  const idle = { ...denial, effect: 'EFFECT_DENY', condition: 'false', notes: '' }
  const { policyId } = await complete(client, 'ACTIVITY_TYPE_CREATE_POLICY_V3', idle)
  const contain = ['incident', 'user', 'mallory', '--contain', '--yes', '--json']
  const cut = await quorate(contain, place)
  expect(cut.exit, cut.stderr + cut.stdout).toBe(0)
  const made = async () =>
    (await service.root.query('list_policies', {})).policies.filter((one) => one.policyId !== policyId)
  expect(await made()).toEqual([
    expect.objectContaining({ effect: 'EFFECT_DENY', consensus: denial.consensus, condition: 'true' }),
  ])
  await quorate(contain, place)
  expect(await made()).toHaveLength(1)
})

test('incident --revert: what was done with a key that the suspect made is said to be left', async () => {
  const { service, place, mallory, client } = await open()
  const [second, idle] = [generateP256KeyPair(), generateP256KeyPair()]
  const apiKeys = [second, idle].map(({ publicKey }) => newKey({ publicKey }))
  await complete(client, 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId: mallory, apiKeys })
  const backdoor = { policyName: 'backdoor', effect: 'EFFECT_ALLOW', consensus: 'true', condition: 'true', notes: '' }
  await complete(service.client(second.privateKey), 'ACTIVITY_TYPE_CREATE_POLICY_V3', backdoor)
  const looked = await quorate(['incident', 'key', client.publicKey, '--revert', 'revert.json', '--json'], place)
  expect(looked.exit, looked.stderr).toBe(0)
  const { leaves } = JSON.parse(looked.stdout).revert
  expect(leaves).toEqual([
    { what: `API key ${second.publicKey}`, why: expect.stringContaining(`quorate incident key ${second.publicKey}`) },
  ])
})

test('incident: a name in a command to copy is one word of a shell, which runs nothing', async () => {
  const { service, place } = await open()
  const hostile = "$(touch owned); `touch owned`' -x"
  await complete(service.root, 'ACTIVITY_TYPE_UPDATE_USER_NAME', { userId: service.rootUserId, userName: hostile })
  const own = await quorate(['incident', 'key', service.root.publicKey, '--contain', '--yes', '--json'], place)
  expect(own.exit, own.stderr).toBe(4)
  const [, command] = /`(quorate rotate key .*)`$/s.exec(JSON.parse(own.stdout).error.next)!
  const printed = execFileSync('bash', ['-c', command!.replace('quorate', "printf '%s\\n'")], { cwd: place.cwd })
  expect(String(printed).split('\n').slice(0, 4)).toEqual(['rotate', 'key', '--user', hostile])
  expect(existsSync(join(place.cwd, 'owned'))).toBe(false)
})

test('incident --revert: what the suspect made and deleted again, and a key that had expired, are not made again', async () => {
  let aheadMs = -86_400_000
  const { service, place, client } = await open({ clock: () => Date.now() + aheadMs })
  const { userId: bob } = await createTestUser(service, 'bob')
  const { apiKeyIds } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', {
    userId: bob,
    apiKeys: [
      newKey({ apiKeyName: 'of an hour', expirationSeconds: '3600' }),
      newKey({ apiKeyName: 'of a month', expirationSeconds: '2592000' }),
    ],
  })
  aheadMs = 0
  const bait = { policyName: 'bait', effect: 'EFFECT_ALLOW', consensus: 'true', condition: 'true', notes: '' }
  const { policyId } = await complete(client, 'ACTIVITY_TYPE_CREATE_POLICY_V3', bait)
  await complete(client, 'ACTIVITY_TYPE_DELETE_POLICY', { policyId })
  const { userIds } = await complete(client, 'ACTIVITY_TYPE_CREATE_USERS_V3', { users: [newUser({ userName: 'eve' })] })
  await complete(client, 'ACTIVITY_TYPE_DELETE_USERS', { userIds })
  await complete(client, 'ACTIVITY_TYPE_DELETE_API_KEYS', { userId: bob, apiKeyIds })
  const looked = await quorate(['incident', 'user', 'mallory', '--revert', 'revert.json', '--json'], place)
  expect(looked.exit, looked.stderr).toBe(0)
  const { deletes, restores, leaves } = JSON.parse(looked.stdout).revert
  expect({ deletes, restores }).toEqual({ deletes: [], restores: ['apiKey.bob["of a month"]'] })
  expect(leaves).toEqual([{ what: 'apiKey.bob["of an hour"]', why: expect.stringContaining('expired') }])
})

test('incident --contain: what came with a user that was made goes too, a passkey as well as a key', async () => {
  const { service, place, client } = await open()
  const eve = newUser({ userName: 'eve', authenticators: [createPasskey().register(), createPasskey().register()] })
  const { userIds } = await complete(client, 'ACTIVITY_TYPE_CREATE_USERS_V3', { users: [eve] })
  // Somebody else's, of afterwards.
  const apiKeys = [newKey({ apiKeyName: 'honest' })]
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId: userIds[0]!, apiKeys })
  const contain = ['incident', 'user', 'mallory', '--contain', '--made-for-others', '--since', '1h', '--yes', '--json']
  const cut = await quorate(contain, place)
  expect(cut.exit, cut.stderr + cut.stdout).toBe(0)
  const { user } = await service.root.query('get_user', { userId: userIds[0]! })
  expect([user.authenticators, user.apiKeys.map(({ apiKeyName }) => apiKeyName)]).toEqual([[], ['honest']])
})
