/**
 * What one look at a watched organization costs: requests, and processor time of the worker, where nothing has changed and where
 * one tag has gone; and whether its memory stays flat over 10,000 looks. The service is a process of its own.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createActivities, createPlanStore } from '../../activities/index.ts'
import { createRate, createSubmitClient } from '../../src/client/index.ts'
import { p256PublicKey } from '../../src/crypto/index.ts'
import { createWatchPlanner } from '../../src/operations/index.ts'
import { keepDefinitions } from '../../src/operations/watch-plan.ts'
import { makeBody } from '../../src/plan/index.ts'
import { type ActivityType, activities as catalogue } from '../../src/protocol/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret, silentLogger } from '../../src/telemetry/index.ts'
import { startProcess } from '../service/process.ts'

const TAGS = 40
const UNCHANGED = 300
const CHANGED = 10
const LOOKS = 10_000
/** Most that memory may grow over the second half of the looks. */
const MOST_GROWTH_MB = 20
const REQUESTS = 'http.client.request.start'

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-bench-reconcile-'))
  const service = await startProcess(join(folder, 'service'))
  let requests = 0
  const count = () => requests++
  // Every request of this process, whatever client makes it.
  subscribe(REQUESTS, count)
  try {
    const bootstrap = JSON.parse(readFileSync(join(folder, 'service/bootstrap.json'), 'utf8')) as Record<string, string>
    const organizationId = bootstrap['organizationId']!
    const privateKey = new Secret(bootstrap['apiPrivateKey']!)
    const key = { privateKey, publicKey: p256PublicKey(privateKey.reveal()) }
    const rate = createRate({})
    const client = createSubmitClient({ baseUrl: service.url, organizationId, stamper: createApiKeyStamper(key), rate })
    const submit = (type: ActivityType, parameters: object) => {
      const body = makeBody({ type, organizationId, parameters: parameters as never, timestampMs: String(Date.now()) })
      return client.submit(catalogue[type].path, body)
    }
    const names = Array.from({ length: TAGS }, (_, n) => `t${n}`)
    for (const userTagName of names) await submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName, userIds: [] })
    const definitions = join(folder, 'definitions')
    mkdirSync(definitions)
    const tags = names.map((name) => `  ${name}: {}\n`).join('')
    writeFileSync(join(definitions, 'acme.yaml'), `organization: acme\nid: ${organizationId}\ntags:\n${tags}`)

    const store = createPlanStore(join(folder, 'plans'))
    const kept = await keepDefinitions(definitions, { env: {}, vars: {} })
    await store.watches.put({
      ...{ organizationId, organization: 'acme', baseUrl: service.url, given: kept.given, modes: {}, since: '' },
      ...{ definitions: await store.watches.putDefinitions(kept.definitions), everyMs: 60_000, sweepMs: 86_400_000 },
    })
    const place = { baseUrl: service.url, organizationId, key, rate, subOrganizationKeys: undefined }
    const { lookAround } = createActivities({
      clientFor: () => client,
      planStore: store,
      clock: Date.now,
      logger: silentLogger,
      planWatched: createWatchPlanner(place, { dataDir: folder }),
    })
    const look = () => lookAround({ organizationId })
    const measure = async (times: number, before: () => Promise<unknown> = async () => {}) => {
      let cpu = 0
      let asked = 0
      for (let time = 0; time < times; time++) {
        await before()
        const [since, counted] = [process.cpuUsage(), requests]
        await look()
        const { user, system } = process.cpuUsage(since)
        cpu += (user + system) / 1000
        asked += requests - counted
      }
      return { requests: asked / times, ms: (cpu / times).toFixed(2) }
    }
    await look()
    await measure(50)
    const unchanged = await measure(UNCHANGED)
    console.log(`unchanged: requests=${unchanged.requests} cpu=${unchanged.ms}ms`)
    // A counter that sees nothing would pass any bound.
    if (unchanged.requests < 1) throw new RangeError('no request was counted')
    if (unchanged.requests > 3) throw new RangeError('a look at an unchanged organization takes three requests at most')
    const { userTags } = await client.query('list_user_tags', {})
    const ids = userTags.map(({ tagId }) => tagId)
    const changed = await measure(CHANGED, () => submit('ACTIVITY_TYPE_DELETE_USER_TAGS', { userTagIds: [ids.pop()!] }))
    console.log(`one change: requests=${changed.requests} cpu=${changed.ms}ms (of an organization with ${TAGS} tags)`)
    const rss: number[] = []
    for (let time = 0; time < LOOKS; time++) {
      await look()
      if (time % (LOOKS / 10) === LOOKS / 10 - 1) rss.push(Math.round(process.memoryUsage().rss / 2 ** 20))
    }
    console.log(`${LOOKS} looks: rss after each tenth ${rss.join(' ')} MB`)
    const grown = rss.at(-1)! - rss[4]!
    console.log(`memory: ${grown <= MOST_GROWTH_MB ? 'flat' : 'grows'}, ${grown} MB in the last ${LOOKS / 2} looks`)
    if (grown > MOST_GROWTH_MB) throw new RangeError('memory grows with looks')
  } finally {
    unsubscribe(REQUESTS, count)
    await service.end('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  }
}
