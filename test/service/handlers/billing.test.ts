/** What a parent pays with. A card's number and code must be found nowhere once the request is over. */
import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ActivityType } from '../../../src/protocol/index.ts'
import type { Logger } from '../../../src/telemetry/index.ts'
import { createTestClock, createTestUser, startTestService, type TestService, type TestUser } from '../harness.ts'
import { type Receiver, startReceiver, subscribe } from '../outbox/receiver.ts'
import { addTenant, complete, invalidField, missing, NOBODY, refusalOf, type Tenant } from './steps.ts'

const NUMBER = '4242424242424242'
/** A code that is kept is found of every card; one of them alone may be four digits of an id or a hash. */
const CODES = ['8765', '9731', '6428']
const clock = createTestClock() // June 2025
const logged: string[] = []
const note = (...said: readonly unknown[]) => void logged.push(JSON.stringify(said))
const logger = { debug: note, info: note, warn: note, error: note } as unknown as Logger
let receiver: Receiver
let service: TestService
let child: Tenant
let clerk: TestUser
beforeAll(async () => {
  receiver = await startReceiver()
  service = await startTestService({ clock, logger, allowedWebhookHosts: [receiver.host] })
  await subscribe(service.root, receiver.url, { eventType: 'ACTIVITY_UPDATES' })
  child = await addTenant(service, { parentId: service.organizationId })
  clerk = await createTestUser(service, 'clerk')
})
afterAll(async () => {
  await service.close()
  await receiver.close()
})

const holder = { cardHolderName: 'Alice', cardHolderEmail: 'alice@acme.test' }
const card = (overrides: object = {}) => ({
  number: NUMBER,
  cvv: CODES[0]!,
  expiryMonth: '06',
  expiryYear: '2025',
  ...holder,
  ...overrides,
})
const remove = (paymentMethodId: string) =>
  complete(service.root, 'ACTIVITY_TYPE_DELETE_PAYMENT_METHOD', { paymentMethodId })

/** Waits until the receiver has been told of an activity in a status, and says what of its intent. */
async function toldOf(id: string, status: string): Promise<unknown> {
  const isIt = ({ body }: Receiver['received'][number]) =>
    body['id'] === id && body['status'] === `ACTIVITY_STATUS_${status}`
  await receiver.until((received) => received.some(isIt))
  return receiver.received.find(isIt)!.body['intent']
}

