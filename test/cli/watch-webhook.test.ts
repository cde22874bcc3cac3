/** How soon a hand edit is told: a real service, Temporal server, Schedule and worker process; nobody asks for a look. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createPlanStore, type DriftRow, type WatchState } from '../../activities/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { askAboutWebhooks } from '../../src/service/operator/index.ts'
import { builtMain } from '../built.ts'
import { TEST_PAYLOAD_KEY } from '../payload-key.ts'
import { countActivities, keyFile, quorateShared as quorate, testFolder, writeFiles } from './harness.ts'
import { type Scene, scene } from './scene.ts'

const ann = generateP256KeyPair()

const acme = (more: string) => `organization: acme
id: \${env.ACME_ORGANIZATION_ID}
tags: { treasury: {}, engineering: {} }
policies:
  no-exports: { effect: deny, condition: activity.action == 'EXPORT' }
${more}`

const customer = `organization: customer-1
rootQuorum: { threshold: 1, users: [ann] }
tags: { vip: {} }
users:
  ann: { apiKeys: { k: { curve: P256, publicKey: ${ann.publicKey} } } }
`

interface Watched extends Scene {
  /** How the organization stood at the last look, as the plan store has it. */
  readonly state: () => Promise<WatchState | undefined>
  /** Waits for what the last look is to have found. */
  readonly until: (wanted: (state: WatchState) => boolean) => Promise<WatchState>
  readonly run: (...args: readonly string[]) => ReturnType<typeof quorate>
}

async function watchedScene(): Promise<Watched> {
  const keys = testFolder()
  keyFile(keys, 'customer-1', ann.privateKey)
  const more = { QUORATE_PAYLOAD_KEY: TEST_PAYLOAD_KEY, QUORATE_SUB_ORGANIZATION_KEYS: keys }
  const place = await scene({ operator: true, more })
  const { watches } = createPlanStore(join(place.env['QUORATE_DATA_DIR']!, 'plans'))
  const state = () => watches.stateOf(place.service.organizationId)
  return {
    ...place,
    state,
    run: (...args) => quorate(args, place),
    async until(wanted) {
      return vi.waitFor(
        async () => {
          const seen = await state()
          if (!seen || !wanted(seen)) throw new Error(`never as wanted: ${JSON.stringify(seen)}`)
          return seen
        },
        { interval: 50 },
      )
    },
  }
}

/** Somebody changes the condition of the policy by hand. */
async function edit({ service }: Scene, condition: string) {
  const [policy] = (await service.root.query('list_policies')).policies
  const parameters = { policyId: policy!.policyId, policyCondition: condition }
  return service.root.submit('ACTIVITY_TYPE_UPDATE_POLICY_V2', parameters)
}

const rowOf = ({ drift }: WatchState, address: string, activityId: string): DriftRow | undefined =>
  drift.find((row) => row.address === address && row.author?.activityId === activityId)

