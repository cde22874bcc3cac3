/** `quorate worker --build-id`, as a process at a real Temporal server. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { builtMain } from '../built.ts'
import { TEST_PAYLOAD_KEY } from '../payload-key.ts'
import { quorateShared as quorate, writeFiles } from './harness.ts'
import { connectScene, onlyTags, scene } from './scene.ts'

test('worker: a version makes itself the current one, carries out applies, and ends with 0', async () => {
  const place = await scene({ more: { QUORATE_PAYLOAD_KEY: TEST_PAYLOAD_KEY } })
  await place.stopWorker()
  const child = spawn(process.execPath, [builtMain(), 'worker', '--json', '--build-id', '1.2.3', '--current'], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...place.env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exit = once(child, 'exit')
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const deploymentName = `quorate-${place.service.organizationId}`
  expect(JSON.parse(line.toString().split('\n')[0]!)).toMatchObject({ deployment: deploymentName, buildId: '1.2.3' })

  const defs = writeFiles(join(place.folder, 'defs'), { 'acme.yaml': onlyTags(['treasury']) })
  expect((await quorate(['apply', defs, '--yes'], place)).exit).toBe(0)
  const temporal = await connectScene(place.env)
  onTestFinished(() => temporal.close())
  const { client, namespace } = temporal
  const { workerDeploymentInfo } = await client.workflowService.describeWorkerDeployment({ namespace, deploymentName })
  expect(workerDeploymentInfo?.routingConfig?.currentDeploymentVersion).toMatchObject({ buildId: '1.2.3' })
  const { events } = await client.workflow.getHandle(`apply/${place.service.organizationId}`).fetchHistory()
  const builds = events!.map((one) => one.workflowTaskCompletedEventAttributes?.deploymentVersion?.buildId)
  expect(new Set(builds.filter(Boolean))).toEqual(new Set(['1.2.3']))
  child.kill('SIGTERM')
  expect(await exit).toEqual([0, null])
})

test.each([
  { args: ['--current'], says: 'expected --build-id with' },
  { args: ['--build-id', 'a/b'], says: 'expected --build-id to be' },
  { args: ['--build-id', '1', '--versioning', 'rolling'], says: 'expected --versioning to be auto-upgrade or pinned' },
])('worker $args is refused', async ({ args, says }) => {
  const { exit, stderr } = await quorate(['worker', ...args], { env: { QUORATE_BASE_URL: 'http://127.0.0.1:1' } })
  expect([exit, stderr]).toEqual([1, expect.stringContaining(says)])
})
