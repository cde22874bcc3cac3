/** A leaked key: an attacker works with it while it is found, cut off and proved dead. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { TEST_PAYLOAD_KEY } from '../payload-key.ts'
import { complete } from '../service/handlers/steps.ts'
import { createTestUser, Refused, startTestService, type TestClient, type TestService } from '../service/harness.ts'
import { testTemporalEnvironment } from '../temporal.ts'
import { countActivities, environmentOf, keyFile, quorateShared as quorate, testFolder, writeFiles } from './harness.ts'
import { startWorker } from './started-worker.ts'

const apiKey = (apiKeyName: string, publicKey: string) => ({ apiKeyName, publicKey, curveType: 'API_KEY_CURVE_P256' })

async function open() {
  const service = await startTestService()
  onTestFinished(() => service.close())
  const folder = testFolder()
  const env = environmentOf(service, folder, service.root.privateKey)
  const { userId, client } = await createTestUser(service, 'ci-bot')
  return { service, folder, env, userId, client }
}

const policy = (policyName: string, consensus: string, condition: string) => ({
  policyName,
  effect: 'EFFECT_ALLOW',
  consensus,
  condition,
  notes: '',
})

/** The API keeps the last credential of a user. */
async function addKey({ service, userId }: { readonly service: TestService; readonly userId: string }) {
  const honest = generateP256KeyPair()
  const apiKeys = [apiKey('honest', honest.publicKey)]
  await service.root.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId, apiKeys })
  return honest
}

/** By the key: another key, by that one a third, a policy, and a tag that waits for somebody else. */
async function attack({ service, userId, client }: { service: TestService; userId: string; client: TestClient }) {
  const ci = `approvers.any(user, user.id == '${userId}')`
  await service.root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', policy('ci', ci, "activity.resource == 'POLICY'"))
  const two = `approvers.any(user, user.id == '${userId}') && approvers.count() >= 2`
  await service.root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', policy('two', two, "activity.resource == 'WALLET'"))
  const [second, third] = [generateP256KeyPair(), generateP256KeyPair()]
  const own = (publicKey: string, name: string) => ({ userId, apiKeys: [apiKey(name, publicKey)] })
  await client.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', own(second.publicKey, 'second'))
  await service.client(second.privateKey).submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', own(third.publicKey, 'third'))
  await client.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', policy('backdoor', ci, "activity.resource == 'USER'"))
  // What it made it changes, and what others made too.
  const { policies } = await service.root.query('list_policies', {})
  for (const { policyId, policyName } of policies.filter(({ policyName }) => ['backdoor', 'two'].includes(policyName)))
    await client.submit('ACTIVITY_TYPE_UPDATE_POLICY_V2', { policyId, policyNotes: `not what ${policyName} says` })
  const waiting = await client.submit('ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'mine', accounts: [] })
  expect(waiting.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
  return { second, third, waiting }
}

/** By the key: a signature, and one that fails, for the key to sign with is not there; gives the activity of the first. */
async function signTwice({ service, userId, client }: { service: TestService; userId: string; client: TestClient }) {
  const ci = `approvers.any(user, user.id == '${userId}')`
  await service.root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', policy('sign', ci, "activity.action == 'SIGN'"))
  const { privateKeys } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', {
    privateKeys: [
      {
        privateKeyName: 'hot',
        curve: 'CURVE_SECP256K1',
        privateKeyTags: [],
        addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
      },
    ],
  })
  const sign = (signWith: string) =>
    client.submit('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', {
      signWith,
      payload: 'ab'.repeat(32),
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    })
  const { id, status } = await sign(privateKeys[0]!.privateKeyId!)
  expect(status).toBe('ACTIVITY_STATUS_COMPLETED')
  await sign('00000000-0000-4000-8000-000000000000').catch(() => {})
  return id
}

