/** Steps of a rotation in an order that a forged workflow asks for: no order of them leaves a user without a private key. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Activities, createActivities, createPlanStore, type RotationProgress } from '../../activities/index.ts'
import { createSubmitClient } from '../../src/client/index.ts'
import { openRotations } from '../../src/operations/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret, silentLogger } from '../../src/telemetry/index.ts'
import { createTestUser, startTestService, type TestService } from '../service/harness.ts'

const folder = mkdtempSync(join(tmpdir(), 'quorate-rotation-steps-'))
const store = createPlanStore(join(folder, 'plans'))
const keysFolder = join(folder, 'rotation-keys')
let service: TestService
let steps: Activities

beforeAll(async () => {
  service = await startTestService()
  const clientOf = (privateKey: Secret) => {
    const { organizationId, url: baseUrl } = service
    return createSubmitClient({ baseUrl, organizationId, stamper: createApiKeyStamper({ privateKey }) })
  }
  const own = clientOf(new Secret(service.root.privateKey))
  steps = createActivities({
    clientFor: () => own,
    planStore: store,
    clock: Date.now,
    logger: silentLogger,
    rotation: { keysFolder, clientWith: (_, privateKey) => clientOf(privateKey), useKey: () => {} },
  })
})

afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

/** A rotation that was ordered, and of which nothing is done. */
async function entered() {
  const { userId, client } = await createTestUser(service, 'ci')
  const rotationId = randomBytes(32).toString('hex')
  const path = join(folder, `${rotationId}.key`)
  writeFileSync(path, `${client.privateKey}\n`, { mode: 0o600 })
  const [key] = (await service.root.query('get_api_keys', { userId })).apiKeys
  await store.rotations.enter({
    rotationId,
    organization: { id: service.organizationId, name: 'acme', baseUrl: service.url },
    user: { id: userId, name: 'ci' },
    key: { id: key!.apiKeyId, name: key!.apiKeyName, publicKey: key!.credential.publicKey },
    overlapMs: 0,
    sink: { kind: 'file', path },
    orderedAt: '2026-01-01T00:00:00.000Z',
  })
  return { rotationId, path, oldKey: client.privateKey }
}

/** A rotation whose new key is registered and has proved good. */
async function verified() {
  const { rotationId, path, oldKey } = await entered()
  await steps.makeRotationKey({ rotationId })
  const run = async (part: 'create' | 'delete' | 'undo') => {
    await steps.prepareRotation({ rotationId, part, timestampMs: Date.now() })
    return steps.submitRotation({ rotationId, part })
  }
  expect(await run('create')).toMatchObject({ state: 'completed' })
  await steps.verifyRotation({ rotationId })
  const end = (state: RotationProgress['state']) =>
    steps.recordRotation({ progress: { rotationId, state, activities: {} } as unknown as RotationProgress })
  return { rotationId, path, oldKey, run, end }
}

const works = async (privateKey: string) => (await service.client(privateKey).query('whoami')).username

test('a new key that is being taken away is handed to nobody: the old private key stays in its place', async () => {
  const { rotationId, path, oldKey, run, end } = await verified()
  expect(await run('undo')).toMatchObject({ state: 'completed' })
  await expect(steps.handOverKey({ rotationId })).rejects.toMatchObject({ type: 'rotate/refused' })
  await end('failed')
  expect(readFileSync(path, 'utf8').trim()).toBe(oldKey)
  expect(await works(oldKey)).toBe('ci')
})

test('a new key that has taken its place is not taken away, whoever says that the rotation has failed', async () => {
  const { rotationId, path, oldKey, run, end } = await verified()
  await steps.handOverKey({ rotationId })
  await expect(run('undo')).rejects.toMatchObject({ type: 'rotate/refused' })
  await end('failed')
  expect(await works(JSON.parse(readFileSync(path, 'utf8')).privateKey)).toBe('ci')
  // Its deletion was never asked for: it is still good, and nowhere else.
  expect(readFileSync(join(keysFolder, `${rotationId}.old.key`), 'utf8').trim()).toBe(oldKey)
})

test('a rotation is listed from its first step on, before anything is made or submitted; one that no worker has begun is not', async () => {
  const { organizationId } = service
  const { rotationId } = await entered()
  const listed = async () =>
    (await openRotations(folder, organizationId)).filter((one) => one.rotationId === rotationId)
  expect(await listed()).toEqual([])
  await steps.loadRotation({ rotationId, organizationId })
  expect(await listed()).toMatchObject([{ state: 'creating', user: 'ci', activities: {} }])
})
