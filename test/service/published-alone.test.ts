import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PublishedFront, startPublishedFront } from './published-alone.ts'

const status = '/public/v1/query/get_send_transaction_status'
const own = { txStatus: 'INCLUDED', eth: { txHash: '0x1', depth: 3 }, isFinal: true }
const service = createServer((_, response) => response.end(JSON.stringify(own)))
let front: PublishedFront
beforeAll(async () => {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  front = await startPublishedFront(() => `http://127.0.0.1:${(service.address() as AddressInfo).port}`)
})
afterAll(async () => {
  await front.close()
  service.close()
})

const ask = (path: string) => fetch(`${front.url}${path}`, { method: 'POST', body: '{}' })

test('published alone: a field of the service’s own is in no answer', async () => {
  expect(await (await ask(status)).json()).toEqual({ txStatus: 'INCLUDED', eth: { txHash: '0x1' } })
  expect([...front.left].sort()).toEqual(['EthSendTransactionStatus.depth', 'GetSendTransactionStatusResponse.isFinal'])
})

test('published alone: a route of the service’s own is not found', async () => {
  for (const path of ['/public/v1/query/get_organization', '/readyz', '/metrics'])
    expect((await ask(path)).status, path).toBe(404)
})
