/** A user of whose credentials none is trusted any more: found, cut off, proved, told; the reconciler is held. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { TEST_PAYLOAD_KEY } from '../payload-key.ts'
import { allowAlone, createTestUser, Refused, startTestService } from '../service/harness.ts'
import { countActivities, environmentOf, keyFile, quorateShared as quorate, testFolder, writeFiles } from './harness.ts'
import { scene } from './scene.ts'

const apiKey = (apiKeyName: string, publicKey: string) => ({ apiKeyName, publicKey, curveType: 'API_KEY_CURVE_P256' })

/** Ann in the root quorum, with two keys, of which one is registered inside as well, and a request of hers that waits. */
async function open() {
  const service = await startTestService()
  onTestFinished(() => service.close())
  const folder = testFolder()
  const env = environmentOf(service, folder, service.root.privateKey)
  const { userId, client } = await createTestUser(service, 'ann')
  const second = generateP256KeyPair()
  const apiKeys = [apiKey('second', second.publicKey)]
  await service.root.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId, apiKeys })
  const bob = generateP256KeyPair()
  const rootUsers = [
    { userName: 'bob', apiKeys: [apiKey('laptop', bob.publicKey)], authenticators: [], oauthProviders: [] },
    {
      userName: 'ann inside',
      apiKeys: [apiKey('k', second.publicKey), apiKey('other', generateP256KeyPair().publicKey)],
      authenticators: [],
      oauthProviders: [],
    },
  ]
  const customer = { subOrganizationName: 'customer', rootUsers, rootQuorumThreshold: 1 }
  await service.root.submit('ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7', customer)
  const two = {
    policyName: 'two',
    effect: 'EFFECT_ALLOW',
    consensus: `approvers.any(user, user.id == '${userId}') && approvers.count() >= 2`,
    condition: "activity.resource == 'WALLET'",
    notes: '',
  }
  await service.root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', two)
  const waiting = await client.submit('ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'mine', accounts: [] })
  expect(waiting.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
  const members = { threshold: 1, userIds: [service.rootUserId, userId] }
  await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', members)
  const keys = { laptop: client, second: service.client(second.privateKey) }
  return { service, folder, env, userId, keys, bob, waiting }
}

const ownCuts = (stdout: string): string[] =>
  JSON.parse(stdout).organizations[0].cuts.map((one: { what: string; outcome: string }) => `${one.outcome} ${one.what}`)

test('incident user: denied first, out of the quorum, one credential left; inside too; then deleted on command', async () => {
  const { service, folder, env, userId, keys, bob, waiting } = await open()
  const before = await countActivities(service)
  const looked = await quorate(['incident', 'user', 'ann', '--json'], { env, cwd: folder })
  expect(looked.exit, looked.stderr).toBe(0)
  const [own, customer] = JSON.parse(looked.stdout).organizations
  expect(own.exposure.others.map(({ name }: { name: string }) => name)).toEqual(['ann-key', 'second'])
  expect(own.reach).toContainEqual(expect.objectContaining({ power: 'quorum', alone: true }))
  expect(own.acts).toContainEqual(expect.objectContaining({ id: waiting.id, part: 'requested' }))
  expect(customer.exposure).toMatchObject({ organization: { name: 'customer' }, key: { name: 'k' } })
  expect(await countActivities(service)).toBe(before)

  const contain = ['incident', 'user', userId, '--contain', '--sub-organization-keys', folder, '--yes', '--json']
  // A key file that others may read is refused, and leaves no other organization uncut.
  writeFiles(folder, { 'customer.key': `${bob.privateKey}\n` })
  const unread = await quorate(contain, { env, cwd: folder })
  expect([unread.exit, JSON.parse(unread.stdout).organizations[1].cuts]).toMatchObject([6, [{ outcome: 'unknown' }]])
  keyFile(folder, 'customer', bob.privateKey)
  const cut = await quorate(contain, { env, cwd: folder })
  expect(cut.exit, cut.stderr + cut.stdout).toBe(0)
  expect(ownCuts(unread.stdout)).toEqual([
    'done deny whatever ann approves',
    'done take ann out of the root quorum',
    'done delete 1 of ann: API key second',
    `done reject CREATE_WALLET ${waiting.id}`,
  ])
  const report = JSON.parse(cut.stdout)
  expect(report.organizations.map(({ proof }: { proof: string }) => proof)).toEqual(['denied', 'not registered'])
  // The timeline has every activity in which she voted, as the service lists them.
  const { activities } = await service.root.query('list_activities', { paginationOptions: { limit: '100' } })
  const hers = activities.filter(({ votes }) => votes.some((vote) => vote.userId === userId))
  expect(hers.map(({ id }) => id)).toEqual([waiting.id])
  const timeline = readFileSync(report.timeline, 'utf8')
  for (const { id } of hers) expect(timeline).toContain(id)
  await expect(keys.second.query('whoami')).rejects.toThrow(Refused)
  const more = { userId, apiKeys: [apiKey('more', generateP256KeyPair().publicKey)] }
  await expect(keys.laptop.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', more)).rejects.toThrow(Refused)
  const after = await countActivities(service)
  const again = await quorate(contain, { env, cwd: folder })
  expect([again.exit, await countActivities(service)], again.stdout).toEqual([0, after])
  const gone = await quorate([...contain, '--delete-user'], { env, cwd: folder })
  expect([gone.exit, ownCuts(gone.stdout)]).toEqual([0, ['done delete user ann']])
  await expect(keys.laptop.query('whoami')).rejects.toThrow(Refused)
  writeFiles(join(folder, 'defs'), {
    'acme.yaml': `organization: acme\nid: ${service.organizationId}\nusers:\n  ann:\n    apiKeys:\n      k: { curve: P256, publicKey: "${keys.laptop.publicKey}" }\n`,
  })
  const plan = await quorate(['plan', 'defs'], { env, cwd: folder })
  expect([plan.exit, plan.stderr]).toEqual([1, expect.stringContaining('cli/compromised-key')])
})

test('incident user: whoever works with the key in use, is unknown, or without whom the quorum is too small, is not cut off', async () => {
  const { service, folder, env, userId } = await open()
  const contain = (user: string) => quorate(['incident', 'user', user, '--contain', '--yes'], { env, cwd: folder })
  const before = await countActivities(service)
  const own = await contain(service.rootUserId)
  expect([own.exit, own.stderr]).toEqual([4, expect.stringContaining('cli/lock-out')])
  const nobody = await contain('anne')
  expect([nobody.exit, nobody.stderr]).toEqual([1, expect.stringContaining('`anne`')])
  await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 1, userIds: [userId] })
  const alone = await contain('ann')
  expect([alone.exit, alone.stderr]).toEqual([4, expect.stringContaining('root quorum has 0 of 1')])
  expect(await countActivities(service)).toBe(before + 1)
})

