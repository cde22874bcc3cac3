import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Keypair, PublicKey, SystemProgram } from '@solana/web3.js'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { complete } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'
import { type Receiver, startReceiver } from '../outbox/receiver.ts'
import { draftOf } from '../sends/solana-drafts.ts'
import { DEVNET_GENESIS, startSolanaNode, type TestSolanaNode } from '../sends/solana-node.ts'
import { accountsOf, SOLANA } from '../signing/keys.ts'
import { msgOf, toldTo } from './told.ts'

const DEVNET = `solana:${DEVNET_GENESIS.slice(0, 32)}`
const stranger = Keypair.generate()

let node: TestSolanaNode
let receiver: Receiver
let between: Server
let service: TestService
/** Called when the service has been given a block, with its text, before it asks for anything else. */
let afterBlock = (_: string) => {}
beforeAll(async () => {
  ;[node, receiver] = await Promise.all([startSolanaNode({ blocks: 'on-request' }), startReceiver()])
  node.fund(stranger.publicKey.toBase58(), 100)
  between = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const asked = Buffer.concat(parts).toString()
    const said = await (await fetch(node.url, { method: 'POST', body: asked })).text()
    if (asked.includes('"getBlock"')) afterBlock(said)
    response.writeHead(200, { 'content-type': 'application/json' }).end(said)
  })
  await once(between.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(between.address() as AddressInfo).port}`
  service = await startTestService({
    chains: { [DEVNET]: { url, pollMs: 20 } },
    allowedWebhookHosts: [receiver.host],
  })
})
afterAll(async () => {
  await service.close()
  await new Promise((resolve) => between.close(resolve))
  await Promise.all([node.close(), receiver.close()])
})

const { of } = toldTo(() => receiver)

test('balances: a deposit whose block is taken back while it is looked at is not told as final', async () => {
  const made = await complete(service.root, 'ACTIVITY_TYPE_CREATE_WALLET', {
    walletName: 'w',
    accounts: accountsOf(SOLANA),
  })
  const [ours] = made.addresses as [string]
  node.fund(ours, 10)
  const subscriptions = ['BALANCE_CONFIRMED_UPDATES', 'BALANCE_FINALIZED_UPDATES'].map((eventType) => ({ eventType }))
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', {
    ...{ url: `${receiver.url}/balances`, name: 'ops', subscriptions },
  })
  await vi.waitUntil(() => node.asked.has('getBlock'))
  const pay = async (lamports: number) => {
    const transfer = { fromPubkey: stranger.publicKey, toPubkey: new PublicKey(ours), lamports }
    const draft = { payer: stranger.publicKey, blockhash: node.blockhash(), signedBy: stranger }
    const bytes = draftOf([SystemProgram.transfer(transfer)], draft).toString('base64')
    const params = [bytes, { encoding: 'base64', skipPreflight: true }]
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'sendTransaction', params })
    return ((await (await fetch(node.url, { method: 'POST', body })).json()) as { readonly result: string }).result
  }
  const taken = await pay(5)
  let forks = 0
  afterBlock = (text) => {
    if (!text.includes(taken) || forks > 0) return
    forks++
    // Another way, without the deposit, that is final at once as far as the deposit was.
    node.takeBack(2)
    node.produce(6)
  }
  node.produce(2)
  await vi.waitUntil(() => forks === 1)
  // What comes after it is told in order, so that by then the first would have been.
  const kept = await pay(7)
  node.produce(6)
  await receiver.until(() => of('finalized').some((each) => msgOf(each).txHash === kept))
  expect(of('finalized').map((each) => msgOf(each).txHash)).toEqual([kept])
})
