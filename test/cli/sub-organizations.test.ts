/** Sub-organizations as nested folders: planned, made, applied inside and deleted, as separate processes against a real service. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import type { Plan } from '../../src/plan/index.ts'
import { ACME, countActivities, keyFile, quorateShared as quorate, testFolder, writeFiles } from './harness.ts'
import { type Scene, scene } from './scene.ts'

// Each test runs the CLI several times, and each run is a process that starts from nothing.
interface FleetScene extends Omit<Scene, 'stopWorker' | 'startWorker'> {
  readonly defs: string
  readonly keys: string
  readonly json: (...args: readonly string[]) => Promise<{ exit: number | null; plan: Plan }>
}

/** A scene whose commands and worker have a folder of keys for sub-organizations. */
async function fleetScene(options: Parameters<typeof scene>[0] = {}): Promise<FleetScene> {
  const keys = testFolder()
  const { service, folder, env: own } = await scene({ ...options, more: { QUORATE_SUB_ORGANIZATION_KEYS: keys } })
  const env = { ...own, FLEET_ORGANIZATION_ID: service.organizationId }
  const defs = join(folder, 'defs')
  const json = async (...args: readonly string[]) => {
    const { exit, stdout, stderr } = await quorate(['plan', defs, '--json', ...args], { env })
    expect(stderr).not.toContain('error')
    return { exit, plan: JSON.parse(stdout) as Plan }
  }
  return { service, folder, defs, keys, env, json }
}

const PARENT = `${ACME}tags: { ops: {} }\n`

const customer = (publicKey: string, more = '') => `rootQuorum: { threshold: 1, users: [ann] }
tags: { vip: {} }
features: { SMS_AUTH: false }
users:
  ann: { tags: [vip], apiKeys: { laptop: { curve: P256, publicKey: ${publicKey} } } }
wallets:
  main: { accounts: [{ path: "m/44'/60'/0'/0/0", curve: secp256k1, format: ethereum }] }
policies:
  vip-signs: { effect: allow, consensus: "approvers.any(user, user.tags.contains('\${tag.vip}'))", condition: "wallet.id == '\${wallet.main}'" }
${more}`

test('a sub-organization is made with its users and wallet, and what is inside follows in the same apply', async () => {
  const { service, defs, keys, env, json } = await fleetScene()
  const ann = generateP256KeyPair()
  const zoe = generateP256KeyPair()
  keyFile(keys, 'customer-1', ann.privateKey)
  writeFiles(defs, {
    'acme.yaml': PARENT,
    'one/c.yaml': `organization: customer-1\n${customer(ann.publicKey)}`,
    'two/c.yaml': `organization: customer-2\n${customer(zoe.publicKey)}`,
  })

  const { plan } = await json()
  expect(plan.changes.map(({ address }) => address)).toEqual([
    'tag.ops',
    'subOrganization.customer-1',
    'subOrganization.customer-2',
  ])
  const [first, second] = plan.subOrganizations!
  expect(first!.changes.map(({ action, address }) => `${action} ${address}`)).toEqual([
    'create tag.vip',
    'update user.ann',
    'create policy.vip-signs',
  ])
  expect(first!.batches.map(({ forecast }) => forecast)).toEqual(first!.batches.map(() => ({ outcome: 'completes' })))
  expect(second!.comparedOnly).toEqual({ couldApply: ['ann'] })

  const shown = await quorate(['plan', defs], { env })
  expect(shown.stdout).toContain('customer-2: 3 changes, compared only: to apply them takes a key of ann')
  expect(shown.stdout).toContain('+ customer-1/policy.vip-signs')

  const applied = await quorate(['apply', defs, '--yes'], { env })
  expect(applied.exit, applied.stdout + applied.stderr).toBe(0)
  const { organizationIds } = await service.root.query('list_suborgs', {
    filterType: 'NAME',
    filterValue: 'customer-1',
  })
  const { policies } = await service.root.query('list_policies', { organizationId: organizationIds[0] })
  expect(policies.map(({ policyName }) => policyName)).toEqual(['vip-signs'])

  const after = await json('--detailed-exitcode')
  expect(after.plan.changes).toEqual([])
  expect(after.plan.subOrganizations!.map(({ changes }) => changes.length)).toEqual([0, 3])
  expect(after.exit).toBe(2)
  expect(readFileSync(join(defs, 'quorate.lock.yaml'), 'utf8')).toContain('subOrganization.customer-2')

  keyFile(keys, 'customer-2', zoe.privateKey)
  const whole = await quorate(['apply', defs, '--yes'], { env })
  expect(whole.exit, whole.stdout + whole.stderr).toBe(0)
  expect(whole.stdout).toContain('No changes.')
})

