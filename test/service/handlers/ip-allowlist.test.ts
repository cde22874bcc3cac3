import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { activities, queries } from '../../../src/protocol/index.ts'
import {
  createTestClock,
  createTestUser,
  startTestService,
  type TestClient,
  type TestService,
  type TestUser,
} from '../harness.ts'
import {
  addTenant,
  complete,
  invalid,
  invalidField,
  missing,
  NOBODY,
  type Refusal,
  refusalOf,
  type Tenant,
} from './steps.ts'

/** One that believes the proxy on this machine, so that a test can come from anywhere. */
let service: TestService
let bob: TestUser
let child: Tenant
beforeAll(async () => {
  service = await startTestService({ clock: createTestClock(), trustedProxies: ['127.0.0.1'] })
  bob = await createTestUser(service, 'bob')
  child = await addTenant(service, { parentId: service.organizationId })
})
afterAll(() => service.close())

const HOME = '127.0.0.1/32'
const set = (parameters: object) => complete(service.root, 'ACTIVITY_TYPE_SET_IP_ALLOWLIST', parameters)
const remove = (parameters: object = {}) => complete(service.root, 'ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST', parameters)
const get = async (request: object = {}) => (await service.root.query('get_ip_allowlist', request)).allowlist
const rules = (...cidrs: string[]) => cidrs.map((cidr) => ({ cidr }))
afterEach(async () => {
  await remove()
  for (const publicKey of [service.root.publicKey, bob.client.publicKey]) await remove({ publicKey })
})

/** Whether a query from there is answered: its status and message. */
async function ask(client: TestClient, from: string, organizationId = service.organizationId) {
  const text = JSON.stringify({ organizationId })
  const { status, body } = await client.raw(queries.whoami.path, text, { 'x-forwarded-for': from })
  return status === 200 ? 200 : [status, body['code'], body['message'], body['turnkeyErrorCode']]
}
const refused = [403, 7, 'request not authorized: source IP is not allowed', 'REQUEST_NOT_AUTHORIZED']

describe('ip allow-list', () => {
  test('ip allow-list: it is set in its normal form, the first of several equal ones kept, replaced and removed', async () => {
    const { organizationId } = service
    const given = [
      { cidr: '192.168.1.100/24', label: 'office' },
      { cidr: '192.168.1.7/24', label: 'again' },
      { cidr: '2001:DB8::1/64' },
      { cidr: HOME },
    ]
    expect(await set({ rules: given, enabled: true, onEvaluationError: 'ALLOW' })).toEqual({})
    const createdAt = '1750000000000'
    expect(await get()).toEqual({
      organizationId,
      enabled: true,
      onEvaluationError: 'ALLOW',
      rules: [
        { cidr: '192.168.1.0/24', label: 'office', createdAt },
        { cidr: '2001:db8::/64', createdAt },
        { cidr: HOME, createdAt },
      ],
    })
    await set({ rules: rules(HOME) })
    expect(await get()).toEqual({
      organizationId,
      enabled: true,
      onEvaluationError: 'ALLOW',
      rules: [{ cidr: HOME, createdAt }],
    })
    expect(await remove()).toEqual({})
    expect(await get()).toEqual({ organizationId, enabled: false, rules: [] })
  })

  test('ip allow-list: a key has a list of its own, in either case of its hex, which goes with the key', async () => {
    const { organizationId } = service
    const { userId, client } = await createTestUser(service, 'carl')
    const publicKey = client.publicKey.toUpperCase()
    await set({ publicKey, rules: rules('10.0.0.0/24') })
    const list = {
      organizationId,
      publicKey: client.publicKey,
      rules: [{ cidr: '10.0.0.0/24', createdAt: '1750000000000' }],
    }
    expect(await get({ publicKey: client.publicKey })).toEqual(list)
    expect((await get()).rules).toEqual([])
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_USERS', { userIds: [userId] })
    expect(await get({ publicKey: client.publicKey })).toEqual({ ...list, rules: [] })
  })

  test.each<{ name: string; given: object; expected: Refusal }>([
    {
      name: 'no block',
      given: { rules: rules(HOME, '10.0.0.300/24') },
      expected: invalid('invalid IP allowlist rule at index 1: `10.0.0.300/24`, it is no address block'),
    },
    {
      name: 'a single address without a length',
      given: { rules: rules('10.0.0.3') },
      expected: invalid('invalid IP allowlist rule at index 0: `10.0.0.3`, it is no address block'),
    },
    {
      name: 'an IPv4 block that is too wide',
      given: { rules: rules('10.0.0.0/19') },
      expected: invalid('invalid IP allowlist rule at index 0: `10.0.0.0/19`, it is wider than /20'),
    },
    {
      name: 'an IPv6 block that is too wide',
      given: { rules: rules('2001:db8::/47') },
      expected: invalid('invalid IP allowlist rule at index 0: `2001:db8::/47`, it is wider than /48'),
    },
    {
      name: 'the eleventh of a family',
      given: { rules: rules(...Array.from({ length: 11 }, (_, i) => `10.0.${i}.0/24`)) },
      expected: invalid('invalid IP allowlist rule at index 10: `10.0.10.0/24`, there are more than 10 of its family'),
    },
    {
      name: 'no rule at all',
      given: { rules: [{ cidr: '' }] },
      expected: invalidField('rules[0].cidr', 'must not be empty'),
    },
    {
      name: 'another word about errors',
      given: { rules: [], onEvaluationError: 'MAYBE' },
      expected: invalidField('onEvaluationError', 'must be one of ALLOW, DENY'),
    },
    { name: 'an unknown key', given: { publicKey: NOBODY }, expected: missing(`api key not found: ${NOBODY}`) },
  ])('ip allow-list: $name is refused', async ({ given, expected }) => {
    expect(await refusalOf(set(given))).toEqual(expected)
    expect((await get()).rules).toEqual([])
  })

  test('ip allow-list: ten of each family are taken, and only the organization is enabled', async () => {
    const ten = Array.from({ length: 10 }, (_, i) => [`10.0.${i}.0/24`, `2001:db8:${i}::/48`]).flat()
    await set({ rules: rules(...ten) })
    expect((await get()).rules).toHaveLength(20)
    const { publicKey } = service.root
    const refusal = await refusalOf(set({ publicKey, enabled: true, rules: [] }))
    expect(refusal).toEqual(invalidField('enabled', 'belongs to the list of the organization'))
  })
})

