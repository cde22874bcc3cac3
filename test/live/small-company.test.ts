import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { loadDefinitions } from '../../src/definitions/index.ts'
import type { ActivityType } from '../../src/protocol/index.ts'
import { KEYS } from '../definitions/harness.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { rootReader } from './organization.ts'
import { apply, plan, type Target } from './target.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ rootUserName: 'ines', keyName: 'laptop' })
})
afterAll(() => service.close())

test('small company: the example is applied, both founders agreeing, and then nothing is left to do', async () => {
  const tom = generateP256KeyPair()
  const { desired, diagnostics } = await loadDefinitions(join(import.meta.dirname, '../../definitions/small-company'), {
    env: { SMALL_COMPANY_ORGANIZATION_ID: service.organizationId },
    vars: {
      inesPublicKey: service.root.publicKey,
      tomPublicKey: tom.publicKey,
      bookkeeperPublicKey: KEYS.p256Double,
    },
  })
  expect(diagnostics.map(({ message }) => message)).toEqual([])
  const target: Target = {
    client: rootReader(service),
    async execute(type, parameters) {
      const activity = await service.root.submit(type as ActivityType, parameters)
      const waits = activity.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED'
      const done = waits ? await service.client(tom.privateKey).approve(activity.fingerprint) : activity
      const { activity: after } = await service.root.query('get_activity', { activityId: done.id })
      expect(after.status, type).toBe('ACTIVITY_STATUS_COMPLETED')
      return after.result
    },
  }
  const first = await plan(target, desired!, {})
  expect(first.plan.guards).toEqual([])
  expect(first.plan.batches.map(({ type }) => type.replace('ACTIVITY_TYPE_', ''))).toEqual([
    'CREATE_USER_TAG',
    'CREATE_USERS_V4',
    // From here on both founders agree.
    'UPDATE_ROOT_QUORUM',
    'CREATE_WALLET',
    'UPDATE_USER',
    'CREATE_POLICIES',
  ])
  const lock = await apply(target, first)
  expect((await plan(target, desired!, lock)).plan.changes).toEqual([])
})
