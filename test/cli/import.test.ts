/** Import as a process, against a real service. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeSchema } from '../../src/definitions/index.ts'
import { createTestUser, startTestService } from '../service/harness.ts'
import { countActivities, environmentOf, quorateShared as quorate, testFolder } from './harness.ts'

// Each run is a process that starts from nothing.
test('import: a key that may only read makes definitions and a lock file, submits nothing, and the plan is empty', async () => {
  const service = await startTestService()
  onTestFinished(() => service.close())
  const tag = await service.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'treasury', userIds: [] })
  const { userTagId } = tag.result.createUserTagResult!
  const policy = {
    policyName: 'signs',
    effect: 'EFFECT_ALLOW',
    consensus: `approvers.any(user, user.tags.contains('${userTagId}'))`,
    condition: "activity.kind == 'SIGN_TRANSACTION'",
    notes: '',
  }
  await service.root.submit('ACTIVITY_TYPE_CREATE_POLICIES', { policies: [policy] })
  const auditor = await createTestUser(service, 'auditor')
  const folder = testFolder()
  const env = environmentOf(service, folder, auditor.client.privateKey)
  const definitions = join(folder, 'mine')
  const before = await countActivities(service)

  const imported = await quorate(['import', definitions], { env })
  expect(imported.stderr).toContain('has nothing to change')
  expect(imported.stdout).toContain(`${join(definitions, 'quorate.lock.yaml')}\n`)
  expect(imported.exit).toBe(0)
  expect(readFileSync(join(definitions, 'policies.yaml'), 'utf8')).toContain('${tag.treasury}')
  expect(existsSync(join(definitions, 'quorate.lock.yaml'))).toBe(true)
  const [first = ''] = readFileSync(join(definitions, 'policies.yaml'), 'utf8').split('\n')
  expect(first).toBe('# yaml-language-server: $schema=./quorate.schema.json')
  expect(JSON.parse(readFileSync(join(definitions, 'quorate.schema.json'), 'utf8'))).toEqual(makeSchema())
  const plan = await quorate(['plan', definitions, '--detailed-exitcode', '--json'], { env })
  expect(JSON.parse(plan.stdout)).toMatchObject({ changes: [], batches: [] })
  expect(plan.exit).toBe(0)
  const again = await quorate(['import', definitions, '--json'], { env })
  expect(JSON.parse(again.stdout)).toMatchObject({ written: [] })
  expect(await countActivities(service)).toBe(before)
})