test('import writes a folder for each sub-organization, follows it later, and the plan after either is empty', async () => {
  const { service, folder, defs, keys, env } = await fleetScene()
  const ann = generateP256KeyPair()
  keyFile(keys, 'customer-1', ann.privateKey)
  writeFiles(defs, { 'acme.yaml': PARENT, 'one/c.yaml': `organization: customer-1\n${customer(ann.publicKey)}` })
  expect((await quorate(['apply', defs, '--yes'], { env })).exit).toBe(0)
  const second = { subOrganizationName: 'Söder & Co.', rootUsers: [rootUser(ann.publicKey)], rootQuorumThreshold: 1 }
  await service.root.submit('ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8', second)

  const mine = join(folder, 'mine')
  const imported = await quorate(['import', mine, '--sub-organizations', '--json'], { env })
  expect(imported.exit, imported.stdout + imported.stderr).toBe(0)
  const { written } = JSON.parse(imported.stdout) as { written: string[] }
  expect(
    written.map((path) => path.slice(mine.length + 1)).filter((path) => path.endsWith('organization.yaml')),
  ).toEqual(['organization.yaml', 'Söder-Co/organization.yaml', 'customer-1/organization.yaml'])
  const planned = await quorate(['plan', mine, '--detailed-exitcode'], { env })
  expect(planned.exit, planned.stdout + planned.stderr).toBe(0)

  const { organizationIds } = await service.root.query('list_suborgs', {
    filterType: 'NAME',
    filterValue: 'customer-1',
  })
  const [organizationId] = organizationIds
  await service
    .client(ann.privateKey)
    .submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'late', userIds: [] }, { organizationId: organizationId! })
  const people = join(mine, 'customer-1/people.yaml')
  writeFileSync(people, `# ours\n${readFileSync(people, 'utf8')}`)
  const again = await quorate(['import', mine, '--sub-organizations', '--json'], { env })
  expect(JSON.parse(again.stdout)).toEqual({ written: [people, join(mine, 'quorate.lock.yaml')], leftOut: [] })
  expect(readFileSync(people, 'utf8')).toMatch(/^# ours\n[\s\S]*late/)
  const after = await quorate(['plan', mine, '--detailed-exitcode'], { env })
  expect(after.exit, after.stdout + after.stderr).toBe(0)
})

function rootUser(publicKey: string) {
  const apiKeys = [{ apiKeyName: 'k', publicKey, curveType: 'API_KEY_CURVE_P256' }]
  return { userName: 'soeren', apiKeys, authenticators: [], oauthProviders: [] }
}

test('definitions/fleet: the saved plan is applied whole, once, and then nothing is left to do', async () => {
  const { service, folder, defs, env } = await fleetScene({ rootUserName: 'operator', keyName: 'automation' })
  cpSync(join(import.meta.dirname, '../../definitions/fleet'), defs, { recursive: true })
  const values = ['--var', `operatorPublicKey=${service.root.publicKey}`]
  const saved = join(folder, 'plan.json')
  const planned = await quorate(['plan', defs, ...values, '--out', saved], { env })
  expect(planned.exit, planned.stderr).toBe(0)
  expect(planned.stdout).toContain('inside 5 sub-organizations')

  const text = readFileSync(saved, 'utf8')
  writeFileSync(saved, text.replace('"owner-spends"', '"owner-spend5"'))
  const edited = await quorate(['apply', saved], { env })
  expect([edited.exit, edited.stderr]).toEqual([1, expect.stringContaining('plan/edited')])
  expect(await countActivities(service)).toBe(0)

  writeFileSync(saved, text)
  const applied = await quorate(['apply', saved, ...values], { env })
  expect(applied.exit, applied.stdout + applied.stderr).toBe(0)
  expect(await countActivities(service)).toBe(6)
  const again = await quorate(['apply', saved, ...values], { env })
  expect(again.exit, again.stdout + again.stderr).toBe(0)
  expect(await countActivities(service)).toBe(6)

  const after = await quorate(['plan', defs, ...values, '--detailed-exitcode'], { env })
  expect(after.stdout).toContain('6 sub-organizations are as defined')
  expect(after.stdout).toContain('No changes.')
  expect(after.exit).toBe(0)
  // The lock knows all of them by now, so nobody is asked who created what.
  expect(Object.keys(parse(readFileSync(join(defs, 'quorate.lock.yaml'), 'utf8'))).length).toBe(8)
})

