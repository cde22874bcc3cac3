/**
 * Who may what: every route of the catalogue by every kind of caller. The matrix is made from the catalogue, so a new
 * route is in it by itself. Login sessions are no actor yet: nothing issues their keys.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../../src/crypto/index.ts'
import { type ActivityType, activities, type JsonObject, type QueryName, queries } from '../../../src/protocol/index.ts'
import { handlers } from '../../../src/service/resources/index.ts'
import { sampleOf } from '../handlers/sample.ts'
import { addTenant, complete, makePrivateKey, NOBODY, newKey, type Tenant } from '../handlers/steps.ts'
import { createTestClock, createTestUser, startTestService, type TestClient, type TestService } from '../harness.ts'

const types = Object.keys(activities) as ActivityType[]
const names = Object.keys(queries) as QueryName[]
const clock = createTestClock()
let service: TestService
let child: Tenant
let stranger: Tenant
let actors: Readonly<Record<string, TestClient>>
beforeAll(async () => {
  service = await startTestService({ clock })
  child = await addTenant(service, { parentId: service.organizationId })
  stranger = await addTenant(service)
  const user = await createTestUser(service, 'user')
  const revoked = await createTestUser(service, 'revoked')
  const expired = await createTestUser(service, 'expired')
  const { apiKeys } = await service.root.query('get_api_keys', { userId: revoked.userId })
  const spare = { userId: revoked.userId, apiKeys: [newKey()] }
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', spare)
  const deletion = { userId: revoked.userId, apiKeyIds: [apiKeys[0]!.apiKeyId] }
  await complete(service.root, 'ACTIVITY_TYPE_DELETE_API_KEYS', deletion)
  const short = generateP256KeyPair()
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', {
    userId: expired.userId,
    apiKeys: [newKey({ publicKey: short.publicKey, expirationSeconds: '60' })],
  })
  clock.advance(61_000)
  actors = {
    'a root user of the parent': service.root,
    'a user of the parent': user.client,
    'a root user of the sub-organization': child.client,
    'somebody of another organization': stranger.client,
    'a revoked key': revoked.client,
    'an expired key': service.client(short.privateKey),
  }
})
afterAll(() => service.close())

/** What came of a request: HTTP status, code, the API's error code. */
type Outcome = readonly [status: number, code: unknown, turnkeyErrorCode: unknown]

async function submit(client: TestClient, type: ActivityType, to: string, parameters?: object, headers = {}) {
  const body = service.body(type, parameters ?? sampleOf(activities[type].intent), { organizationId: to })
  return outcomeOf(await client.raw(body.path, body.text, headers))
}

async function query(client: TestClient, name: QueryName, to: string, headers = {}) {
  const request = { ...sampleOf(queries[name].request), organizationId: to }
  return outcomeOf(await client.raw(queries[name].path, JSON.stringify(request), headers))
}

function outcomeOf({ status, body }: { readonly status: number; readonly body: JsonObject }): Outcome {
  return [status, body['code'], body['turnkeyErrorCode']]
}

const NO_STAMP: Outcome = [401, 16, 'SIGNATURE_MISSING']
const NOT_FOUND: Outcome = [401, 16, 'PUBLIC_KEY_NOT_FOUND']
const EXPIRED: Outcome = [401, 16, 'API_KEY_EXPIRED']
const MISMATCH: Outcome = [400, 3, 'ORGANIZATION_MISMATCH']
/** Logins look for their home below a parent (docs/protocol/stamps.md#from-stamp-to-caller). */
const FINDS_HOME: readonly ActivityType[] = ['ACTIVITY_TYPE_STAMP_LOGIN']

/** What a parent's user may submit inside, where the parent's policies allow it (docs/protocol/stamps.md#from-stamp-to-caller). */
const BY_PARENT =
  /^ACTIVITY_TYPE_(OAUTH|OAUTH_LOGIN|(INIT_)?OTP_AUTH|OTP_LOGIN|EMAIL_AUTH|INIT_USER_EMAIL_RECOVERY|CREATE_OAUTH_PROVIDERS)(_V\d)?$/

/** Every user may do this for itself, whatever the policies say of others. */
const FOR_ITSELF: readonly ActivityType[] = ['ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION']

/** Each actor, where the request goes, and the one outcome of every route, or what no route may come to. */
const MATRIX: readonly {
  readonly actor: string
  readonly target: 'parent' | 'sub-organization'
  readonly submits: Outcome | 'judged' | 'never done'
  readonly queries: Outcome | 'answered'
}[] = [
  { actor: 'a root user of the parent', target: 'parent', submits: 'judged', queries: 'answered' },
  { actor: 'a root user of the parent', target: 'sub-organization', submits: MISMATCH, queries: 'answered' },
  { actor: 'a user of the parent', target: 'parent', submits: 'never done', queries: 'answered' },
  { actor: 'a user of the parent', target: 'sub-organization', submits: MISMATCH, queries: 'answered' },
  { actor: 'a root user of the sub-organization', target: 'parent', submits: MISMATCH, queries: 'answered' },
  { actor: 'a root user of the sub-organization', target: 'sub-organization', submits: 'judged', queries: 'answered' },
  { actor: 'somebody of another organization', target: 'parent', submits: NOT_FOUND, queries: NOT_FOUND },
  { actor: 'somebody of another organization', target: 'sub-organization', submits: NOT_FOUND, queries: NOT_FOUND },
  { actor: 'a revoked key', target: 'parent', submits: NOT_FOUND, queries: NOT_FOUND },
  { actor: 'an expired key', target: 'parent', submits: EXPIRED, queries: EXPIRED },
]

