import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { askOperator, type OperatorRequest, type WebhookFault } from '../../../src/service/operator/index.ts'
import { passesFilter } from '../../../src/service/outbox/filters.ts'
import { openStoreOf } from '../../postgres.ts'
import { addTenants, complete, fresh, type Tenant } from '../handlers/steps.ts'
import { createTestUser, startTestService, type TestService } from '../harness.ts'
import { fetchKeys, type Received, type Receiver, type Reply, startReceiver, subscribe, verdictOf } from './receiver.ts'

const ACTIVITY = 'ACTIVITY_UPDATES'

let receiver: Receiver
let service: TestService
let tenants: readonly Tenant[]
let reply: (received: Received, times: number) => Reply | Promise<Reply> = () => 200
beforeAll(async () => {
  receiver = await startReceiver((received, times) => reply(received, times))
  service = await startTestService({ allowedWebhookHosts: [receiver.host], webhookFilters: true })
  tenants = await addTenants(service, 2, { parentId: service.organizationId })
})
afterAll(async () => {
  await service.close()
  await receiver.close()
})

afterEach(() => {
  reply = () => 200
})

const tag = (name = fresh('tag')) => ({ userTagName: name, userIds: [] })
const at = (path: string) => receiver.received.filter((each) => each.path === path)
const statusesOf = (path: string, id: string) =>
  at(path).flatMap(({ body }) => (body['id'] === id ? [String(body['status']).replace('ACTIVITY_STATUS_', '')] : []))

describe('events of an activity', () => {
  test('a parent is told of itself and of its sub-organizations, a sub-organization of itself alone, as get_activity has it', async () => {
    const [one, other] = [tenants[0]!, tenants[1]!]
    await subscribe(service.root, `${receiver.url}/parent`, { eventType: ACTIVITY })
    const of = { eventType: ACTIVITY, organizationId: one.organizationId }
    const made = await one.client.submit(
      'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT',
      { url: `${receiver.url}/one`, name: 'ops', subscriptions: [{ eventType: ACTIVITY }] },
      { organizationId: of.organizationId },
    )
    const theirs = await one.client.submit('ACTIVITY_TYPE_CREATE_USER_TAG', tag(), of)
    const others = await other.client.submit('ACTIVITY_TYPE_CREATE_USER_TAG', tag(), other)
    const own = await service.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', tag())
    // The subscription's own activity is the first that it is told of.
    await receiver.until(() => at('/one').length >= 2 && at('/parent').length >= 5)
    expect(at('/one').map(({ body }) => body['id'])).toEqual([made.id, theirs.id])
    expect(at('/parent').map(({ body }) => body['id'])).toEqual(
      expect.arrayContaining([made.id, theirs.id, others.id, own.id]),
    )
    const [event] = at('/parent').filter(({ body }) => body['id'] === theirs.id)
    const { activity } = await one.client.query('get_activity', { activityId: theirs.id, ...of })
    expect(event!.body).toEqual({ ...activity, canApprove: false, canReject: false })
    expect(event!.body['status']).toBe('ACTIVITY_STATUS_COMPLETED')
    expect(event!.headers).toMatchObject({
      'x-turnkey-organization-id': service.organizationId,
      'x-turnkey-event-type': ACTIVITY,
    })
    expect(verdictOf(event!, await fetchKeys(service.url))).toBe('ok')
  })

  test('each status and each vote that counts is told once, in order; what is denied, asked or sent again is not', async () => {
    const [bob, eve] = [await createTestUser(service, 'bob'), await createTestUser(service, 'eve')]
    const users = [service.rootUserId, bob.userId, eve.userId]
    await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 3, userIds: users })
    const nobody = await createTestUser(service, 'nobody').catch(() => undefined)
    expect(nobody).toBeUndefined()
    // The first attempt about this activity is kept waiting: those after it come after it, those of others do not wait.
    const held = Promise.withResolvers<Reply>()
    let waiting = ''
    reply = ({ body, path }, times) =>
      path === '/parent' && body['id'] === waiting && times === 1 && statusesOf(path, waiting).length === 1
        ? held.promise
        : 200
    const body = service.body('ACTIVITY_TYPE_CREATE_USER_TAG', tag())
    const hold = service.body('ACTIVITY_TYPE_CREATE_USER_TAG', tag())
    const first = await service.root.send(body)
    waiting = first.id
    const other = await service.root.send(hold)
    await service.root.send(body)
    await bob.client.approve(first.fingerprint)
    await service.root.query('get_activity', { activityId: first.id })
    const done = await eve.client.approve(first.fingerprint)
    expect(done.status).toBe('ACTIVITY_STATUS_COMPLETED')
    await bob.client.reject(other.fingerprint)
    await receiver.until(() => statusesOf('/parent', other.id).length === 2)
    held.resolve(500)
    await receiver.until(() => statusesOf('/parent', first.id).includes('COMPLETED'))
    reply = () => 200
    expect(statusesOf('/parent', other.id)).toEqual(['CONSENSUS_NEEDED', 'REJECTED'])
    const told = at('/parent').filter((each) => each.body['id'] === first.id)
    expect(told.map(({ body: { status, votes } }) => [status, (votes as unknown[]).length])).toEqual([
      ['ACTIVITY_STATUS_CONSENSUS_NEEDED', 1],
      ['ACTIVITY_STATUS_CONSENSUS_NEEDED', 2],
      ['ACTIVITY_STATUS_COMPLETED', 3],
    ])
  })
})

