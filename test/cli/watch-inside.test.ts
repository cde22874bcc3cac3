/** A look over many sub-organizations whose worker is killed is gone on with by the next worker: real processes, service and Temporal. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createPlanStore } from '../../activities/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { builtMain, compileCache } from '../built.ts'
import { type Between, startBetween } from '../faults/between.ts'
import { TEST_PAYLOAD_KEY } from '../payload-key.ts'
import { complete } from '../service/handlers/steps.ts'
import { ACME, quorateShared as quorate, writeFiles } from './harness.ts'
import { scene } from './scene.ts'

const COUNT = 24
/** The worker is killed as it begins with the sub-organization after so many. */
const KILLED_AFTER = 20
/** What a look has read is kept by so many. */
const KEPT_AT_ONCE = 16

test('watch: a look whose worker is killed reads again what was not kept, and nothing else', async () => {
  let between: Between | undefined
  const more = { QUORATE_PAYLOAD_KEY: TEST_PAYLOAD_KEY }
  const place = await scene({
    more,
    at: async ({ url }) => {
      between = await startBetween(url)
      return between.url
    },
  })
  onTestFinished(() => between!.close())
  await place.stopWorker()
  const { organizationId, root } = place.service
  const names = Array.from({ length: COUNT }, (_, index) => `customer-${index}`)
  const ids = new Set<string>()
  const files: Record<string, string> = { 'acme.yaml': ACME }
  for (const subOrganizationName of names) {
    const { publicKey } = generateP256KeyPair()
    const apiKeys = [{ apiKeyName: 'k', publicKey, curveType: 'API_KEY_CURVE_P256' }]
    const rootUsers = [{ userName: 'ann', apiKeys, authenticators: [], oauthProviders: [] }]
    const parameters = { subOrganizationName, rootUsers, rootQuorumThreshold: 1 }
    ids.add((await complete(root, 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7', parameters)).subOrganizationId)
    files[`${subOrganizationName}/c.yaml`] = `organization: ${subOrganizationName}
rootQuorum: { threshold: 1, users: [ann] }
users: { ann: { apiKeys: { k: { curve: P256, publicKey: ${publicKey} } } } }
tags: { vip: {} }
`
  }
  const defs = writeFiles(join(place.folder, 'defs'), files)
  const added = await quorate(['watch', 'add', defs, '--every', '1h'], place)
  expect(added.exit, added.stderr).toBe(0)

  /** How often the users of each sub-organization were asked for. */
  const readings = new Map<string, number>()
  const startWorker = () => {
    const worker = spawn(process.execPath, [builtMain(), 'worker', '--json'], {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...compileCache(), ...place.env },
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    onTestFinished(() => void worker.kill('SIGKILL'))
    return worker
  }
  let isKilled = false
  between!.meddle = async ({ path, body }) => {
    const asked = String(JSON.parse(body || '{}').organizationId)
    if (!path.endsWith('/list_users') || !ids.has(asked)) return undefined
    if (!isKilled && readings.size === KILLED_AFTER) {
      isKilled = true
      first.kill('SIGKILL')
      await killed
      return { kind: 'cut before' }
    }
    readings.set(asked, (readings.get(asked) ?? 0) + 1)
    return undefined
  }
  // The look that was asked for by `watch add` has waited for a worker.
  const first = startWorker()
  const killed = once(first, 'exit')
  await killed
  const { watches } = createPlanStore(join(place.env['QUORATE_DATA_DIR']!, 'plans'))
  expect((await watches.stateOf(organizationId))?.sweptAt).toBeUndefined()
  expect((await watches.readsOf(organizationId)).map(({ reads }) => Object.keys(reads).length)).toEqual([KEPT_AT_ONCE])

  startWorker()
  const state = await vi.waitFor(
    async () => {
      const seen = await watches.stateOf(organizationId)
      if (seen?.sweptAt === undefined) throw new Error(`it has not looked: ${JSON.stringify(seen)}`)
      return seen
    },
    { interval: 250 },
  )
  // All of them are told of, those that were read before among them.
  expect(state.error).toBeUndefined()
  expect(new Set(state.drift.map(({ address }) => address))).toEqual(new Set(names.map((name) => `${name}/tag.vip`)))
  const twice = [...readings.values()].filter((times) => times > 1).length
  expect([readings.size, twice <= KILLED_AFTER - KEPT_AT_ONCE + 3, Math.max(...readings.values())]).toEqual([
    COUNT,
    true,
    2,
  ])
  expect(await watches.readsOf(organizationId)).toEqual([])
})