describe('who may what', () => {
  let requests = 0
  afterAll(() => console.log(`routes=${types.length + names.length} rows=${MATRIX.length} requests=${requests}`))

  test.each(MATRIX.filter(({ submits }) => submits !== 'judged'))(
    'who may what: $actor submits to the $target',
    async ({ actor, target, submits }) => {
      const to = target === 'parent' ? service.organizationId : child.organizationId
      const before = await service.root.query('get_organization')
      for (const type of types) {
        requests++
        const outcome = await submit(actors[actor]!, type, to)
        if (FINDS_HOME.includes(type) && submits === MISMATCH) continue
        if (FOR_ITSELF.includes(type) && submits === 'never done') {
          expect([type, outcome[0]]).toEqual([type, 200])
          continue
        }
        const isInside = target === 'sub-organization' && submits === MISMATCH
        // Known and judged: the sample names nobody who is there.
        if (isInside && BY_PARENT.test(type)) {
          expect([type, outcome]).toEqual([
            type,
            [expect.toBeOneOf([400, 403, 404, 501]), expect.anything(), expect.anything()],
          ])
          expect([type, outcome[2]]).not.toEqual([type, 'ORGANIZATION_MISMATCH'])
        } else if (submits !== 'never done') expect([type, outcome]).toEqual([type, submits])
        // Refused by the policies, or before they are asked: for what it names, or because nobody can.
        else expect([type, outcome[0]]).toEqual([type, expect.toBeOneOf([400, 403, 404, 409, 501])])
      }
      expect(await service.root.query('get_organization')).toEqual(before)
    },
    60_000,
  )

  test.each(MATRIX.filter(({ submits }) => submits === 'judged'))(
    'who may what: $actor submits to the $target and is always known',
    async ({ actor, target }) => {
      const to = target === 'parent' ? service.organizationId : child.organizationId
      // What would take away the caller's own rights comes after everything else in the organization that it does so in.
      for (const type of types.filter((each) => !/ROOT_QUORUM|IP_ALLOWLIST|DELETE_SUB_ORGANIZATION/.test(each))) {
        requests++
        const [status, code] = await submit(actors[actor]!, type, to)
        expect([type, status, code]).toEqual([type, expect.toBeOneOf([200, 400, 403, 404, 409, 429, 501]), code])
        expect([type, code]).not.toEqual([type, 16])
      }
    },
    60_000,
  )

  test.each(MATRIX)('who may what: $actor asks the $target', async ({ actor, target, queries: expected }) => {
    const to = target === 'parent' ? service.organizationId : child.organizationId
    for (const name of names) {
      requests++
      const outcome = await query(actors[actor]!, name, to)
      if (expected === 'answered') expect([name, outcome[0]]).toEqual([name, expect.toBeOneOf([200, 400, 404, 501])])
      else expect([name, outcome]).toEqual([name, expected])
    }
  })

  test('who may what: without a stamp nothing is submitted and nothing is answered', async () => {
    for (const type of types) {
      requests++
      const outcome = await submit(service.root, type, service.organizationId, undefined, { 'x-stamp': '' })
      expect([type, outcome]).toEqual([type, NO_STAMP])
    }
    for (const name of names) {
      requests++
      expect([name, await query(service.root, name, service.organizationId, { 'x-stamp': '' })]).toEqual([
        name,
        NO_STAMP,
      ])
    }
  })
})

describe('ids of others', () => {
  test('ids of others: in every activity they look like ids that nothing has', async () => {
    const { root } = service
    const wallet = { walletName: 'w', accounts: [] }
    const { walletId } = await complete(root, 'ACTIVITY_TYPE_CREATE_WALLET', wallet)
    const policy = { policyName: 'p', effect: 'EFFECT_DENY', condition: 'false' }
    const { policyId } = await complete(root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', policy)
    const tag = { userTagName: 't', userIds: [] }
    const { userTagId } = await complete(root, 'ACTIVITY_TYPE_CREATE_USER_TAG', tag)
    const foreign = [service.rootUserId, walletId, policyId, userTagId, await makePrivateKey(root)]
    const executed = types.filter((type) => 'execute' in handlers[type])
    let compared = 0
    const sample = 'beef'
    for (const type of executed) {
      const text = JSON.stringify(sampleOf(activities[type].intent))
      if (!text.includes(sample)) continue
      const withId = (id: string) => JSON.parse(text.replaceAll(/[0-9a-f-]{32}beef/g, id)) as object
      const ask = async (id: string) => {
        const body = service.body(type, withId(id), { organizationId: stranger.organizationId })
        const answer = await stranger.client.raw(body.path, body.text)
        return [answer.status, answer.text.replaceAll(id, 'ID')]
      }
      const unknown = await ask(NOBODY)
      if (unknown[0] === 200) continue
      for (const id of foreign) {
        compared++
        expect([type, await ask(id)]).toEqual([type, unknown])
      }
    }
    console.log(`activities=${executed.length} compared=${compared}`)
    expect(compared).toBeGreaterThan(100)
  })
})