test('a saved plan is stale as a whole when one sub-organization has moved, and nothing of it is begun', async () => {
  const { service, folder, defs, keys, env } = await fleetScene()
  const ann = generateP256KeyPair()
  const zoe = generateP256KeyPair()
  for (const [name, key] of [['customer-1', ann] as const, ['customer-2', zoe] as const]) {
    keyFile(keys, name, key.privateKey)
    writeFiles(defs, { [`${name}/c.yaml`]: `organization: ${name}\n${customer(key.publicKey)}` })
  }
  writeFiles(defs, { 'acme.yaml': PARENT })
  expect((await quorate(['apply', defs, '--yes'], { env })).exit).toBe(0)
  for (const [name, key] of [['customer-1', ann] as const, ['customer-2', zoe] as const])
    writeFiles(defs, {
      [`${name}/c.yaml`]: `organization: ${name}\n${customer(key.publicKey).replace('{ vip: {} }', '{ vip: {}, new: {} }')}`,
    })
  const saved = join(folder, 'plan.json')
  expect((await quorate(['plan', defs, '--out', saved], { env })).exit).toBe(0)

  const { organizationIds } = await service.root.query('list_suborgs', {
    filterType: 'NAME',
    filterValue: 'customer-2',
  })
  const [organizationId] = organizationIds
  const stranger = { policyName: 'stranger', effect: 'EFFECT_ALLOW', condition: 'false', notes: '' }
  await service
    .client(zoe.privateKey)
    .submit('ACTIVITY_TYPE_CREATE_POLICY_V3', stranger, { organizationId: organizationId! })

  const shown = await quorate(['show', saved], { env })
  expect(shown.stderr).toContain('in customer-2: `policy.stranger` is new')
  const applied = await quorate(['apply', saved], { env })
  expect(applied.exit, applied.stderr).toBe(5)
  expect(applied.stderr).toContain('sub-organization `customer-2` has moved since the plan was made')
  const tags = await Promise.all(
    ['customer-1', 'customer-2'].map(async (name) => {
      const { organizationIds: ids } = await service.root.query('list_suborgs', {
        filterType: 'NAME',
        filterValue: name,
      })
      const { userTags } = await service.root.query('list_user_tags', { organizationId: ids[0] })
      return userTags.map(({ tagName }) => tagName)
    }),
  )
  expect(tags).toEqual([['vip'], ['vip']])
})

test('a sub-organization is renamed and deleted from inside, each with its guard', async () => {
  const { service, defs, keys, env, json } = await fleetScene()
  const ann = generateP256KeyPair()
  keyFile(keys, 'customer-1', ann.privateKey)
  const write = (head: string) =>
    writeFiles(defs, { 'acme.yaml': PARENT, 'c/c.yaml': `${head}\n${customer(ann.publicKey)}` })
  write('organization: customer-1')
  expect((await quorate(['apply', defs, '--yes'], { env })).exit).toBe(0)

  keyFile(keys, 'client-1', ann.privateKey)
  write('organization: client-1\nrenamedFrom: customer-1')
  const { plan } = await json()
  expect(plan.changes).toEqual([])
  expect(plan.subOrganizations!.flatMap(({ changes }) => changes)).toMatchObject([
    { address: 'organization', action: 'update', fields: [{ field: 'name', before: 'customer-1', after: 'client-1' }] },
  ])
  const renamed = await quorate(['apply', defs, '--yes'], { env })
  expect(renamed.exit, renamed.stdout + renamed.stderr).toBe(0)

  write('organization: client-1\ndelete: true')
  const refused = await quorate(['apply', defs, '--yes'], { env })
  expect(refused.exit).toBe(4)
  expect(refused.stdout).toContain('refused: deleting 1 of 1 sub-organization is 100 %, over 30 %')
  expect(refused.stderr).toContain('a guard refuses this plan, as it says above')
  const kept = await quorate(['apply', defs, '--yes', '--allow', 'deletes=1'], { env })
  expect(kept.exit, kept.stdout + kept.stderr).toBe(1)
  expect(kept.stdout).toContain('has not been exported')

  write('organization: client-1\ndelete: true\nwithoutExport: true')
  const gone = await quorate(['apply', defs, '--yes', '--allow', 'deletes=1'], { env })
  expect(gone.exit, gone.stdout + gone.stderr).toBe(0)
  expect((await service.root.query('list_suborgs')).organizationIds).toEqual([])
  const after = await json('--detailed-exitcode')
  expect([after.exit, after.plan.subOrganizations]).toEqual([0, undefined])
  expect(Object.keys(parse(readFileSync(join(defs, 'quorate.lock.yaml'), 'utf8')))).toEqual([
    service.organizationId,
    'signature',
  ])
})
