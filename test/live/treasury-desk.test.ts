import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadDefinitions } from '../../src/definitions/index.ts'
import type { Desired } from '../../src/resources/index.ts'
import { KEYS } from '../definitions/harness.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { apply, plan, serviceTarget } from './target.ts'

const folder = join(import.meta.dirname, '../../definitions/treasury-desk')

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    rootUserName: 'head-of-desk',
    keyName: 'laptop',
    resolveHost: async () => ['93.184.216.34'],
  })
})
afterAll(() => service.close())

async function load(): Promise<Desired> {
  const { desired, diagnostics } = await loadDefinitions(folder, {
    env: { TREASURY_DESK_ORGANIZATION_ID: service.organizationId },
    vars: {
      headPublicKey: service.root.publicKey,
      traderPublicKey: KEYS.p256Generator,
      robotPublicKey: KEYS.p256Double,
      ledgerUrl: 'https://ledger.desk.test/events',
    },
  })
  expect(diagnostics.map(({ message }) => message)).toEqual([])
  return desired!
}

test('treasury desk: the example is applied to the service in few activities, and then nothing is left to do', async () => {
  const target = serviceTarget(service)
  const desired = await load()
  const first = await plan(target, desired, {})
  expect(first.plan.guards).toEqual([])
  expect(first.plan.batches.map(({ type }) => type.replace('ACTIVITY_TYPE_', '')).toSorted()).toEqual([
    'CREATE_INVITATIONS',
    'CREATE_MFA_POLICY',
    // What denies comes at once, what allows when all that it names is there.
    'CREATE_POLICIES',
    'CREATE_POLICIES',
    'CREATE_PRIVATE_KEYS_V2',
    'CREATE_PRIVATE_KEY_TAG',
    'CREATE_PRIVATE_KEY_TAG',
    'CREATE_SMART_CONTRACT_INTERFACE',
    'CREATE_USERS_V4',
    'CREATE_USER_TAG',
    'CREATE_USER_TAG',
    'CREATE_WALLET',
    'CREATE_WEBHOOK_ENDPOINT',
    'CREATE_WEBHOOK_ENDPOINT',
    'SET_IP_ALLOWLIST',
    'SET_IP_ALLOWLIST',
    'SET_ORGANIZATION_FEATURE',
    'UPDATE_USER',
    'UPDATE_WEBHOOK_ENDPOINT',
  ])
  const lock = await apply(target, first)
  expect((await plan(target, desired, lock)).plan.changes).toEqual([])
})