test('incident key: it is found, cut off with what it made, and proved dead; what it did is told whole', async () => {
  const stage = await open()
  const { service, folder, env, client } = stage
  const honest = await addKey(stage)
  const { second, third, waiting } = await attack(stage)
  const beyond = await signTwice(stage)
  const before = await countActivities(service)

  const looked = await quorate(['incident', 'key', client.publicKey, '--json'], { env, cwd: folder })
  expect(looked.exit, looked.stderr).toBe(0)
  const [found] = JSON.parse(looked.stdout).organizations
  expect(found.exposure).toMatchObject({ user: { name: 'ci-bot' }, key: { name: 'ci-bot-key' } })
  expect(found.exposure.others.map(({ name }: { name: string }) => name)).toEqual(['honest', 'second', 'third'])
  expect(found.reach).toContainEqual(expect.objectContaining({ power: 'policies', alone: true }))
  const { activities } = await service.root.query('list_activities', { paginationOptions: { limit: '100' } })
  const its = activities.filter(({ votes }) => votes.some(({ publicKey }) => publicKey === client.publicKey))
  const acted = found.acts.filter(({ part }: { part: string }) => part !== 'about')
  expect(acted.map(({ id }: { id: string }) => id).sort()).toEqual(its.map(({ id }) => id).sort())
  expect(found.left).toContainEqual(expect.objectContaining({ address: 'policy.backdoor', did: 'made' }))
  expect(found.left).toContainEqual(expect.objectContaining({ address: 'policy.two', did: 'changed' }))
  expect(found.beyond.map(({ id }: { id: string }) => id)).toEqual([beyond])
  expect(await countActivities(service)).toBe(before)

  const leaked = keyFile(folder, 'leaked', client.privateKey)
  const contain = ['incident', 'key', client.publicKey, '--contain', '--leaked-key-file', leaked, '--json']
  const unsure = await quorate(contain, { env, cwd: folder })
  expect([unsure.exit, unsure.stderr]).toEqual([1, expect.stringContaining('cli/not-confirmed')])
  const cut = await quorate([...contain, '--yes'], { env, cwd: folder })
  expect(cut.exit, cut.stderr + cut.stdout).toBe(0)
  const report = JSON.parse(cut.stdout)
  const [own] = report.organizations
  expect(own.cuts.map(({ what, outcome }: { what: string; outcome: string }) => `${outcome} ${what}`)).toEqual([
    'done delete API key ci-bot-key of ci-bot',
    'done delete API key second of ci-bot, which the key made',
    'done delete API key third of ci-bot, which the key made',
    `done reject CREATE_WALLET ${waiting.id}`,
  ])
  expect(own.proof).toBe('refused')
  expect(own.reach).toContainEqual(expect.objectContaining({ power: 'policies', alone: true }))
  for (const dead of [client, service.client(second.privateKey), service.client(third.privateKey)])
    await expect(dead.query('whoami')).rejects.toThrow(Refused)
  expect(await service.client(honest.privateKey).query('whoami')).toMatchObject({ username: 'ci-bot' })
  const timeline = readFileSync(report.timeline, 'utf8')
  for (const { id } of its) expect(timeline).toContain(id)
  expect(timeline.split('### What cannot be taken back')[1]).toContain(beyond)
  for (const text of [cut.stdout, cut.stderr, timeline]) expect(text).not.toContain(client.privateKey)

  // What it left is taken back by a plan that people read and apply, and by nothing else.
  const submitted = await countActivities(service)
  const look = await quorate(['incident', 'key', client.publicKey, '--revert', 'revert.json', '--json'], {
    env,
    cwd: folder,
  })
  expect(JSON.parse(look.stdout).revert).toMatchObject({ plan: 'revert.json', deletes: ['policy.backdoor'] })
  expect(await countActivities(service)).toBe(submitted)
  const shown = await quorate(['show', 'revert.json'], { env, cwd: folder })
  expect([shown.exit, shown.stdout]).toEqual([0, expect.stringContaining('- policy.backdoor')])
  const working = { ...env, ...(await testTemporalEnvironment()), QUORATE_PAYLOAD_KEY: TEST_PAYLOAD_KEY }
  await startWorker(working)
  const applied = await quorate(['apply', 'revert.json', '--yes'], { env: working, cwd: folder })
  expect(applied.exit, applied.stderr).toBe(0)
  const { policies } = await service.root.query('list_policies', {})
  expect(policies.map(({ policyName }) => policyName)).toEqual(expect.not.arrayContaining(['backdoor']))
  expect(policies.map(({ policyName }) => policyName)).toEqual(expect.arrayContaining(['ci', 'two']))

  const again = await quorate([...contain, '--yes'], { env, cwd: folder })
  expect([again.exit, again.stderr]).toEqual([0, ''])
  writeFiles(join(folder, 'defs'), {
    'acme.yaml': `organization: acme\nid: ${service.organizationId}\nusers:\n  ci-bot:\n    apiKeys:\n      k: { curve: P256, publicKey: "${client.publicKey}" }\n`,
  })
  const plan = await quorate(['plan', 'defs'], { env, cwd: folder })
  expect([plan.exit, plan.stderr]).toEqual([1, expect.stringContaining('cli/compromised-key')])
  expect(plan.stderr).toContain('acme.yaml:6:7')
})

