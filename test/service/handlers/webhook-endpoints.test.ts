import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NameNotFound } from '../../../src/service/network/resolve-host.ts'
import { startTestService, type TestService } from '../harness.ts'
import {
  addTenant,
  complete,
  exhausted,
  invalid,
  invalidField,
  missing,
  NOBODY,
  type Refusal,
  refusalOf,
  type Tenant,
} from './steps.ts'

/** What the resolver of this test knows. */
const HOSTS: Readonly<Record<string, readonly string[]>> = {
  'hooks.acme.test': ['93.184.216.34', '2606:2800:220:1::1'],
  'inside.acme.test': ['10.1.2.3'],
  'both.acme.test': ['93.184.216.34', '10.1.2.3'],
}
let asked: string[] = []
let service: TestService
let child: Tenant
beforeAll(async () => {
  service = await startTestService({
    allowedWebhookHosts: ['dev.acme.test', '127.0.0.1:4000'],
    async resolveHost(host) {
      asked.push(host)
      const found = HOSTS[host]
      if (!found) throw new NameNotFound(host)
      return found
    },
  })
  child = await addTenant(service, { parentId: service.organizationId })
})
afterAll(() => service.close())

const hook = (overrides: object = {}) => ({ url: 'https://hooks.acme.test/in', name: 'ops', ...overrides })
const create = (overrides: object = {}) =>
  complete(service.root, 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', hook(overrides))
const update = (change: object) => complete(service.root, 'ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT', change)
const remove = (endpointId: string) => complete(service.root, 'ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT', { endpointId })
const list = async () => (await service.root.query('list_webhook_endpoints')).webhookEndpoints
const publicHost = (host: string) => invalidField('url', `must name a public host, not \`${host}\``)

describe('webhook endpoints', () => {
  test('webhook endpoints: one is made active, changed without its subscriptions, paused and deleted', async () => {
    const subscriptions = [
      { eventType: 'ACTIVITY_UPDATES', filtersJson: ' {"activityTypes": []}' },
      { eventType: 'BALANCE_CONFIRMED_UPDATES', isActive: false },
    ]
    const { endpointId, webhookEndpoint } = await create({ subscriptions })
    const stored = [{ ...subscriptions[0], isActive: true }, subscriptions[1]]
    const record = { endpointId, organizationId: service.organizationId, ...hook(), isActive: true }
    expect(webhookEndpoint).toEqual({ ...record, subscriptions: stored })
    expect(await list()).toEqual([webhookEndpoint])
    const paused = await update({ endpointId, url: 'https://1.1.1.1:8443/x?y', isActive: false })
    expect(paused.webhookEndpoint).toEqual({ ...webhookEndpoint, url: 'https://1.1.1.1:8443/x?y', isActive: false })
    expect((await update({ endpointId, name: 'new', url: '' })).webhookEndpoint).toMatchObject({
      name: 'new',
      url: 'https://1.1.1.1:8443/x?y',
      isActive: false,
    })
    expect(await remove(endpointId)).toEqual({ endpointId })
    expect(await list()).toEqual([])
  })

  test('webhook endpoints: one without subscriptions is legal', async () => {
    const { endpointId, webhookEndpoint } = await create()
    expect(webhookEndpoint.subscriptions).toEqual([])
    await remove(endpointId)
  })

  test.each<{ name: string; given: object; expected: Refusal }>([
    {
      name: 'plain http',
      given: { url: 'http://hooks.acme.test/' },
      expected: invalidField('url', 'must be an https URL'),
    },
    {
      name: 'another scheme',
      given: { url: 'ftp://hooks.acme.test/' },
      expected: invalidField('url', 'must be an https URL'),
    },
    { name: 'no URL', given: { url: 'hooks.acme.test' }, expected: invalidField('url', 'must be an https URL') },
    { name: 'no host', given: { url: 'https://' }, expected: invalidField('url', 'must be an https URL') },
    {
      name: 'a user in the URL',
      given: { url: 'https://u:p@hooks.acme.test/' },
      expected: invalidField('url', 'must not name a user'),
    },
    { name: 'a loopback address', given: { url: 'https://127.0.0.1/' }, expected: publicHost('127.0.0.1') },
    {
      name: 'a loopback address as a number',
      given: { url: 'https://2130706433/' },
      expected: publicHost('127.0.0.1'),
    },
    { name: 'a loopback address in octal', given: { url: 'https://0177.1/' }, expected: publicHost('127.0.0.1') },
    { name: 'a mapped address', given: { url: 'https://[::ffff:7f00:1]/' }, expected: publicHost('[::ffff:7f00:1]') },
    {
      name: 'the metadata service',
      given: { url: 'https://169.254.169.254/' },
      expected: publicHost('169.254.169.254'),
    },
    {
      name: 'a translated address',
      given: { url: 'https://[64:ff9b::7f00:1]/' },
      expected: publicHost('[64:ff9b::7f00:1]'),
    },
    { name: 'localhost', given: { url: 'https://localhost/' }, expected: publicHost('localhost') },
    { name: 'a name below localhost', given: { url: 'https://a.localhost./' }, expected: publicHost('a.localhost.') },
    {
      name: 'a name that leads inside',
      given: { url: 'https://inside.acme.test/' },
      expected: publicHost('inside.acme.test'),
    },
    {
      name: 'a name that leads inside too',
      given: { url: 'https://both.acme.test/' },
      expected: publicHost('both.acme.test'),
    },
    {
      name: 'a name that leads nowhere',
      given: { url: 'https://gone.acme.test/' },
      expected: invalidField('url', 'must name a host that can be found, not `gone.acme.test`'),
    },
    {
      name: 'a URL that is too long',
      given: { url: `https://hooks.acme.test/${'x'.repeat(2048)}` },
      expected: invalidField('url', 'must have at most 2048 characters'),
    },
    { name: 'no name', given: { name: '' }, expected: invalidField('name', 'must not be empty') },
    {
      name: 'an event that never fires',
      given: { subscriptions: [{ eventType: 'PONIES' }] },
      expected: invalid('unsupported webhook event type: PONIES'),
    },
    {
      name: 'an event by the name of every object',
      given: { subscriptions: [{ eventType: 'constructor' }] },
      expected: invalid('unsupported webhook event type: constructor'),
    },
    {
      name: 'a filter that is no JSON',
      given: { subscriptions: [{ eventType: 'ACTIVITY_UPDATES', filtersJson: '{' }] },
      expected: invalidField('subscriptions.filtersJson', 'must be JSON'),
    },
    {
      name: 'a filter that is too long',
      given: { subscriptions: [{ eventType: 'ACTIVITY_UPDATES', filtersJson: `"${'x'.repeat(8_000)}"` }] },
      expected: invalidField('subscriptions.filtersJson', 'must have at most 8000 bytes'),
    },
    {
      name: 'the eleventh subscription',
      given: { subscriptions: Array.from({ length: 11 }, () => ({ eventType: 'ACTIVITY_UPDATES' })) },
      expected: invalidField('subscriptions', 'must have at most 10 entries'),
    },
    {
      name: 'event types outside of the subscriptions',
      given: { eventTypes: ['ACTIVITY_UPDATES'] },
      expected: invalidField('eventTypes', 'belongs into `subscriptions[].eventType`'),
    },
    {
      name: 'event types outside of the subscriptions, in snake case',
      given: { event_types: ['ACTIVITY_UPDATES'] },
      expected: invalidField('eventTypes', 'belongs into `subscriptions[].eventType`'),
    },
  ])('webhook endpoints: $name is refused', async ({ given, expected }) => {
    expect(await refusalOf(create(given))).toEqual(expected)
    expect(await list()).toEqual([])
  })

  test('webhook endpoints: a change of the URL obeys the same rules', async () => {
    const { endpointId } = await create()
    expect(await refusalOf(update({ endpointId, url: 'https://inside.acme.test/' }))).toEqual(
      publicHost('inside.acme.test'),
    )
    expect(await list()).toMatchObject([hook()])
    await remove(endpointId)
  })

  test('webhook endpoints: a host that is allowed may be private and speak plain http, by name or with its port', async () => {
    for (const url of ['http://dev.acme.test:9000/', 'https://dev.acme.test/', 'http://127.0.0.1:4000/x']) {
      await remove((await create({ url })).endpointId)
    }
    expect(await refusalOf(create({ url: 'http://127.0.0.1:4001/' }))).toEqual(
      invalidField('url', 'must be an https URL'),
    )
  })

  test('webhook endpoints: one that is not there is neither changed nor deleted', async () => {
    const gone = missing(`webhook endpoint not found: ${NOBODY}`)
    expect(await refusalOf(update({ endpointId: NOBODY, name: 'x' }))).toEqual(gone)
    expect(await refusalOf(remove(NOBODY))).toEqual(gone)
  })

  test('webhook endpoints: nobody but a known caller makes the service resolve a name, and known bytes not again', async () => {
    asked = []
    const { organizationId } = child
    const parameters = hook()
    const sent = child.client.submit('ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', parameters)
    expect((await refusalOf(sent))[3]).toBe('ORGANIZATION_MISMATCH')
    expect(asked).toEqual([])
    const body = service.body('ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', parameters, { organizationId })
    const first = await child.client.send(body)
    expect((await child.client.send(body)).id).toBe(first.id)
    expect(asked).toEqual(['hooks.acme.test'])
  })

  test('webhook endpoints: a sub-organization may have events of its own activities and no others', async () => {
    const { organizationId, client } = child
    const subscribe = (eventType: string) =>
      complete(
        client,
        'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT',
        hook({ subscriptions: [{ eventType }] }),
        organizationId,
      )
    await subscribe('ACTIVITY_UPDATES')
    for (const event of ['BALANCE_CONFIRMED_UPDATES', 'BALANCE_FINALIZED_UPDATES', 'SEND_TRANSACTION_STATUS_UPDATES']) {
      expect(await refusalOf(subscribe(event))).toEqual([
        403,
        7,
        `request not authorized: ${event} can be had by a parent organization alone`,
        'REQUEST_NOT_AUTHORIZED',
      ])
    }
    const ids = (await client.query('list_webhook_endpoints', { organizationId })).webhookEndpoints
    const { endpointId } = ids[0]!
    expect(await refusalOf(remove(endpointId))).toEqual(missing(`webhook endpoint not found: ${endpointId}`))
    expect(await list()).toEqual([])
  })

  test('webhook endpoints: the twenty-first is refused', async () => {
    for (let count = 0; count < 20; count++) await create({ url: 'https://1.1.1.1/' })
    expect(await refusalOf(create())).toEqual(exhausted('organization has exceeded maximum webhook endpoints (20)'))
  })
})