test('incident user: the reconciler of the organization is paused, with the reason; an organization that is not watched has none', async () => {
  const place = await scene({ more: { QUORATE_PAYLOAD_KEY: TEST_PAYLOAD_KEY } })
  const { userId } = await createTestUser(place.service, 'ann')
  const contain = ['incident', 'user', 'ann', '--contain', '--yes', '--json']
  const unwatched = await quorate(contain, { ...place, cwd: place.folder })
  expect([unwatched.exit, ownCuts(unwatched.stdout)]).toEqual([0, ['done deny whatever ann approves']])
  const text = `organization: acme\nid: ${place.service.organizationId}\ntags: { treasury: {} }\n`
  const defs = writeFiles(join(place.folder, 'defs'), { 'acme.yaml': text })
  const added = await quorate(['watch', 'add', defs, '--every', '1h'], { ...place, cwd: place.folder })
  expect(added.exit, added.stderr).toBe(0)
  const cut = await quorate(contain, { ...place, cwd: place.folder })
  expect([cut.exit, ownCuts(cut.stdout)]).toEqual([0, ['done deny whatever ann approves', 'done hold the reconciler']])
  const { stdout } = await quorate(['watch', 'list', '--json'], place)
  expect(JSON.parse(stdout).watches[0].paused).toBe(`incident: user ${userId}`)
})

test('incident user: what was made for others since then is cut as well, what was made before is left, and so is the key in use', async () => {
  let aheadMs = -10 * 86_400_000
  const service = await startTestService({ clock: () => Date.now() + aheadMs })
  onTestFinished(() => service.close())
  const folder = testFolder()
  const env = environmentOf(service, folder, service.root.privateKey)
  const ann = await createTestUser(service, 'ann')
  const bob = await createTestUser(service, 'bob')
  const cia = await createTestUser(service, 'cia')
  await allowAlone(service, ann, "activity.resource == 'CREDENTIAL' || activity.resource == 'USER'")
  const add = (userId: string, name: string) => {
    const apiKeys = [apiKey(name, generateP256KeyPair().publicKey)]
    return ann.client.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId, apiKeys })
  }
  await add(bob.userId, 'of last week')
  aheadMs = 0
  await add(bob.userId, 'hidden')
  await add(service.rootUserId, 'of the root')
  const eve = generateP256KeyPair()
  const users = [
    { userName: 'eve', apiKeys: [apiKey('a', eve.publicKey), apiKey('b', generateP256KeyPair().publicKey)] },
  ]
  const whole = users.map((user) => ({ ...user, authenticators: [], oauthProviders: [], userTags: [] }))
  expect((await ann.client.submit('ACTIVITY_TYPE_CREATE_USERS_V3', { users: whole })).status).toMatch(/COMPLETED/)
  const own = generateP256KeyPair()
  await service.root.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', {
    userId: cia.userId,
    apiKeys: [apiKey('by somebody else', own.publicKey)],
  })
  const contain = (...more: readonly string[]) =>
    quorate(['incident', 'user', 'ann', '--contain', '--made-for-others', '--yes', '--json', ...more], {
      env,
      cwd: folder,
    })
  const timeless = await contain()
  expect([timeless.exit, timeless.stderr]).toEqual([1, expect.stringContaining('--since')])
  const cut = await contain('--since', '2d')
  const cuts = ownCuts(cut.stdout).filter((one) => one.includes('made for them'))
  // The API keeps a user's last credential.
  expect(cuts.toSorted()).toEqual([
    'done delete API key a of eve, made for them',
    'done delete API key hidden of bob, made for them',
    expect.stringMatching(/^done delete API key of the root of /),
    'refused delete API key b of eve, made for them',
  ])
  const namesOf = async (userId: string) =>
    (await service.root.query('get_api_keys', { userId })).apiKeys.map(({ apiKeyName }) => apiKeyName)
  expect(await namesOf(bob.userId)).toEqual(['bob-key', 'of last week'])
  expect(await namesOf(cia.userId)).toEqual(['cia-key', 'by somebody else'])
})
