/** Sub-organizations as nested folders: planned, made, applied inside and deleted, as separate processes against a real service. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import type { Plan } from '../../src/plan/index.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { testTemporalAddress } from '../temporal.ts'
import { environmentOf, keyFile, quorate, testFolder, writeFiles } from './harness.ts'

// Each test runs the CLI several times, and each run is a process that starts from nothing.
vi.setConfig({ testTimeout: 240_000 })

const main = join(import.meta.dirname, '../../src/cli/main.ts')

let temporal: string
beforeAll(async () => {
  temporal = await testTemporalAddress()
})

interface Scene {
  readonly service: TestService
  readonly folder: string
  readonly defs: string
  readonly keys: string
  readonly env: Readonly<Record<string, string>>
  readonly json: (...args: readonly string[]) => Promise<{ exit: number | null; plan: Plan }>
}

/** A service, a folder, a folder of keys for sub-organizations, and a worker that has them. */
async function scene(): Promise<Scene> {
  const service = await startTestService()
  const folder = testFolder()
  const keys = join(folder, 'keys')
  mkdirSync(keys)
  const env = environmentOf(service, folder, service.root.privateKey, {
    TEMPORAL_ADDRESS: temporal,
    QUORATE_SUB_ORGANIZATION_KEYS: keys,
  })
  const worker = spawn(process.execPath, [main, 'worker', '--json'], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    await ended(worker)
    await service.close()
  })
  await once(worker.stdout!, 'data')
  const defs = join(folder, 'defs')
  const json = async (...args: readonly string[]) => {
    const { exit, stdout, stderr } = await quorate(['plan', defs, '--json', ...args], { env })
    expect(stderr).not.toContain('error')
    return { exit, plan: JSON.parse(stdout) as Plan }
  }
  return { service, folder, defs, keys, env, json }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}

const PARENT = 'organization: acme\nid: ${env.ACME_ORGANIZATION_ID}\ntags: { ops: {} }\n'

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
  const { service, defs, keys, env, json } = await scene()
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
  expect(applied.stderr).not.toContain('rror')
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
