/** A plan back to what was before a suspect's activities: what it restores, what it leaves, and that its apply ends there. */
import { expect, onTestFinished, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { TEST_PAYLOAD_KEY } from '../payload-key.ts'
import { complete } from '../service/handlers/steps.ts'
import { createTestUser, startTestService, type TestService } from '../service/harness.ts'
import { testTemporalEnvironment } from '../temporal.ts'
import { countActivities, environmentOf, quorateShared as quorate, testFolder } from './harness.ts'
import { startWorker } from './started-worker.ts'

const policy = (policyName: string, condition: string, consensus = 'true') => ({
  policyName,
  effect: 'EFFECT_ALLOW',
  consensus,
  condition,
  notes: `what ${policyName} is for`,
})
const keys = (apiKeyName: string) => [
  { apiKeyName, publicKey: generateP256KeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' as const },
]

/** Mallory, a member of the root quorum who alone is enough; ann, who has a tag that a policy names; bob; a wallet. */
async function open() {
  const service = await startTestService()
  onTestFinished(() => service.close())
  const folder = testFolder()
  const env = environmentOf(service, folder, service.root.privateKey)
  const { root } = service
  const { userId: mallory, client } = await createTestUser(service, 'mallory')
  const { userTagId } = await complete(root, 'ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'ops', userIds: [] })
  const user = (userName: string, userTags: readonly string[]) => ({
    userName,
    userTags,
    apiKeys: keys('laptop'),
    authenticators: [],
    oauthProviders: [],
  })
  const { userIds } = await complete(root, 'ACTIVITY_TYPE_CREATE_USERS_V3', {
    users: [user('ann', [userTagId!]), user('bob', [])],
  })
  const [ann, bob] = userIds as [string, string]
  const ids: Record<string, string> = {}
  for (const one of [
    policy('tagged', "activity.resource == 'WALLET'", `approvers.any(user, user.tags.contains('${userTagId}'))`),
    policy('limits', "activity.resource == 'POLICY'", 'approvers.count() >= 2'),
    policy('shared', "activity.resource == 'USER'", 'approvers.count() >= 2'),
    policy('gone', "activity.resource == 'PRIVATE_KEY'", 'approvers.count() >= 2'),
  ])
    ids[one.policyName] = (await complete(root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', one)).policyId!
  const { walletId } = await complete(root, 'ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'treasury', accounts: [] })
  await root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 1, userIds: [service.rootUserId, mallory] })
  return { service, folder, env, client, mallory, ann, bob, userTagId: userTagId!, ids, walletId: walletId! }
}

/** What lives, by name, without ids of what an incident may make anew. */
async function stateOf({ root, organizationId }: TestService) {
  const { policies } = await root.query('list_policies', {})
  const { users } = await root.query('list_users', {})
  const { userTags } = await root.query('list_user_tags', {})
  const { wallets } = await root.query('list_wallets', {})
  const { organizationData } = await root.query('get_organization', { organizationId })
  const names = new Map(userTags.map(({ tagId, tagName }) => [tagId, tagName]))
  const called = (text: string | undefined) =>
    [...names].reduce((all, [id, name]) => all.replaceAll(id, name), text ?? '')
  const { threshold, userIds } = organizationData.rootQuorum!
  return {
    policies: policies
      .map((one) => [one.policyName, one.effect, called(one.consensus), called(one.condition), one.notes])
      .sort(),
    users: users
      .map((one) => [
        one.userName,
        one.userEmail ?? '',
        one.userTags.map(called),
        one.apiKeys.map(({ credential }) => credential.publicKey),
      ])
      .sort(),
    tags: [...names.values()].sort(),
    wallets: wallets.map(({ walletName }) => walletName),
    quorum: [threshold, [...userIds].sort()],
  }
}

/** The environment of commands and of a worker that has started. */
async function withWorker(env: Readonly<Record<string, string>>) {
  const working = { ...env, ...(await testTemporalEnvironment()), QUORATE_PAYLOAD_KEY: TEST_PAYLOAD_KEY }
  await startWorker(working)
  return working
}

test('incident user --revert: what was changed and deleted is as before, what was made is gone, and a guard is passed by name', async () => {
  const stage = await open()
  const { service, folder, env, client, ann, bob, userTagId, ids, walletId } = stage
  const before = await stateOf(service)
  const act = (type: Parameters<typeof client.submit>[0], parameters: object) => complete(client, type, parameters)
  const backdoor = policy('limits', 'true')
  await act('ACTIVITY_TYPE_UPDATE_POLICY_V2', {
    policyId: ids['limits'],
    policyName: 'harmless',
    policyEffect: 'EFFECT_DENY',
    policyConsensus: 'true',
  })
  await act('ACTIVITY_TYPE_CREATE_POLICY_V3', { ...backdoor, policyName: 'limits' })
  await act('ACTIVITY_TYPE_DELETE_POLICY', { policyId: ids['gone'] })
  await act('ACTIVITY_TYPE_UPDATE_USER', { userId: bob, userName: 'bobby', userEmail: 'mallory@evil.example' })
  await act('ACTIVITY_TYPE_DELETE_USER_TAGS', { userTagIds: [userTagId] })
  await act('ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId: service.rootUserId, apiKeys: keys('stray') })
  await act('ACTIVITY_TYPE_CREATE_USERS_V3', {
    users: [{ userName: 'eve', userTags: [], apiKeys: keys('k'), authenticators: [], oauthProviders: [] }],
  })
  await act('ACTIVITY_TYPE_UPDATE_WALLET', { walletId, walletName: 'mine' })
  const { users } = await service.root.query('list_users', {})
  const eve = users.find(({ userName }) => userName === 'eve')!.userId
  await act('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 1, userIds: [service.rootUserId, stage.mallory, eve] })
  // What somebody else changed since is theirs.
  await act('ACTIVITY_TYPE_UPDATE_POLICY_V2', { policyId: ids['shared'], policyNotes: 'by mallory' })
  await service.root.submit('ACTIVITY_TYPE_UPDATE_POLICY_V2', { policyId: ids['shared'], policyNotes: 'by root' })
  expect(await stateOf(service)).not.toEqual(before)

  const submitted = await countActivities(service)
  const revert = ['incident', 'user', 'mallory', '--revert', 'revert.json']
  const looked = await quorate([...revert, '--json'], { env, cwd: folder })
  expect(looked.exit, looked.stderr).toBe(0)
  const said = JSON.parse(looked.stdout).revert
  expect(said).toMatchObject({
    plan: 'revert.json',
    guards: [],
    leaves: [{ what: 'policy.shared', why: expect.stringContaining('changed it afterwards by UPDATE_POLICY_V2') }],
  })
  expect(said.deletes.sort()).toEqual(['apiKey.root.stray', 'policy.limits', 'user.eve'])
  expect(said.restores.sort()).toEqual(
    [
      'policy.gone',
      'policy.harmless',
      'policy.tagged',
      'rootQuorum',
      'tag.ops',
      'user.ann',
      'user.bobby',
      'wallet.mine',
    ].sort(),
  )
  expect(await countActivities(service)).toBe(submitted)
  const applied = await quorate(['apply', 'revert.json', '--yes'], { env: await withWorker(env), cwd: folder })
  expect(applied.exit, applied.stderr).toBe(0)
  const changedSince = before.policies.map((one) => (one[0] === 'shared' ? [...one.slice(0, 4), 'by root'] : one))
  expect(await stateOf(service)).toEqual({ ...before, policies: changedSince })
  const again = await quorate([...revert, '--json'], { env, cwd: folder })
  expect(JSON.parse(again.stdout).revert).toMatchObject({ deletes: [], restores: [] })
  expect(ann).toBeDefined()
})

test('incident user --revert: a quorum is lowered only where a person says so; what is gone for good is told', async () => {
  const { service, folder, env, client, mallory, bob, walletId } = await open()
  await client.submit('ACTIVITY_TYPE_DELETE_WALLETS', { walletIds: [walletId], deleteWithoutExport: true })
  await complete(client, 'ACTIVITY_TYPE_DELETE_USERS', { userIds: [bob] })
  await client.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds: [service.rootUserId, mallory] })
  const revert = ['incident', 'user', 'mallory', '--revert', 'revert.json']
  const stopped = await quorate(revert, { env, cwd: folder })
  expect(stopped.exit, stopped.stderr).toBe(0)
  expect(stopped.stderr + stopped.stdout).toContain('restores rootQuorum, user.bob, apiKey.bob.laptop')
  expect(stopped.stderr + stopped.stdout).toContain('add --allow quorum-lowered')
  expect(stopped.stderr + stopped.stdout).toContain('wallet.treasury: it was deleted: its mnemonic goes with it')
  const passed = await quorate([...revert, '--allow', 'quorum-lowered', '--json'], { env, cwd: folder })
  expect(JSON.parse(passed.stdout).revert.guards).toEqual([])
})

test('incident key --revert: a credential that it gave its own user is deleted, its user stays managed, and a key that it made is told as a suspect', async () => {
  const { service, folder, env, client, mallory } = await open()
  const backup = generateP256KeyPair()
  const apiKeys = [{ apiKeyName: 'backup', publicKey: backup.publicKey, curveType: 'API_KEY_CURVE_P256' }]
  await complete(client, 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId: mallory, apiKeys })
  await complete(service.client(backup.privateKey), 'ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'sink', accounts: [] })
  const { stdout, stderr, exit } = await quorate(['incident', 'key', client.publicKey, '--revert', 'revert.json'], {
    env,
    cwd: folder,
  })
  expect(exit, stderr).toBe(0)
  expect(stderr).toContain('A plan that deletes apiKey.mallory.backup is in revert.json')
  const told = `made key  ${backup.publicKey}: 1 activity of its own, told by \`quorate incident key ${backup.publicKey}\``
  expect(stdout).toContain(told)
  const shown = await quorate(['show', 'revert.json', '--json'], { env, cwd: folder })
  expect(
    JSON.parse(shown.stdout).plan.changes.map((one: { action: string; address: string }) => [one.action, one.address]),
  ).toEqual([['delete', 'apiKey.mallory.backup']])
  const applied = await quorate(['apply', 'revert.json', '--yes'], { env: await withWorker(env), cwd: folder })
  expect(applied.exit, applied.stderr).toBe(0)
  const { users } = await service.root.query('list_users', {})
  expect(users.find(({ userId }) => userId === mallory)!.apiKeys.map(({ apiKeyName }) => apiKeyName)).not.toContain(
    'backup',
  )
})
