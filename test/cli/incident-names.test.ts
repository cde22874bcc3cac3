/** An incident whose suspect has named things after the ids of other things, so that a response harms who did nothing. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { generateP256KeyPair, uncompressP256 } from '../../src/crypto/index.ts'
import { complete } from '../service/handlers/steps.ts'
import { createTestUser, startTestService } from '../service/harness.ts'
import { environmentOf, quorateShared as quorate, testFolder } from './harness.ts'

vi.setConfig({ testTimeout: 120_000 })

async function open() {
  const service = await startTestService({ allowedWebhookHosts: ['127.0.0.1'] })
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
