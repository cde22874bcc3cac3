/** The keys of workers, definitions/workers: each does its job and nothing else; every activity of the catalogue is asked. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { loadDefinitions } from '../../src/definitions/index.ts'
import { authorize, compilePolicy } from '../../src/policy/index.ts'
import { type ActivityType, activities } from '../../src/protocol/index.ts'
import { startTestService, type TestClient, type TestService } from '../service/harness.ts'
import { messageOf, NOT_DONE } from './catalogue.ts'
import { applyTogether } from './pipeline.ts'

const folder = join(import.meta.dirname, '../../definitions/workers')
const types = Object.keys(activities) as ActivityType[]
/** The kinds in the condition of a policy, as its text says it. */
const kindsOf = (policy: string) => {
  const [, text = ''] = readFileSync(join(folder, 'workers.yaml'), 'utf8').split(`  ${policy}:`)
  const [condition = ''] = text.split('notes:')
  return new Set(condition.match(/(?<=')[A-Z_]{6,}(?=')/g))
}
const [alone, proposed] = [kindsOf('reconciler-repairs-alone'), kindsOf('reconciler-proposes')]
const isOf = (kinds: ReadonlySet<string>, type: ActivityType) => kinds.has(activities[type].kind ?? '')
const ROTATES = ['ACTIVITY_TYPE_CREATE_API_KEYS', 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', 'ACTIVITY_TYPE_DELETE_API_KEYS']

let service: TestService
const people: Record<'bob' | 'ciBot' | 'reconciler' | 'rotation', TestClient> = {} as never
const ids: Record<string, string> = {}
beforeAll(async () => {
  service = await startTestService({ rootUserName: 'alice', keyName: 'laptop' })
  for (const name of ['bob', 'ciBot', 'reconciler', 'rotation'] as const)
    people[name] = service.client(generateP256KeyPair().privateKey)
  const vars = {
    alicePublicKey: service.root.publicKey,
    bobPublicKey: people.bob.publicKey,
    ciBotPublicKey: people.ciBot.publicKey,
    reconcilerPublicKey: people.reconciler.publicKey,
    rotationPublicKey: people.rotation.publicKey,
  }
  const env = { WORKERS_ORGANIZATION_ID: service.organizationId }
  const { desired, diagnostics } = await loadDefinitions(folder, { env, vars })
  expect(diagnostics).toEqual([])
  await applyTogether(service, people.bob, desired!)
  for (const { userId, userName } of (await service.root.query('list_users')).users) ids[userName] = userId
})
afterAll(() => service.close())

const submit = async (client: TestClient, type: ActivityType, parameters: object) => {
  const body = service.body(type, parameters)
  const { status, body: answer } = await client.raw(body.path, body.text)
  return { status, state: (answer['activity'] as { status?: string } | undefined)?.status }
}

const newKeyFor = (name: string) => {
  const publicKey = generateP256KeyPair().publicKey
  return { userId: ids[name], apiKeys: [{ apiKeyName: 'next', publicKey, curveType: 'API_KEY_CURVE_P256' }] }
}

test('as the policies decide: each is allowed what its job is, alone or with a reviewer, and denied everything else', async () => {
  const { policies } = await service.root.query('list_policies')
  const compiled = policies.map(({ policyId, policyName, effect, condition, consensus }) =>
    compilePolicy({
      id: policyId,
      name: policyName,
      effect,
      ...(condition ? { condition } : {}),
      ...(consensus ? { consensus } : {}),
    }),
  )
  const { users } = await service.root.query('list_users')
  const approver = (name: string) => {
    const { userId, userTags } = users.find(({ userName }) => userName === name)!
    return { id: userId, tags: userTags }
  }
  const rootQuorum = { userIds: [ids['alice']!, ids['bob']!], threshold: 2 }
  const decide = (type: ActivityType, target: string, ...names: readonly string[]) =>
    authorize(compiled, {
      now: 0n,
      activity: { type, params: ROTATES.includes(type) ? { user_id: ids[target]! } : {} },
      approvers: names.map(approver),
      targetUserId: ids[target]!,
      rootQuorum,
    }).outcome
  const isDenied = expect.stringMatching(/^OUTCOME_DENY/)
  const isNotAllowed = expect.not.stringMatching(/^OUTCOME_ALLOW$/)
  for (const type of types) {
    const own = isOf(alone, type)
    const together = own || isOf(proposed, type)
    // The worst case: it is about the very user who asks.
    const outcome = own ? 'OUTCOME_ALLOW' : together ? 'OUTCOME_REQUIRES_CONSENSUS' : isDenied
    expect([type, decide(type, 'reconciler', 'reconciler')]).toEqual([type, outcome])
    const withBob = decide(type, 'reconciler', 'reconciler', 'bob')
    expect([type, withBob]).toEqual([type, together ? 'OUTCOME_ALLOW' : isNotAllowed])
    const rotates = ROTATES.includes(type)
    for (const target of ['ci-bot', 'rotation'])
      expect([type, target, decide(type, target, 'rotation')]).toEqual([
        type,
        target,
        rotates ? 'OUTCOME_ALLOW' : isDenied,
      ])
    for (const target of ['alice', 'bob', 'reconciler'])
      expect([type, target, decide(type, target, 'rotation')]).toEqual([type, target, isDenied])
  }
  console.log(`activities=${types.length} repairs alone=${alone.size} with a reviewer=${proposed.size}`)
})

test('at the service: of the whole catalogue, neither key does anything but its job', async () => {
  const { policies } = await service.root.query('list_policies')
  const things = {
    userId: ids['ci-bot']!,
    policyId: policies.find(({ policyName }) => policyName === 'rotation-does-nothing-else')!.policyId,
    userTagId: (await service.root.query('list_user_tags')).userTags[0]!.tagId,
    url: 'https://hooks.workers.test/events',
  }
  const seen = { reconciler: 0, rotation: 0 }
  for (const type of types) {
    const repair = await submit(people.reconciler, type, messageOf(type, things))
    if (isOf(proposed, type) && repair.state === 'ACTIVITY_STATUS_CONSENSUS_NEEDED') seen.reconciler++
    else if (!(isOf(alone, type) && repair.state === 'ACTIVITY_STATUS_COMPLETED'))
      expect([type, repair.status]).toEqual([type, expect.toBeOneOf(NOT_DONE)])
    const rotation = await submit(people.rotation, type, messageOf(type, { ...things, userId: ids['bob']! }))
    expect([type, rotation.status]).toEqual([type, expect.toBeOneOf(NOT_DONE)])
    if (rotation.status === 403) seen.rotation++
  }
  console.log(`waits for a reviewer=${seen.reconciler} denied to rotation=${seen.rotation}`)
  expect(seen.reconciler).toBeGreaterThan(5)
  expect(seen.rotation).toBeGreaterThan(30)
})

test('the rotation key replaces the keys of the users that are named, its own too, and nobody else’s', async () => {
  const create = 'ACTIVITY_TYPE_CREATE_API_KEYS_V2'
  for (const name of ['ci-bot', 'rotation']) {
    const made = await people.rotation.submit(create, newKeyFor(name))
    expect([name, made.status]).toEqual([name, 'ACTIVITY_STATUS_COMPLETED'])
    const gone = { userId: ids[name], apiKeyIds: [made.result.createApiKeysResult!.apiKeyIds[0]] }
    expect((await people.rotation.submit('ACTIVITY_TYPE_DELETE_API_KEYS', gone)).status).toBe(
      'ACTIVITY_STATUS_COMPLETED',
    )
  }
  for (const name of ['alice', 'bob', 'reconciler'])
    expect([name, (await submit(people.rotation, create, newKeyFor(name))).status]).toEqual([name, 403])
})

test('the reconciler puts the name of a wallet back alone, a policy with a reviewer, and deletes nothing even with one', async () => {
  const { reconciler, bob } = people
  const made = await service.root.submit('ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'reserves', accounts: [] })
  const { walletId } = (await bob.approve(made.fingerprint)).result.createWalletResult!
  const renamed = await submit(reconciler, 'ACTIVITY_TYPE_UPDATE_WALLET', { walletId, walletName: 'treasury' })
  expect(renamed.state).toBe('ACTIVITY_STATUS_COMPLETED')
  const policy = { policyName: 'back', effect: 'EFFECT_DENY', consensus: 'true', condition: 'false', notes: '' }
  const waits = await reconciler.submit('ACTIVITY_TYPE_CREATE_POLICIES', { policies: [policy] })
  expect(waits.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
  expect((await bob.approve(waits.fingerprint)).status).toBe('ACTIVITY_STATUS_COMPLETED')
  const { policies } = await service.root.query('list_policies')
  const { policyId } = policies.find(({ policyName }) => policyName === 'back')!
  expect((await submit(reconciler, 'ACTIVITY_TYPE_DELETE_POLICY', { policyId })).status).toBe(403)
  // Its own credentials are its own no more.
  expect((await submit(reconciler, 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', newKeyFor('reconciler'))).state).toBe(
    'ACTIVITY_STATUS_CONSENSUS_NEEDED',
  )
})