/** Somebody, or the attacker with another key, has deleted the key already. */
async function deleteKey({ service, userId, client }: { service: TestService; userId: string; client: TestClient }) {
  const { user } = await service.root.query('get_user', { userId })
  const { apiKeyId } = user.apiKeys.find(({ credential }) => credential.publicKey === client.publicKey)!
  await service.root.submit('ACTIVITY_TYPE_DELETE_API_KEYS', { userId, apiKeyIds: [apiKeyId] })
}

test('incident key: of a key that is registered no more, what it made and what waits of that is cut all the same', async () => {
  const stage = await open()
  const { service, folder, env, client } = stage
  const honest = await addKey(stage)
  const { second, third, waiting } = await attack(stage)
  // By a key that it made.
  const { id } = await service
    .client(third.privateKey)
    .submit('ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'mine too', accounts: [] })
  await deleteKey(stage)
  const looked = await quorate(['incident', 'key', client.publicKey], { env, cwd: folder })
  expect(looked.stdout).toContain('ci-bot, whose key it was: it is no longer registered')
  const cut = await quorate(['incident', 'key', client.publicKey, '--contain', '--yes', '--json'], { env, cwd: folder })
  expect(cut.exit, cut.stderr + cut.stdout).toBe(0)
  const [own] = JSON.parse(cut.stdout).organizations
  expect(own.cuts.map(({ what, outcome }: { what: string; outcome: string }) => `${outcome} ${what}`)).toEqual([
    'done delete API key second of ci-bot, which the key made',
    'done delete API key third of ci-bot, which the key made',
    `done reject CREATE_WALLET ${id}`,
    `done reject CREATE_WALLET ${waiting.id}`,
  ])
  for (const dead of [second, third])
    await expect(service.client(dead.privateKey).query('whoami')).rejects.toThrow(Refused)
  expect(await service.client(honest.privateKey).query('whoami')).toMatchObject({ username: 'ci-bot' })
})

test('incident key: where all that a user has left was made by a key that is gone, it is denied once, and deleted on command', async () => {
  const stage = await open()
  const { service, folder, env, userId, client } = stage
  const { second, third } = await attack(stage)
  await deleteKey(stage)
  const contain = ['incident', 'key', client.publicKey, '--contain', '--yes']
  const first = await quorate(contain, { env, cwd: folder })
  expect(first.exit, first.stderr).toBe(6)
  expect(first.stdout).toMatch(
    /refused: delete API key third of ci-bot, which the key made: .*user missing valid credential/,
  )
  expect(first.stdout).toContain('--delete-user')
  await expect(service.client(second.privateKey).query('whoami')).rejects.toThrow(Refused)
  const more = { userId, apiKeys: [apiKey('more', generateP256KeyPair().publicKey)] }
  await expect(service.client(third.privateKey).submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', more)).rejects.toThrow(
    Refused,
  )
  const denials = async () => {
    const { policies } = await service.root.query('list_policies', {})
    return policies.filter(({ effect }) => effect === 'EFFECT_DENY').length
  }
  expect(await denials()).toBe(1)
  expect((await quorate(contain, { env, cwd: folder })).exit).toBe(6)
  expect(await denials()).toBe(1)
  const gone = await quorate([...contain, '--delete-user'], { env, cwd: folder })
  expect([gone.exit, gone.stderr]).toEqual([0, expect.stringContaining('delete user ci-bot')])
  await expect(service.client(third.privateKey).query('whoami')).rejects.toThrow(Refused)
})

test('incident key: where others must approve it says so and asks for a denial as well, once, however often it is run', async () => {
  const stage = await open()
  const { service, folder, env, client, userId } = stage
  await addKey(stage)
  const bob = await createTestUser(service, 'bob')
  const userIds = [service.rootUserId, bob.userId]
  await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
  const contain = ['incident', 'key', client.publicKey, '--contain', '--yes']
  const first = await quorate([...contain, '--json'], { env, cwd: folder })
  expect(first.exit, first.stderr).toBe(3)
  const [{ cuts, proof }] = JSON.parse(first.stdout).organizations
  expect([cuts.map(({ outcome }: { outcome: string }) => outcome), proof]).toEqual([['waits', 'waits'], 'registered'])
  const byBob = { outcome: 'waits', needed: [['bob']], any: { count: 1, of: ['bob'] } }
  expect(cuts.map(({ needed }: { needed: object }) => needed)).toEqual([byBob, byBob])
  const before = await countActivities(service)
  const second = await quorate(contain, { env, cwd: folder })
  expect(second.exit).toBe(3)
  expect(await countActivities(service)).toBe(before)
  expect(second.stdout).toMatch(/next +(\S+) waits for bob: `quorate approve \1`/)
  // The denial alone stops the key, also for what it may do by itself.
  await bob.client.approve(cuts[1].fingerprint)
  const more = { userId, apiKeys: [apiKey('more', generateP256KeyPair().publicKey)] }
  await expect(client.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', more)).rejects.toThrow(Refused)
  await bob.client.approve(cuts[0].fingerprint)
  const done = await quorate([...contain, '--json'], { env, cwd: folder })
  expect([done.exit, JSON.parse(done.stdout).organizations[0].proof]).toEqual([0, 'not registered'])
})

test('incident key: the key in use, and the only way in of a quorum that needs it, are not cut off', async () => {
  const { service, folder, env, userId, client } = await open()
  const own = await quorate(['incident', 'key', service.root.publicKey, '--contain', '--yes'], { env, cwd: folder })
  expect([own.exit, own.stderr]).toEqual([4, expect.stringContaining('cli/lock-out')])
  await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 1, userIds: [userId] })
  const other = await quorate(['incident', 'key', client.publicKey, '--contain', '--yes'], { env, cwd: folder })
  expect([other.exit, other.stderr]).toEqual([4, expect.stringContaining('quorate rotate key --user ci-bot')])
  expect(await client.query('whoami')).toMatchObject({ userId })
})

