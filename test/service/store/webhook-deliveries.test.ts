import { expect, onTestFinished, test } from 'vitest'
import { insertOrganization } from '../../../src/service/resources/organizations/store.ts'
import {
  insertWebhookDelivery,
  insertWebhookFailure,
  listDeliveryFronts,
  listDueDeliveries,
} from '../../../src/service/resources/webhook-endpoints/deliveries-store.ts'
import { deleteWebhookEndpoint, webhookEndpointTable } from '../../../src/service/resources/webhook-endpoints/store.ts'
import { openDatabase } from '../../../src/service/store/index.ts'

const made = { created_at: 1, updated_at: 1 }
const of = (endpoint_id: string) =>
  ({
    organization_id: 'o',
    endpoint_id,
    event_type: 'SEND_TRANSACTION_STATUS_UPDATES',
    subject: null,
    body: '{}',
  }) as const

async function openWithEndpoints(...ids: readonly string[]) {
  const database = openDatabase(':memory:', { now: 1 })
  onTestFinished(() => database.close())
  await database.write(async (tx) => {
    await insertOrganization(tx, { id: 'o', parent_id: null, name: 'o', quorum_threshold: 1, ...made })
    for (const id of ids) {
      const is_active = id === 'paused' ? 0 : 1
      const url = `https://${id}.test/`
      await webhookEndpointTable.insert(tx, [
        {
          ...{ id, organization_id: 'o', url, name: id, is_active, subscriptions: '[]' },
          ...made,
        },
      ])
    }
  })
  return database
}

test('webhook deliveries: each endpoint’s first, of those that are active, and what is due first comes first', async () => {
  const database = await openWithEndpoints('a', 'b', 'paused', 'idle')
  const found = await database.write(async (tx) => {
    for (const [endpoint, due] of [
      ['a', 30],
      ['a', 10],
      ['a', 20],
      ['b', 5],
      ['paused', 1],
    ] as const) {
      const row = { event_id: `${endpoint}${due}`, attempts: 0, reason: null, next_attempt_at: due, created_at: 1 }
      await insertWebhookDelivery(tx, { ...of(endpoint), ...row })
    }
    const due = await listDueDeliveries(tx, 'a', { now: 20, limit: 8 })
    return { fronts: await listDeliveryFronts(tx), due: due.map(({ event_id, url }) => [event_id, url]) }
  })
  expect(found).toEqual({
    fronts: [
      { endpoint_id: 'a', next_attempt_at: 10 },
      { endpoint_id: 'b', next_attempt_at: 5 },
    ],
    due: [
      ['a10', 'https://a.test/'],
      ['a20', 'https://a.test/'],
    ],
  })
})

test('webhook deliveries: of those that were given up the newest thousand are remembered, and none of an endpoint that is gone', async () => {
  const database = await openWithEndpoints('a', 'b')
  const [kept, left] = await database.write(async (tx) => {
    for (let index = 0; index < 1_010; index++) {
      const failure = { event_id: `${index}`, host: 'a.test', attempts: 9, reason: 'answered 500', failed_at: index }
      await insertWebhookFailure(tx, { ...of(index < 1_000 ? 'a' : 'b'), ...failure })
    }
    const all = () => tx.selectFrom('webhook_failures').select('failed_at').orderBy('position').execute()
    const before = await all()
    await deleteWebhookEndpoint(tx, 'o', 'a')
    return [before, await all()] as const
  })
  expect([kept.length, kept[0]!.failed_at, kept.at(-1)!.failed_at]).toEqual([1_000, 10, 1_009])
  expect(left.map(({ failed_at }) => failed_at)).toEqual([
    1_000, 1_001, 1_002, 1_003, 1_004, 1_005, 1_006, 1_007, 1_008, 1_009,
  ])
})
