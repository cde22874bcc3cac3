import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createRates } from '../../src/service/rates.ts'
import { addTenant, type Refusal, refusalOf } from './handlers/steps.ts'
import { startTestService, type TestService } from './harness.ts'
import { type Anvil, startAnvil } from './sends/anvil.ts'
import { SEPOLIA } from './sends/status.ts'
import { ETHEREUM, makeWallet } from './signing/keys.ts'

const TOO_MANY: Refusal = [
  429,
  8,
  'Too many requests. Please wait and try again in a few seconds',
  'RATE_LIMIT_EXCEEDED',
]

describe('a rate', () => {
  test('takes a second’s worth at once and then evenly, of each key by itself', () => {
    let now = 1_000
    const rate = createRates({ source: 4 }, () => now).source!
    const take = () => rate.take('a')
    expect([take(), take(), take(), take(), take()]).toEqual([3, 2, 1, 0, undefined])
    expect(rate.take('b')).toBe(3)
    now += 249
    expect(take()).toBeUndefined()
    now += 1
    expect([take(), take()]).toEqual([0, undefined])
    now += 60_000
    expect([take(), take(), take(), take(), take()]).toEqual([3, 2, 1, 0, undefined])
  })
})

describe('rates of requests', () => {
  let anvil: Anvil
  let service: TestService
  beforeAll(async () => {
    anvil = await startAnvil()
  })
  afterEach(() => service.close())
  afterAll(() => anvil.kill())
  const whoami = (client = service.root, request = {}) => client.query('whoami', request)

  test('are not limited unless they are set', async () => {
    service = await startTestService()
    const answers = await Promise.all(Array.from({ length: 40 }, () => whoami()))
    expect(answers).toHaveLength(40)
  })

  test('from one address are refused beyond its rate before they are read, with what is left and when to come again', async () => {
    service = await startTestService({ rates: { source: 1 } })
    const body = JSON.stringify({ organizationId: service.organizationId })
    const answers = await Promise.all(BURST.map(() => service.root.raw('/public/v1/query/whoami', body)))
    const [taken, refused] = [200, 429].map((status) => answers.filter((answer) => answer.status === status))
    expect(taken!.length).toBeGreaterThan(0)
    expect(refused!.length).toBeGreaterThan(0)
    for (const { status, headers, body } of answers) {
      expect([headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual(['1', '0'])
      if (status === 200) continue
      expect([headers.get('retry-after'), headers.get('access-control-allow-origin')]).toEqual(['1', '*'])
      expect([status, body['code'], body['message'], body['turnkeyErrorCode']]).toEqual(TOO_MANY)
    }
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
  })

  const statusesFrom = (headersOf: (index: number) => Readonly<Record<string, string>>) => {
    const body = JSON.stringify({ organizationId: service.organizationId })
    const ask = async (index: number) =>
      (await service.root.raw('/public/v1/query/whoami', body, headersOf(index))).status
    return Promise.all(BURST.map(ask))
  }

  test.each<[string, (index: number) => Readonly<Record<string, string>>]>([
    ['X-Forwarded-For', (index) => ({ 'x-forwarded-for': `192.0.2.${index}` })],
    ['Forwarded', (index) => ({ forwarded: `for=192.0.2.${index}` })],
    ['X-Real-IP', (index) => ({ 'x-real-ip': `192.0.2.${index}` })],
  ])('from one address are not many by what it writes into %s', async (_, forged) => {
    service = await startTestService({ rates: { source: 1 } })
    expect(await statusesFrom(forged)).toContain(429)
  })

  test.each<[string, (index: number) => string]>([
    ['other addresses before its own', (index) => `192.0.2.${index}, 198.51.100.9`],
    ['the proxy before its own', (index) => `192.0.2.${index}, 127.0.0.1, 198.51.100.9`],
    ['its own in IPv6', (index) => (index % 2 ? '198.51.100.9' : '::ffff:198.51.100.9')],
    ['any of its 2^64', (index) => `2001:db8:0:1::${index}`],
    ['what is no address', (index) => `nobody-${index}`],
    ['nothing', () => ''],
  ])('from behind a proxy that is trusted are not many by %s', async (_, forwarded) => {
    service = await startTestService({ rates: { source: 1 }, trustedProxies: ['127.0.0.1'] })
    expect(await statusesFrom((index) => ({ 'x-forwarded-for': forwarded(index) }))).toContain(429)
    const others = await statusesFrom((index) => ({ 'x-forwarded-for': `203.0.113.${index}` }))
    expect(others).toEqual(BURST.map(() => 200))
  })

  test('in a sub-organization are its own for every user, and the parent has none', async () => {
    service = await startTestService({ rates: { subOrganization: 1 } })
    const { organizationId, client } = await addTenant(service, { parentId: service.organizationId })
    const others = [client, service.root].map((one) => burst(() => whoami(one, { organizationId })))
    const [own, parents] = await Promise.all(others)
    expect(own!.refused + parents!.refused).toBeGreaterThan(0)
    expect(own!.taken + parents!.taken).toBeGreaterThan(0)
    expect(await burst(() => whoami())).toEqual({ taken: BURST.length, refused: 0 })
  })

  test('of sends and balances are counted in total, once the caller is known, and others are not', async () => {
    service = await startTestService({ rates: { sends: 1 }, chains: { [SEPOLIA]: { url: anvil.url } } })
    const address = (await makeWallet(service.root, ETHEREUM)).accounts[0]!.address
    const balances = { address, caip2: SEPOLIA }
    const stranger = service.client('11'.repeat(32))
    const unknown = BURST.map(() => refusalOf(stranger.query('get_wallet_address_balances', balances)))
    expect(new Set((await Promise.all(unknown)).map(([status]) => status))).toEqual(new Set([401]))
    const send = { from: address, caip2: SEPOLIA, to: address }
    const [sent, asked] = await Promise.all([
      burst(() => service.root.submit('ACTIVITY_TYPE_ETH_SEND_TRANSACTION', send)),
      burst(() => service.root.query('get_wallet_address_balances', balances)),
    ])
    expect(sent.refused).toBeGreaterThan(0)
    expect(asked.refused).toBeGreaterThan(0)
    expect(sent.taken + asked.taken).toBeGreaterThan(0)
    const filterByType = ['ACTIVITY_TYPE_ETH_SEND_TRANSACTION']
    const { activities } = await service.root.query('list_activities', {
      filterByType,
      paginationOptions: { limit: '100' },
    })
    expect(activities).toHaveLength(sent.taken)
    expect(await burst(() => whoami())).toEqual({ taken: BURST.length, refused: 0 })
  })
})

/** More than even a machine that is busy with other things takes seconds for. */
const BURST = Array.from({ length: 30 }, (_, index) => index)

/** Asks many times at once; who is refused is refused for coming too often. */
async function burst(ask: () => Promise<unknown>) {
  const outcomes = await Promise.allSettled(BURST.map(ask))
  const refused = outcomes.filter(({ status }) => status === 'rejected')
  for (const { reason } of refused as PromiseRejectedResult[]) {
    expect(await refusalOf(Promise.reject(reason))).toEqual(TOO_MANY)
  }
  return { taken: outcomes.length - refused.length, refused: refused.length }
}
