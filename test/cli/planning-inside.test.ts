/** What is inside sub-organizations is planned against a real service, without a process: trust, identity, and what it costs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRate, type QueryClient } from '../../src/client/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { creatorsOf, kindsMentioned, readActual } from '../../src/live/index.ts'
import { keyInside, reader } from '../../src/operations/clients.ts'
import type { Place } from '../../src/operations/place.ts'
import { type PlannedInside, planInside, wantedOf, withoutTombstones } from '../../src/operations/plan-inside.ts'
import { type Lock, makePlan, type Plan } from '../../src/plan/index.ts'
import type { Desired } from '../../src/resources/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { loadFiles } from '../definitions/harness.ts'
import { createTestUser, startTestService, type TestService } from '../service/harness.ts'
import { keyFile, testFolder } from './harness.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

const ann = generateP256KeyPair()
const zoe = generateP256KeyPair()

/** Makes a sub-organization of which Ann and Zoe are the root users, as one of the parent's users. */
async function make(subOrganizationName: string, by = service.root): Promise<string> {
  const rootUsers = Object.entries({ ann, zoe }).map(([userName, { publicKey }]) => {
    const apiKeys = [{ apiKeyName: 'k', publicKey, curveType: 'API_KEY_CURVE_P256' }]
    return { userName, apiKeys, authenticators: [], oauthProviders: [] }
  })
  const parameters = { subOrganizationName, rootUsers, rootQuorumThreshold: 1 }
  const { result } = await by.submit('ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8', parameters)
  return (result as { createSubOrganizationResultV8: { subOrganizationId: string } }).createSubOrganizationResultV8
    .subOrganizationId
}

async function define(...names: readonly string[]): Promise<Desired> {
  const inside = (name: string) => `organization: ${name}
rootQuorum: { threshold: 1, users: [ann, zoe] }
users:
  ann: { apiKeys: { k: { curve: P256, publicKey: ${ann.publicKey} } } }
  zoe: { apiKeys: { k: { curve: P256, publicKey: ${zoe.publicKey} } } }
`
  const { desired, diagnostics } = await loadFiles(
    {
      'a.yaml': `organization: acme\nid: ${service.organizationId}\n`,
      ...Object.fromEntries(names.map((name) => [`${name}/a.yaml`, inside(name)])),
    },
    { env: {}, vars: {} },
  )
  expect(diagnostics).toEqual([])
  return desired!
}

interface Given {
  readonly lock?: Lock
  readonly keys?: Readonly<Record<string, string>>
  /** Answers in place of the service, or throws. */
  readonly through?: (client: QueryClient) => QueryClient
}

async function plan(
  desired: Desired,
  { lock = {}, keys = {}, through = (client) => client }: Given = {},
): Promise<{
  own: ReturnType<typeof makePlan>
  inside: PlannedInside
}> {
  const folder = testFolder()
  for (const [name, key] of Object.entries(keys)) keyFile(folder, name, key)
  const { publicKey, privateKey } = service.root
  const place: Place = {
    baseUrl: service.url,
    organizationId: service.organizationId,
    embedded: false,
    now: Date.now,
    key: { publicKey, privateKey: new Secret(privateKey) },
    subOrganizationKeys: folder,
    rate: createRate(),
  }
  const client = through(reader(place))
  const actual = await readActual(client, {
    mentioned: kindsMentioned(desired, lock[desired.organizationId]),
    subOrganizations: wantedOf(desired, lock),
  })
  const creators = await creatorsOf(client, actual, lock)
  const common = { baseUrl: service.url, allow: [], now: '2026-01-01T00:00:00.000Z' }
  const parent = withoutTombstones({ actual, desired, oldLock: lock })
  const own = makePlan({ ...common, desired, ...parent, creators })
  const inside = await planInside({
    ...common,
    desired,
    actual,
    oldLock: lock,
    lock: own.lock,
    creators,
    place,
    client,
  })
  return { own, inside }
}

const guardsOf = ({ guards }: Plan) => guards.map(({ name, addresses }) => [name, ...addresses])