/** Everything that the service has kept or said: its files, its log, what it delivered, and every activity as it is answered. */
async function everything(): Promise<string> {
  const files = readdirSync(service.dataDir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
  const texts = files.map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'))
  const { activities } = await service.root.query('list_activities', { paginationOptions: { limit: '100' } })
  const delivered = receiver.received.map(({ path, headers, bytes }) => {
    return `${path}\n${JSON.stringify(headers)}\n${Buffer.from(bytes).toString('latin1')}`
  })
  return [...texts, ...logged, ...delivered, JSON.stringify(activities)].join('\n')
}

describe('payment methods', () => {
  test('payment methods: of a card the last four digits are kept, and neither number, code, hash nor signature', async () => {
    const codes: string[] = []
    for (const cvv of CODES) {
      const body = service.body('ACTIVITY_TYPE_SET_PAYMENT_METHOD', card({ cvv }))
      const activity = await service.root.send(body)
      expect(activity.result.setPaymentMethodResult).toEqual({ lastFour: '4242', ...holder })
      expect(activity.intent['setPaymentMethodIntent']).toEqual(card({ number: '************4242', cvv: '****' }))
      expect(activity.votes[0]).toMatchObject({ signature: '' })
      const plain = hash('sha256', body.text)
      expect(activity.fingerprint).toMatch(/^sha256:[0-9a-f]{64}$/)
      const { url, ...denied } = { url: '', ...service.body('ACTIVITY_TYPE_SET_PAYMENT_METHOD', card({ cvv })) }
      expect((await refusalOf(clerk.client.send(denied)))[0]).toBe(403)
      const invalidCode = card({ cvv: '12' })
      expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_SET_PAYMENT_METHOD', invalidCode))).toEqual(
        invalidField('cvv', 'must have 3 or 4 digits'),
      )
      const masked = { setPaymentMethodIntent: card({ number: '************4242', cvv: '****' }) }
      expect(await toldOf(activity.id, 'COMPLETED')).toEqual(masked)
      const found = await everything()
      expect(found).toContain('************4242')
      if (found.includes(cvv)) codes.push(cvv)
      for (const secret of [NUMBER, plain, hash('sha256', denied.text)])
        expect([secret, found.includes(secret)]).toEqual([secret, false])
      // The same bytes again are the same activity, and the other ones are not.
      expect((await service.root.send(body)).id).toBe(activity.id)
      await remove(activity.id)
    }
    expect(codes.length, codes.join()).toBeLessThan(CODES.length)
  })

  test('payment methods: one that waits for another approver is made without its number', async () => {
    const quorum = { threshold: 2, userIds: [service.rootUserId, clerk.userId] }
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', quorum)
    const waiting = await service.root.submit('ACTIVITY_TYPE_SET_PAYMENT_METHOD', card())
    expect(waiting.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    const done = await clerk.client.approve(waiting.fingerprint)
    expect(done.result.setPaymentMethodResult).toMatchObject({ lastFour: '4242' })
    const back = await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', {
      threshold: 1,
      userIds: [service.rootUserId],
    })
    await clerk.client.approve(back.fingerprint)
    for (const status of ['CONSENSUS_NEEDED', 'COMPLETED'])
      expect(JSON.stringify(await toldOf(waiting.id, status))).toContain('************4242')
    expect((await everything()).includes(NUMBER)).toBe(false)
    await remove(waiting.id)
  })

  test('payment methods: one of a payment provider replaces the card, and is deleted by its id alone', async () => {
    const { id } = await service.root.submit('ACTIVITY_TYPE_SET_PAYMENT_METHOD', card())
    const method = { paymentMethodId: 'pm_1', ...holder }
    expect(await complete(service.root, 'ACTIVITY_TYPE_SET_PAYMENT_METHOD_V2', method)).toEqual({
      lastFour: '',
      ...holder,
    })
    for (const other of [id, NOBODY])
      expect(await refusalOf(remove(other))).toEqual(missing(`payment method not found: ${other}`))
    expect(await remove('pm_1')).toEqual({ paymentMethodId: 'pm_1' })
    expect(await refusalOf(remove('pm_1'))).toEqual(missing('payment method not found: pm_1'))
  })

  const V2 = 'ACTIVITY_TYPE_SET_PAYMENT_METHOD_V2'
  const notOfCard = 'must not have the number of a card'
  const ofFirst = 'belongs into `parameters` of `ACTIVITY_TYPE_SET_PAYMENT_METHOD`'
  test.each<{ name: string; type: ActivityType; given: object; field: string; rule: string }>([
    { name: 'the second version', type: V2, given: card({ paymentMethodId: 'pm' }), field: 'number', rule: ofFirst },
    {
      name: 'the code alone',
      type: V2,
      given: { paymentMethodId: 'pm', ...holder, cvv: '876' },
      field: 'cvv',
      rule: ofFirst,
    },
    {
      name: 'an id',
      type: V2,
      given: { paymentMethodId: NUMBER, ...holder },
      field: 'paymentMethodId',
      rule: notOfCard,
    },
    {
      name: 'an id to delete',
      type: 'ACTIVITY_TYPE_DELETE_PAYMENT_METHOD',
      given: { paymentMethodId: NUMBER },
      field: 'paymentMethodId',
      rule: notOfCard,
    },
    {
      name: 'a member that a tier has not',
      type: 'ACTIVITY_TYPE_ACTIVATE_BILLING_TIER',
      given: { productId: 'pro', card: { pan: Number(NUMBER) } },
      field: 'pan',
      rule: notOfCard,
    },
    {
      name: 'the name of its holder, in groups',
      type: 'ACTIVITY_TYPE_SET_PAYMENT_METHOD',
      given: card({ cardHolderName: 'Alice 4242 4242 4242 4242' }),
      field: 'cardHolderName',
      rule: notOfCard,
    },
    {
      name: 'the name of a member',
      type: V2,
      given: { paymentMethodId: 'pm', ...holder, [NUMBER]: {} },
      field: 'parameters',
      rule: notOfCard,
    },
  ])(
    'payment methods: a number in $name is refused, and nothing of it is kept',
    async ({ type, given, field, rule }) => {
      for (const { submit } of [service.root, clerk.client])
        expect(await refusalOf(submit(type, given))).toEqual(invalidField(field, rule))
      const found = await everything()
      for (const digits of [NUMBER, '4242 4242 4242 4242']) expect(found.includes(digits)).toBe(false)
    },
  )

  test('payment methods: an id whose digits are no number of a card serves', async () => {
    for (const paymentMethodId of ['pm_4242424242424242', '4242424242424241', NOBODY]) {
      await complete(service.root, V2, { paymentMethodId, ...holder })
      expect(await remove(paymentMethodId)).toEqual({ paymentMethodId })
    }
  })

  test.each<{ name: string; overrides: object; field: string; rule: string }>([
    {
      name: 'a wrong digit',
      overrides: { number: '4242424242424241' },
      field: 'number',
      rule: 'must be the number of a card',
    },
    {
      name: 'too few digits',
      overrides: { number: '42424242' },
      field: 'number',
      rule: 'must be the number of a card',
    },
    {
      name: 'a month that is none',
      overrides: { expiryMonth: '13' },
      field: 'expiryMonth',
      rule: 'must be from 01 to 12',
    },
    {
      name: 'a card that has expired',
      overrides: { expiryMonth: '05' },
      field: 'expiryYear',
      rule: 'must be of a card that has not expired',
    },
  ])('payment methods: $name is refused', async ({ overrides, field, rule }) => {
    const sent = service.root.submit('ACTIVITY_TYPE_SET_PAYMENT_METHOD', card(overrides))
    expect(await refusalOf(sent)).toEqual(invalidField(field, rule))
  })

  test('payment methods, billing tiers: they are for parents', async () => {
    const tier = { productId: 'pro', orbPlanId: 'plan' }
    expect(await complete(service.root, 'ACTIVITY_TYPE_ACTIVATE_BILLING_TIER', tier)).toEqual({ productId: 'pro' })
    expect(await complete(service.root, 'ACTIVITY_TYPE_ACTIVATE_BILLING_TIER', { productId: 'free' })).toEqual({
      productId: 'free',
    })
    const { organizationId } = child
    const inside = [
      child.client.submit('ACTIVITY_TYPE_ACTIVATE_BILLING_TIER', tier, { organizationId }),
      child.client.submit('ACTIVITY_TYPE_SET_PAYMENT_METHOD', card(), { organizationId }),
      child.client.submit(
        'ACTIVITY_TYPE_SET_PAYMENT_METHOD_V2',
        { paymentMethodId: 'pm', ...holder },
        { organizationId },
      ),
    ]
    for (const sent of inside) expect((await refusalOf(sent)).slice(0, 2)).toEqual([403, 7])
    expect((await refusalOf(clerk.client.submit('ACTIVITY_TYPE_ACTIVATE_BILLING_TIER', tier)))[0]).toBe(403)
  })
})