describe('source addresses', () => {
  test('source addresses: without a list, or with one that is not enabled, everybody is let in', async () => {
    expect(await ask(bob.client, '203.0.113.9')).toBe(200)
    await set({ rules: rules('10.0.0.0/24'), enabled: false })
    expect(await ask(bob.client, '203.0.113.9')).toBe(200)
  })

  test('source addresses: an enabled list lets its blocks in and nobody else, for queries and submits', async () => {
    await set({ rules: rules(HOME, '10.0.0.0/24', '2001:db8::/48'), enabled: true })
    expect(await ask(bob.client, '10.0.0.255')).toBe(200)
    expect(await ask(bob.client, '::ffff:10.0.0.7')).toBe(200)
    expect(await ask(bob.client, '2001:db8:0:ffff::1')).toBe(200)
    expect(await ask(bob.client, '10.0.1.0')).toEqual(refused)
    expect(await ask(bob.client, '2001:db8:1::')).toEqual(refused)
    const { path, text } = service.body('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 't', userIds: [] })
    const sent = await service.root.raw(path, text, { 'x-forwarded-for': '10.0.1.0' })
    expect(sent.body).toMatchObject({ code: 7, message: refused[2] })
    expect((await service.root.query('list_user_tags')).userTags).toEqual([])
  })

  test('source addresses: a key with rules is judged by them alone, one without by the organization', async () => {
    await set({ rules: rules(HOME, '10.0.0.0/24'), enabled: true })
    const { publicKey } = bob.client
    await set({ publicKey, rules: rules('192.168.7.0/24') })
    expect(await ask(bob.client, '192.168.7.1')).toBe(200)
    expect(await ask(bob.client, '10.0.0.1')).toEqual(refused)
    await set({ publicKey, rules: [] })
    expect(await ask(bob.client, '192.168.7.1')).toEqual(refused)
    expect(await ask(bob.client, '10.0.0.1')).toBe(200)
  })

  test('source addresses: a key with rules is not judged while the organization is not enabled', async () => {
    await set({ publicKey: bob.client.publicKey, rules: rules('192.168.7.0/24') })
    expect(await ask(bob.client, '203.0.113.9')).toBe(200)
  })

  test('source addresses: an address that cannot be told is refused unless the list says otherwise', async () => {
    await set({ rules: rules(HOME), enabled: true })
    expect(await ask(bob.client, 'unknown')).toEqual(refused)
    await set({ rules: rules(HOME), onEvaluationError: 'ALLOW' })
    expect(await ask(bob.client, 'unknown')).toBe(200)
    await set({ rules: rules(HOME), onEvaluationError: 'DENY' })
    expect(await ask(bob.client, 'unknown')).toEqual(refused)
  })

  test('source addresses: those of a sub-organization are exempt and have no list, the parent’s user is not', async () => {
    await set({ rules: rules(HOME), enabled: true })
    const { organizationId, client } = child
    expect(await ask(client, '203.0.113.9', organizationId)).toBe(200)
    expect(await ask(service.root, '203.0.113.9', organizationId)).toEqual(refused)
    for (const type of ['ACTIVITY_TYPE_SET_IP_ALLOWLIST', 'ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST'] as const) {
      const refusal = await refusalOf(client.submit(type, { rules: [] }, { organizationId }))
      expect(refusal).toEqual(invalid('IP allowlists are for parent organizations alone'))
    }
  })

  test('source addresses: enabled without rules, the organization is closed to all', async () => {
    const closed = await startTestService()
    try {
      await complete(closed.root, 'ACTIVITY_TYPE_SET_IP_ALLOWLIST', { rules: [], enabled: true })
      expect(await refusalOf(closed.root.query('whoami'))).toEqual(refused)
      const { path } = activities.ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST
      const { text } = closed.body('ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST', {})
      expect((await closed.root.raw(path, text)).status).toBe(403)
    } finally {
      await closed.close()
    }
  })

  test('source addresses: unless a proxy is named, nobody believes what a request says of its own source', async () => {
    const plain = await startTestService()
    try {
      const given = { rules: rules('10.0.0.0/24'), enabled: true }
      await complete(plain.root, 'ACTIVITY_TYPE_SET_IP_ALLOWLIST', given)
      const text = JSON.stringify({ organizationId: plain.organizationId })
      const { status } = await plain.root.raw(queries.whoami.path, text, { 'x-forwarded-for': '10.0.0.1' })
      expect(status).toBe(403)
    } finally {
      await plain.close()
    }
  })
})