describe('what is inside', () => {
  test('is trusted with its sub-organization: ours needs no leave, and what somebody else made needs it', async () => {
    await make('ours')
    const { client: mallory } = await createTestUser(service, 'mallory')
    await service.root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: 'mallory-makes',
      effect: 'EFFECT_ALLOW',
      consensus: 'true',
      condition: "activity.kind == 'CREATE_SUB_ORGANIZATION'",
      notes: '',
    })
    await make('theirs', mallory)
    const keys = { ours: ann.privateKey, theirs: ann.privateKey }
    const { own, inside } = await plan(await define('ours', 'theirs'), { keys })
    expect(guardsOf(own.plan)).toEqual([['adoption', 'subOrganization.theirs']])
    expect(inside.plans.map((one) => [one.organization.name, guardsOf(one)])).toEqual([
      ['ours', []],
      ['theirs', [['adoption', 'apiKey.zoe.k', 'user.zoe']]],
    ])
  })

  test('is found by its id after somebody renamed it, and the name goes back to what its definition says', async () => {
    const id = await make('named')
    await service
      .client(ann.privateKey)
      .submit('ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME', { organizationName: 'other' }, { organizationId: id })
    const lock = { [service.organizationId]: { 'subOrganization.named': { id } } }
    const { own, inside } = await plan(await define('named'), { lock, keys: { named: ann.privateKey } })
    expect(own.plan.changes).toEqual([])
    expect(inside.plans[0]!.changes).toMatchObject([
      { address: 'organization', fields: [{ field: 'name', before: 'other', after: 'named' }] },
    ])
    const gone = { [service.organizationId]: { 'subOrganization.named': { id: crypto.randomUUID() } } }
    expect((await plan(await define('named'), { lock: gone })).own.plan.changes).toMatchObject([{ action: 'create' }])
  })

  test('two of one name are ambiguous, and a key of nobody inside is refused', async () => {
    const ids = [await make('twin'), await make('twin')].sort()
    const { own } = await plan(await define('twin'))
    expect(own.diagnostics.map(({ message }) => message)).toEqual([
      `2 live things are the sub-organization \`twin\`: \`${ids[0]}\` and \`${ids[1]}\``,
    ])
    await make('single')
    const keys = { single: generateP256KeyPair().privateKey }
    await expect(plan(await define('single'), { keys })).rejects.toMatchObject({ code: 'cli/foreign-key' })
  })

  test('costs one request by name and four to read each, and any that fails is an error', async () => {
    for (const name of ['a', 'b', 'c']) await make(`cost-${name}`)
    const desired = await define('cost-a', 'cost-b', 'cost-c')
    const asked: string[] = []
    const counting = (client: QueryClient): QueryClient => ({
      ...client,
      query: (name, request, options) => {
        if (name === 'list_suborgs' || 'organizationId' in request) asked.push(name)
        return client.query(name, request, options)
      },
    })
    await plan(desired, { through: counting })
    const kinds = ['get_organization_configs', 'list_policies', 'list_user_tags', 'list_users']
    expect(asked.toSorted()).toEqual(['list_suborgs', ...kinds].flatMap((name) => [name, name, name]).toSorted())

    for (const at of [...new Set(asked)].map((name) => asked.lastIndexOf(name))) {
      let number = 0
      const failing = (client: QueryClient): QueryClient => ({
        ...client,
        query: async (name, request, options) => {
          if ((name === 'list_suborgs' || 'organizationId' in request) && number++ === at) throw new Error('cut off')
          return client.query(name, request, options)
        },
      })
      await expect(plan(desired, { through: failing }), asked[at]!).rejects.toThrow('cut off')
    }
  })

  test('keys are found by the name of the organization, whatever is in it', async () => {
    const folder = testFolder()
    keyFile(folder, encodeURIComponent('Söder & Co./..'), ann.privateKey)
    const found = await keyInside({ subOrganizationKeys: folder }, 'Söder & Co./..')
    expect(found?.publicKey).toBe(ann.publicKey)
    expect(await keyInside({ subOrganizationKeys: folder }, 'nobody')).toBeUndefined()
    expect(await keyInside({ subOrganizationKeys: undefined }, 'nobody')).toBeUndefined()
  })
})