/** Starts `quorate worker` where webhooks come to it, and gives its URL for them. */
async function startListeningWorker(place: Watched): Promise<{ readonly url: string; readonly process: ChildProcess }> {
  await place.stopWorker()
  const worker = spawn(process.execPath, [builtMain(), 'worker', '--json', '--webhook-port', '0'], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...place.env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(async () => {
    worker.kill('SIGKILL')
  })
  let said = ''
  worker.stdout.on('data', (chunk) => {
    said += chunk
  })
  await vi.waitFor(() => expect(said).toContain('"webhookUrl"'))
  const ready = said.split('\n').find((text) => text.includes('"webhookUrl"'))!
  const { webhookUrl } = JSON.parse(ready) as { readonly webhookUrl: string }
  // A service sends no webhook to a port of its own machine unless its operator lets it.
  await askAboutWebhooks(place.service.dataDir, { kind: 'open-loopback', port: Number(new URL(webhookUrl).port) })
  return { url: webhookUrl, process: worker }
}

/** When it was looked at last, once that stands still: a look that runs when it is paused ends, and so does the one behind it. */
async function settled({ state }: Watched, lookMs: number): Promise<string> {
  for (let last = ''; ; ) {
    const { lookedAt } = (await state())!
    if (lookedAt === last) return last
    last = lookedAt
    await new Promise((resolve) => setTimeout(resolve, 4_000 + 3 * lookMs))
  }
}

/** How long this machine takes now from asking for a look to reading of it: on a busy one, promises of time are later by as much. */
async function timeLook(place: Watched): Promise<number> {
  const { lookedAt: before } = (await place.state())!
  const since = performance.now()
  expect((await place.run('watch', 'run')).exit).toBe(0)
  await place.until(({ lookedAt }) => lookedAt > before)
  return performance.now() - since
}

test('watch: by a webhook a hand edit is told within 5 s, one inside a sub-organization soon, and nothing is submitted', async () => {
  const place = await watchedScene()
  const { url, process: worker } = await startListeningWorker(place)
  const defs = writeFiles(join(place.folder, 'defs'), {
    'acme.yaml': acme(`webhooks: { reconciler: { url: "${url}", subscriptions: [ACTIVITY_UPDATES] } }\n`),
    'customer-1/c.yaml': customer,
  })
  const applied = await place.run('apply', defs, '--yes')
  expect(applied.exit, applied.stderr).toBe(0)
  const added = await place.run('watch', 'add', defs, '--every', '1h')
  expect(added.exit, added.stderr).toBe(0)
  await place.until(({ goodAt }) => goodAt !== undefined)

  const lookMs = await timeLook(place)
  const before = await countActivities(place.service)
  const took: number[] = []
  let edited: Awaited<ReturnType<typeof edit>>
  for (const action of ['SIGN', 'CREATE', 'DELETE']) {
    const since = performance.now()
    edited = await edit(place, `activity.action == '${action}'`)
    const told = await place.until((state) => rowOf(state, 'policy.no-exports', edited.id) !== undefined)
    took.push(performance.now() - since)
    expect(rowOf(told, 'policy.no-exports', edited.id)).toMatchObject({ author: { userName: 'root' }, mode: 'report' })
  }
  console.log(
    `told after ${took.map((ms) => `${Math.round(ms)} ms`).join(', ')}; a look takes ${Math.round(lookMs)} ms`,
  )
  // The next look by the clock is an hour away. Another process may have the machine for a while: once in three it may be late.
  expect(took.toSorted((one, other) => one - other)[1]).toBeLessThan(5_000 + 3 * lookMs)
  expect(await countActivities(place.service)).toBe(before + 3)

  // Inside: a look asks nothing of it before the next sweep, which is an hour away.
  expect((await place.run('watch', 'add', defs, '--every', '2s', '--sweep', '1h')).exit).toBe(0)
  const { sweeps } = await place.until(({ drift, sweptAt, lookedAt }) => drift.length === 1 && lookedAt > sweptAt!)
  const [inside] = (await place.service.root.query('list_suborgs', { filterType: 'NAME', filterValue: 'customer-1' }))
    .organizationIds
  const own = place.service.client(ann.privateKey)
  const { userTags } = await own.query('list_user_tags', { organizationId: inside! })
  const parameters = { userTagIds: userTags.map(({ tagId }) => tagId) }
  const deleted = await own.submit('ACTIVITY_TYPE_DELETE_USER_TAGS', parameters, { organizationId: inside! })
  const after = await place.until((state) => rowOf(state, 'customer-1/tag.vip', deleted.id) !== undefined)
  // All had just been read, so it may wait for `--every` once; without the webhook it would be told in an hour.
  expect(after.sweeps).toBe(sweeps + 1)

  // Somebody has paused it: a webhook changes nothing about that.
  expect((await place.run('watch', 'pause')).exit).toBe(0)
  const lookedAt = await settled(place, lookMs)
  await edit(place, "activity.action == 'UPDATE'")
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  expect((await place.state())!.lookedAt).toBe(lookedAt)

  // What is not signed by the service has nobody look.
  const forged = await fetch(url, { method: 'POST', body: JSON.stringify(edited!) })
  expect(forged.status).toBe(400)
  expect((await fetch(url)).status).toBe(404)
  worker.kill('SIGTERM')
  expect((await once(worker, 'exit'))[0]).toBe(0)
})

test('watch: without webhooks a hand edit is told within two intervals, whenever in one it is made', async () => {
  const everyMs = 4_000
  const place = await watchedScene()
  const defs = writeFiles(join(place.folder, 'defs'), { 'acme.yaml': acme('') })
  expect((await place.run('apply', defs, '--yes')).exit).toBe(0)
  expect((await place.run('watch', 'add', defs, '--every', '4s')).exit).toBe(0)
  await place.until(({ goodAt }) => goodAt !== undefined)
  const lookMs = await timeLook(place)
  for (const [index, waitMs] of [0, 1_300, 2_600].entries()) {
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    const since = performance.now()
    const { id } = await edit(place, `wallet.id == '${index}'`)
    await place.until((state) => rowOf(state, 'policy.no-exports', id) !== undefined)
    expect(performance.now() - since).toBeLessThan(2 * everyMs + 3 * lookMs)
  }
})
