/** Clients of the API for a worker: one for each organization inside, as long as its key is the same. */
import { rmSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { assertActsAs } from '../../activities/acting-user.ts'
import { createRate, type Timing } from '../../src/client/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { rateInside, rateOf, rateOfSends } from '../../src/operations/clients.ts'
import { createClients, type Place } from '../../src/operations/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { keyFile, testFolder } from '../cli/harness.ts'
import { mostIn, watchRequests } from '../reliability/door.ts'
import { startTestService } from '../service/harness.ts'

test('whose key it has inside a sub-organization, a worker asks once in a minute, and anew when it has another key there', async () => {
  const service = await startTestService()
  onTestFinished(() => service.close())
  const door = await watchRequests(service.url)
  onTestFinished(() => void door.close())
  const keys = Array.from({ length: 3 }, () => generateP256KeyPair())
  const apiKeys = keys.map(({ publicKey }, at) => {
    return { apiKeyName: `key ${at}`, publicKey, curveType: 'API_KEY_CURVE_P256' }
  })
  const rootUsers = [{ userName: 'ops', apiKeys, authenticators: [], oauthProviders: [] }]
  const { result } = await service.root.submit('ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7', {
    ...{ subOrganizationName: 'ops', rootUsers, rootQuorumThreshold: 1 },
  })
  const { subOrganizationId, rootUserIds } = result.createSubOrganizationResultV7!
  const [first, second, third] = keys
  const folder = testFolder()
  const place: Place = {
    ...{ baseUrl: door.url, organizationId: service.organizationId, embedded: false, now: Date.now },
    key: { publicKey: service.root.publicKey, privateKey: new Secret(service.root.privateKey) },
    ...{ subOrganizationKeys: folder, rate: createRate() },
  }
  const clientFor = createClients(place, { dataDir: folder })
  const by = { userId: rootUserIds![0]!, userName: 'ops', publicKey: first!.publicKey }
  const act = async () =>
    assertActsAs(await clientFor({ id: subOrganizationId, name: 'ops' }), by, { what: 'the plan was made for' })
  const asked = () => door.seen.filter(({ path }) => path.endsWith('/whoami')).length

  keyFile(folder, 'ops', second!.privateKey)
  for (let step = 0; step < 3; step++) await act()
  expect(asked()).toBe(1)
  rmSync(`${folder}/ops.key`)
  keyFile(folder, 'ops', third!.privateKey)
  for (let step = 0; step < 3; step++) await act()
  expect(asked()).toBe(2)
})

test.each([
  { of: 'a sub-organization', requestsPerSecond: 1, every: 1_050 },
  { of: 'a sub-organization', requestsPerSecond: 3, every: 350 },
  { of: 'a sub-organization', requestsPerSecond: 10, every: 105 },
  { of: 'a sub-organization', requestsPerSecond: 60, every: 105 },
  { of: 'sends', requestsPerSecond: 1, every: 1_050 },
  { of: 'sends', requestsPerSecond: 10, every: 105 },
  { of: 'sends', requestsPerSecond: 60, every: 105 },
  { of: 'sends', requestsPerSecond: undefined, every: 105 },
  { of: 'sends of a sub-organization', requestsPerSecond: 10, every: 105 },
  { of: 'sends of a sub-organization', requestsPerSecond: 60, every: 105 },
])('$of at $requestsPerSecond a second goes every $every ms', async ({ of, requestsPerSecond, every }) => {
  let now = 0
  const timing: Timing = {
    now: () => now,
    // As timers are, late by a little: a turn that begins at the same moment as another is missed.
    sleep: async (ms) => {
      now += ms + 0.5
    },
    random: () => 0.5,
  }
  const settings = { requestsPerSecond, dataDir: testFolder(), timing }
  const shared = rateOf(settings, 'https://api.test')
  const sends = rateOfSends(settings, 'id', shared)
  const rate = of === 'sends' ? sends : rateInside(settings, 'id', of === 'a sub-organization' ? shared : sends)
  const times: number[] = []
  for (let request = 0; request < 30; request++) {
    await rate.take()
    times.push(timing.now())
    // What a request takes until the next can be asked for.
    await timing.sleep(3)
  }
  expect(mostIn(1_000, times)).toBeLessThanOrEqual(Math.min(10, requestsPerSecond ?? 10))
  expect((times.at(-1)! - times[0]!) / 29).toBeLessThan(every * 1.05)
})