describe('the feature webhook', () => {
  test('the URL of the feature is told of activities below it, signed, until it is removed', async () => {
    const set = { name: 'FEATURE_NAME_WEBHOOK', value: `${receiver.url}/feature` }
    const { organizationId, client } = tenants[1]!
    await complete(client, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', set, organizationId)
    await complete(client, 'ACTIVITY_TYPE_CREATE_USER_TAG', tag(), organizationId)
    await receiver.until(() => at('/feature').length >= 2)
    const [event] = at('/feature')
    expect(event!.body['type']).toBe('ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE')
    expect(verdictOf(event!, await fetchKeys(service.url))).toBe('ok')
    reply = () => 503
    await complete(client, 'ACTIVITY_TYPE_CREATE_USER_TAG', tag(), organizationId)
    await receiver.until(() => at('/feature').length >= 3)
    const waits = async () => {
      const database = await openStoreOf(service.dataDir, { now: 0 })
      const rows = await database.read((tx) =>
        tx.selectFrom('webhook_deliveries').select('event_id').where('endpoint_id', '=', organizationId).execute(),
      )
      await database.close()
      return rows.length
    }
    // What was answered with 200 is struck out after the answer.
    await vi.waitUntil(async () => (await waits()) === 1, { interval: 100 })
    await complete(client, 'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE', { name: set.name }, organizationId)
    expect(await waits()).toBe(0)
  })
})

describe('faults of webhooks', () => {
  test('a webhook that an operator wants lost, doubled or late is that, as often as was asked for, and no retry is', async () => {
    const faulty = await startTestService({ allowedWebhookHosts: [receiver.host], operator: true })
    onTestFinished(() => faulty.close())
    const operate = (request: OperatorRequest) => askOperator(faulty.dataDir, request)
    const add = (fault: Omit<WebhookFault, 'webhook'>) =>
      operate({ kind: 'add-fault', fault: { webhook: 'ACTIVITY_*', times: 1, ...fault } })
    const make = (name: string) => faulty.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', tag(name))
    await subscribe(faulty.root, `${receiver.url}/faulty`, { eventType: ACTIVITY })
    // The first is the subscription's own.
    await receiver.until(() => at('/faulty').length === 1)
    await add({ lose: true })
    await make('lost')
    await vi.waitUntil(async () => (await operate({ kind: 'state' })).faults.length === 0)
    await add({ delayMs: 3_600_000 })
    await make('late')
    await vi.waitUntil(async () => (await operate({ kind: 'state' })).faults.length === 0)
    await add({ twice: true })
    await make('doubled')
    await make('usual')
    const names = () =>
      at('/faulty')
        .slice(1)
        .map(({ body }) => Object(body['intent'])['createUserTagIntent'].userTagName as string)
    await receiver.until(() => names().length >= 3)
    expect(names().toSorted()).toEqual(['doubled', 'doubled', 'usual'])
    const ids = at('/faulty')
      .slice(1)
      .map(({ eventId }) => eventId)
    expect(new Set(ids).size).toBe(2)
    await operate({ kind: 'move-clock', ms: 3_600_000 })
    await receiver.until(() => names().length >= 4)
    expect(names().at(-1)).toBe('late')
    await expect(add({})).rejects.toThrow('a webhook is lost, comes twice, or comes late: one of them')
    const unknown = operate({ kind: 'add-fault', fault: { webhook: 'NOTHING', lose: true } })
    await expect(unknown).rejects.toThrow('no event is `NOTHING`')
  })
})

describe('filters', () => {
  test('filters: where they are applied, all members that are given must have the event’s own', () => {
    const facts = { activityTypes: 'T', activityStatuses: 'S', organizationIds: 'o' }
    const table: readonly (readonly [string | undefined, boolean])[] = [
      [undefined, true],
      ['', true],
      ['{}', true],
      ['[]', true],
      ['"T"', true],
      ['null', true],
      ['{"activityTypes":"T"}', true],
      ['{"activityTypes":["T","U"]}', true],
      ['{"activityTypes":["T"],"activityStatuses":["S"]}', true],
      ['{"activityTypes":["T"],"activityStatuses":["X"]}', false],
      ['{"activityTypes":[]}', false],
      ['{"caip2":["eip155:1"]}', false],
      ['{"unknown":["x"]}', true],
    ]
    expect(table.map(([filter]) => [filter, passesFilter(filter, facts)])).toEqual(table)
  })
})
