import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { complete, fresh } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'
import { ETHEREUM, makeWallet } from '../signing/keys.ts'
import { type Anvil, startAnvil } from './anvil.ts'
import { SEPOLIA } from './status.ts'
import { startUnreliableServer, type UnreliableServer } from './unreliable-server.ts'

let anvil: Anvil
let node: UnreliableServer
beforeAll(async () => {
  anvil = await startAnvil({ mining: 'on-request' })
  node = await startUnreliableServer(anvil.url, () => false)
})
afterAll(async () => {
  await node.close()
  await anvil.kill()
})

const asked = (method: string) => node.counts.methods.get(method) ?? 0

async function withFlying(pollMs: number, sends: number, act: (service: TestService) => Promise<void>): Promise<void> {
  const service = await startTestService({ chains: { [SEPOLIA]: { url: node.url, pollMs } } })
  try {
    const from = (await makeWallet(service.root, ETHEREUM)).accounts[0]!.address
    await anvil.fund(from, 1)
    node.counts.methods.clear()
    const fees = { maxFeePerGas: '9000000000', maxPriorityFeePerGas: '1' }
    for (let index = 0; index < sends; index++) {
      const intent = { from, caip2: SEPOLIA, to: from, gasLimit: '21000', ...fees }
      await complete(service.root, 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION', intent)
    }
    while (asked('eth_sendRawTransaction') < sends) await pause(10)
    await act(service)
  } finally {
    await service.close()
  }
}

test('sends: those of one address are looked after with one count a turn, and a node is not asked for fees that are given', async () => {
  await withFlying(20, 5, async () => {
    node.counts.methods.clear()
    while (asked('eth_getTransactionByHash') < 20) await pause(10)
    const turns = asked('eth_blockNumber')
    expect(asked('eth_getTransactionByHash')).toBeGreaterThan((turns - 1) * 5 - 1)
    expect(Math.abs(asked('eth_getTransactionCount') - turns)).toBeLessThan(2)
  })
  expect(asked('eth_maxPriorityFeePerGas')).toBe(0)
})

test('sends: no node is asked because of a request that sends nothing', async () => {
  await withFlying(3_600_000, 1, async ({ root }) => {
    // What belongs to the send may still be asked for at first.
    const askedFor = async () => {
      node.counts.methods.clear()
      await complete(root, 'ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: fresh('tag'), userIds: [] })
      await pause(200)
      return [...node.counts.methods]
    }
    await expect.poll(askedFor).toEqual([])
  })
})
