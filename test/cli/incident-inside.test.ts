/** A leaked key that is registered in many organizations: which is cut off first, what a person is asked, what one's fault stops. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { type Meddle, startBetween } from '../faults/between.ts'
import { createTestUser, startTestService } from '../service/harness.ts'
import { environmentOf, keyFile, quorateShared as quorate, testFolder } from './harness.ts'
import { canMakeTerminals, onTerminal } from './terminal.ts'

/** How many organizations are looked through at once (`inEach`). */
const AT_ONCE = 16

const member = (userName: string, ...publicKeys: readonly string[]) => ({
  userName,
  apiKeys: publicKeys.map((publicKey, index) => {
    return { apiKeyName: `key ${index}`, publicKey, curveType: 'API_KEY_CURVE_P256' }
  }),
  authenticators: [],
  oauthProviders: [],
})

/** A key of a user with another one, here and in organizations inside, where somebody else may delete it. */
async function open({ inside, meddle }: { readonly inside: number; readonly meddle?: Meddle }) {
  const service = await startTestService()
  onTestFinished(() => service.close())
  const between = await startBetween(service.url, meddle)
  onTestFinished(() => between.close())
  const folder = testFolder()
  const keys = join(folder, 'keys')
  mkdirSync(keys)
  const { client, userId } = await createTestUser(service, 'ci-bot')
  const { apiKeys } = member('ci-bot', generateP256KeyPair().publicKey)
  await service.root.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId, apiKeys })
  const organizations = []
  for (let at = 0; at < inside; at++) {
    const ops = generateP256KeyPair()
    const made = await service.root.submit('ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7', {
      subOrganizationName: `c${at}`,
      rootUsers: [member('ops', ops.publicKey), member('ci', client.publicKey, generateP256KeyPair().publicKey)],
      rootQuorumThreshold: 1,
    })
    keyFile(keys, `c${at}`, ops.privateKey)
    const { createSubOrganizationResultV7 } = made.result as Record<string, { subOrganizationId: string }>
    organizations.push({ id: createSubOrganizationResultV7!.subOrganizationId, ops })
  }
  const env = environmentOf({ ...service, url: between.url }, folder, service.root.privateKey)
  const contain = ['incident', 'key', client.publicKey, '--contain', '--sub-organization-keys', keys]
  return { service, between, folder, client, organizations, env, contain }
}

interface Report {
  readonly inside?: object
  readonly organizations: readonly {
    readonly organization: { readonly id: string; readonly name: string }
    readonly cuts: readonly { readonly what: string; readonly outcome: string; readonly why?: string }[]
    readonly proof: string
  }[]
}

test('incident key: the organization itself is cut off before those inside are looked for, and each of those as it is found', async () => {
  const inside = AT_ONCE + 4
  const stage = await open({ inside })
  const { between, service, contain, env, folder } = stage
  const cut = await quorate([...contain, '--yes', '--json'], { env, cwd: folder })
  expect(cut.exit, cut.stderr + cut.stdout).toBe(0)
  const { organizations, inside: told } = JSON.parse(cut.stdout) as Report
  expect(organizations.map(({ proof }) => proof)).toEqual(Array.from({ length: inside + 1 }, () => 'not registered'))
  // As the text says it: seven requests each, at each published rate as it is kept.
  const takes = [
    { requestsPerSecond: 1, seconds: 147 },
    { requestsPerSecond: 3, seconds: 49 },
    { requestsPerSecond: 60, seconds: 3 },
  ]
  expect(told).toEqual({ organizations: 20, requests: 140, takes })

  const { passed } = between
  const organizationOf = (body: string) => (JSON.parse(body) as { organizationId: string }).organizationId
  const first = passed.findIndex(({ submits }) => submits)
  expect(organizationOf(passed[first]!.body)).toBe(service.organizationId)
  const sweep = passed.findIndex(({ path }) => path.endsWith('/list_suborgs'))
  expect(sweep).toBeGreaterThan(first)
  // As many requests as the slowest plan has in five seconds.
  expect(first).toBeLessThanOrEqual(5)
  const ids = new Set(stage.organizations.map(({ id }) => id))
  const looked = (id: string) => passed.findIndex(({ body }) => organizationOf(body) === id)
  const lastFound = Math.max(...[...ids].map(looked))
  const firstInside = passed.findIndex(({ submits, body }) => submits && ids.has(organizationOf(body)))
  expect(firstInside).toBeLessThan(lastFound)
})

