/** Clients of the API for a worker: one for each organization inside, as long as its key is the same. */
import { rmSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { assertActsAs } from '../../activities/acting-user.ts'
import { createRate } from '../../src/client/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { createClients, type Place } from '../../src/operations/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { keyFile, testFolder } from '../cli/harness.ts'
import { watchRequests } from '../reliability/door.ts'
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
