/** What waits in a service's store, as metrics tell of it. */
import { afterEach, describe, expect, test } from 'vitest'
import type { ServiceOptions } from '../../src/service/index.ts'
import { listenForMetrics, openMetrics } from '../../src/service/metrics/index.ts'
import { StoreUnavailable } from '../../src/service/store/index.ts'
import { complete } from './handlers/steps.ts'
import { createTestClock, startTestService, type TestService } from './harness.ts'
import { startReceiver, subscribe } from './outbox/receiver.ts'
import { startWrongNode } from './outbox/wrong-node.ts'
import { SEPOLIA, untilEnded } from './sends/status.ts'
import { accountsOf, ETHEREUM } from './signing/keys.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function start(options: Partial<ServiceOptions>) {
  const service = await startTestService({ metricsPort: 0, ...options })
  closers.push(() => service.close())
  return service
}

/** The lines of the metrics whose names begin so, as numbers. */
async function read({ service }: TestService, name: string): Promise<Readonly<Record<string, number>>> {
  return linesOf(await (await fetch(service.metricsUrl!)).text(), name)
}

function linesOf(text: string, name: string): Readonly<Record<string, number>> {
  const lines = text.split('\n').filter((line) => line.startsWith(name))
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]))
}

/** Sends to itself from a new wallet; gives the id of the send. */
async function send({ root, organizationId }: TestService): Promise<string> {
  const wallet = { walletName: 'w', accounts: accountsOf(ETHEREUM) }
  const { addresses } = await complete(root, 'ACTIVITY_TYPE_CREATE_WALLET', wallet, organizationId)
  const parameters = { from: addresses[0]!, to: addresses[0]!, value: '1', caip2: SEPOLIA }
  const sent = await complete(root, 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION', parameters, organizationId)
  return sent.sendTransactionStatusId
}

describe('metrics of the service', () => {
  test('metrics of the service: a send that waits for its node is open, and one that has failed is not', async () => {
    const node = await startWrongNode()
    closers.push(() => node.close())
    const service = await start({ chains: { [SEPOLIA]: { url: node.url, pollMs: 20 } } })
    // It is accepted with one answer of the node.
    node.hold(1)
    const id = await send(service)
    const none = Object.fromEntries(
      ['initialized', 'broadcasting', 'in block'].map((state) => [`quorate_sends{state="${state}"}`, 0]),
    )
    expect(await read(service, 'quorate_sends')).toEqual({ ...none, 'quorate_sends{state="initialized"}': 1 })
    node.release()
    expect((await untilEnded(service.root, id)).txStatus).toBe('FAILED')
    expect(await read(service, 'quorate_sends')).toEqual(none)
  })

  test('metrics of the service: webhooks that wait and that were given up are told as they stand in the store', async () => {
    const receiver = await startReceiver(({ path }) => (path === '/busy' ? 503 : 404))
    closers.push(() => receiver.close())
    const options = { allowedWebhookHosts: [receiver.host], clock: createTestClock(), rotateWebhookKey: false }
    const service = await start(options)
    expect(await read(service, 'quorate_webhook_deliveries')).toEqual({
      'quorate_webhook_deliveries{state="waiting"}': 0,
      'quorate_webhook_deliveries{state="given up"}': 0,
    })
    const eventType = 'ACTIVITY_UPDATES'
    for (const path of ['/busy', '/gone']) await subscribe(service.root, `${receiver.url}${path}`, { eventType })
    // An endpoint is told of its own creation too: the first of both, the second of one.
    await expect
      .poll(() => read(service, 'quorate_webhook_deliveries'))
      .toEqual({
        'quorate_webhook_deliveries{state="waiting"}': 2,
        'quorate_webhook_deliveries{state="given up"}': 1,
      })
    await service.service.close()
    const again = await start({ ...options, dataDir: service.dataDir })
    expect(await read(again, 'quorate_webhook_deliveries')).toMatchObject({
      'quorate_webhook_deliveries{state="given up"}': 1,
    })
  })

  test('metrics of the service: what a store that does not answer would tell is left out, and all else is told', async () => {
    const metrics = (await openMetrics(0))!
    const listener = await listenForMetrics(metrics, 0)
    closers.push(async () => {
      metrics.close()
      await listener.close()
    })
    metrics.read({
      writesWaiting: () => 3,
      jobs: () => ({ waiting: 0, running: 0, done: 0 }),
      deliveries: () => ({}),
      rateRefusals: () => ({}),
      logLinesLost: () => 0,
      sends: () => Promise.reject(new StoreUnavailable('it is gone')),
      deliveriesKept: () => new Promise(() => {}),
    })
    const response = await fetch(listener.url)
    expect(response.status).toBe(200)
    const text = await response.text()
    expect(linesOf(text, 'quorate_store_writes_waiting')).toEqual({ quorate_store_writes_waiting: 3 })
    expect({ ...linesOf(text, 'quorate_sends'), ...linesOf(text, 'quorate_webhook_deliveries') }).toEqual({})
  })
})