test('incident key --everywhere: where the key was replaced inside, what it made there is cut too', async () => {
  const { service, contain, env, folder, client, organizations } = await open({ inside: 2 })
  const [{ id: organizationId, ops }] = organizations as [(typeof organizations)[number]]
  const [user] = (await service.root.query('list_users', { organizationId })).users.filter(
    ({ userName }) => userName === 'ci',
  )
  // The attacker makes a key of the attacker's own, and deletes with it the one that leaked.
  const second = generateP256KeyPair()
  const { userId } = user!
  const { apiKeys } = member('ci', second.publicKey)
  await client.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId, apiKeys }, { organizationId })
  const apiKeyIds = user!.apiKeys
    .filter(({ credential }) => credential.publicKey === client.publicKey)
    .map(({ apiKeyId }) => apiKeyId)
  const attacker = service.client(second.privateKey)
  await attacker.submit('ACTIVITY_TYPE_DELETE_API_KEYS', { userId, apiKeyIds }, { organizationId })
  const works = () => attacker.query('whoami', { organizationId }).then(Boolean, () => false)

  const quick = await quorate([...contain, '--yes', '--json'], { env, cwd: folder })
  expect(quick.exit, quick.stderr).toBe(0)
  expect((JSON.parse(quick.stdout) as Report).organizations).toHaveLength(2)
  expect(await works()).toBe(true)
  const thorough = await quorate([...contain, '--everywhere', '--yes', '--json'], { env, cwd: folder })
  expect(thorough.exit, thorough.stderr).toBe(0)
  const found = (JSON.parse(thorough.stdout) as Report).organizations.find(
    ({ organization }) => organization.id === organizationId,
  )
  expect(found!.cuts.map(({ what, outcome }) => `${outcome} ${what}`)).toEqual([
    'done delete API key key 0 of ci, which the key made',
  ])
  expect(await works()).toBe(false)
  expect(await service.client(ops.privateKey).query('whoami', { organizationId })).toMatchObject({ username: 'ops' })
})

test('incident key: where those inside cannot be listed, the organization itself is cut off all the same, and what is not known is told', async () => {
  const { contain, env, folder, client, service } = await open({
    inside: 1,
    meddle: ({ path }) => (path.endsWith('/list_suborgs') ? { kind: 'answer', status: 403, body: '{}' } : undefined),
  })
  const cut = await quorate([...contain, '--yes', '--json'], { env, cwd: folder })
  expect(cut.exit, cut.stderr).toBe(6)
  const [own] = (JSON.parse(cut.stdout) as Report).organizations
  expect(own!.proof).toBe('not registered')
  expect(own!.cuts.map(({ what, outcome }) => `${outcome} ${what}`)).toEqual([
    'done delete API key ci-bot-key of ci-bot',
    'unknown find the organizations inside',
  ])
  const { users } = await service.root.query('list_users', {})
  expect(JSON.stringify(users)).not.toContain(client.publicKey)
})

test('incident key: an organization inside that nobody could change afterwards is left, with what to do, and stops no other', async () => {
  const { contain, env, folder, client, service, organizations } = await open({ inside: 2 })
  const { id, ops } = organizations[0]!
  const there = service.client(ops.privateKey)
  const at = { organizationId: id }
  const { users } = await there.query('list_users', at)
  const ci = users.find(({ userName }) => userName === 'ci')!
  await there.submit('ACTIVITY_TYPE_DELETE_API_KEYS', { userId: ci.userId, apiKeyIds: [ci.apiKeys[1]!.apiKeyId] }, at)
  await there.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 1, userIds: [ci.userId] }, at)
  const cut = await quorate([...contain, '--yes', '--json'], { env, cwd: folder })
  expect(cut.exit, cut.stderr).toBe(6)
  const report = new Map(
    (JSON.parse(cut.stdout) as Report).organizations.map((one) => [one.organization.id, one] as const),
  )
  expect(report.get(id)).toMatchObject({ proof: 'registered', cuts: [{ outcome: 'refused' }] })
  expect(report.get(id)!.cuts[0]!.why).toContain('quorate rotate key --user ci')
  expect(await client.query('whoami', at)).toMatchObject({ username: 'ci' })
  for (const other of [service.organizationId, organizations[1]!.id])
    expect(report.get(other)!.proof).toBe('not registered')
})

test.skipIf(!canMakeTerminals)(
  'incident key: a person is asked for the organization itself, and again with those inside in sight; without a yes they stay',
  async () => {
    const { between, contain, env, folder, client, service, organizations } = await open({ inside: 2 })
    const answered: { readonly before: string; readonly submits: number }[] = []
    const { exit, shown } = await onTerminal(contain, {
      env,
      cwd: folder,
      answer(before, question) {
        answered.push({ before, submits: between.passed.filter(({ submits }) => submits).length })
        return question === 1 ? 'y\r' : 'n\r'
      },
    })
    expect(exit, shown).toBe(6)
    const [first, second] = answered
    expect(first!.submits).toBe(0)
    expect(first!.before).not.toMatch(named('c0'))
    expect(second!.before).toMatch(named('c0'))
    expect(second!.before).toMatch(named('c1'))
    // At the rates as they are kept: a twentieth is left for the way.
    expect(second!.before).toContain(
      '2 organizations inside, about 14 requests: 15 seconds at 1 a second, 5 seconds at 3 a second, 1 second at 60 a second.',
    )
    // All that was submitted was submitted in the organization that the first question was about.
    const submitted = between.passed.filter(({ submits }) => submits)
    expect(submitted.length).toBe(second!.submits)
    for (const { body } of submitted) expect(body).toContain(service.organizationId)
    await expect(client.query('whoami', {})).rejects.toThrow()
    for (const { id } of organizations)
      expect(await client.query('whoami', { organizationId: id })).toMatchObject({ username: 'ci' })
    expect(shown).toContain('cut it off with --contain')
  },
)

/** A name by itself: a key in hex may have these letters too. */
function named(name: string): RegExp {
  return new RegExp(`(?<![0-9a-f])${name}(?![0-9a-f])`)
}