test('incident key: organizations inside have it too; what is not in the power of the key in use is told', async () => {
  const stage = await open()
  const { service, folder, env, client } = stage
  await addKey(stage)
  const ann = generateP256KeyPair()
  const rootUsers = [
    { userName: 'ann', apiKeys: [apiKey('laptop', ann.publicKey)], authenticators: [], oauthProviders: [] },
    { userName: 'ci', apiKeys: [apiKey('ci', client.publicKey)], authenticators: [], oauthProviders: [] },
  ]
  const made = await service.root.submit('ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7', {
    subOrganizationName: 'customer',
    rootUsers,
    rootQuorumThreshold: 1,
  })
  expect(made.status).toBe('ACTIVITY_STATUS_COMPLETED')
  const contain = ['incident', 'key', client.publicKey, '--contain', '--yes', '--json']
  const first = await quorate(contain, { env, cwd: folder })
  expect(first.exit, first.stderr).toBe(6)
  const outcomes = (text: string) =>
    JSON.parse(text).organizations.map((one: { organization: { name: string }; proof: string }) => [
      one.organization.name,
      one.proof,
    ])
  expect(outcomes(first.stdout)).toEqual([
    [expect.any(String), 'not registered'],
    ['customer', 'registered'],
  ])
  keyFile(folder, 'customer', ann.privateKey)
  const inside = [...contain, '--sub-organization-keys', folder]
  const denied = await quorate(inside, { env, cwd: folder })
  expect(denied.exit).toBe(6)
  const { cuts } = JSON.parse(denied.stdout).organizations[1]
  expect(cuts.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['refused', 'done', 'done'])
  const gone = await quorate([...inside, '--delete-user'], { env, cwd: folder })
  expect(gone.exit, gone.stderr + gone.stdout).toBe(0)
  expect(outcomes(gone.stdout)).toEqual([
    [expect.any(String), 'not registered'],
    ['customer', 'not registered'],
  ])
})
