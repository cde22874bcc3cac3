import { PublicKey } from '@solana/web3.js'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/protocol/index.ts'
import { addTenant, complete } from '../handlers/steps.ts'
import { startTestService, type TestClient, type TestService } from '../harness.ts'
import { type Anvil, startAnvil } from '../sends/anvil.ts'
import { placeGasStation } from '../sends/gas-station.ts'
import { draftOf, receiver as newAddress, transferOf } from '../sends/solana-drafts.ts'
import { DEVNET_GENESIS, startSolanaNode, type TestSolanaNode } from '../sends/solana-node.ts'
import { type Ended, SEPOLIA, untilEnded } from '../sends/status.ts'
import { accountsOf, ETHEREUM, makeWallet, SOLANA } from '../signing/keys.ts'
import { fetchKeys, type Received, type Receiver, startReceiver, subscribe, verdictOf } from './receiver.ts'

const TO = '0x00000000000000000000000000000000000000b0'
/** Reverts with whatever it is called with. */
const ECHO = '0x00000000000000000000000000000000000ec400'
const DEVNET = 'solana:devnet'
const DEVNET_CAIP2 = `solana:${DEVNET_GENESIS.slice(0, 32)}`

let anvil: Anvil
let node: TestSolanaNode
let receiver: Receiver
let service: TestService
let from: string
let payer: PublicKey
beforeAll(async () => {
  ;[anvil, node, receiver] = await Promise.all([startAnvil(), startSolanaNode(), startReceiver()])
  await anvil.rpc('anvil_setCode', ECHO, '0x366000600037366000fd')
  await placeGasStation(anvil)
  service = await startTestService({
    chains: {
      [SEPOLIA]: { url: anvil.url, pollMs: 50, confirmations: 1, usdPrice: '2000' },
      [DEVNET]: { url: node.url, pollMs: 30 },
    },
    allowedWebhookHosts: [receiver.host],
  })
  const { accounts } = await makeWallet(service.root, ETHEREUM, SOLANA)
  from = accounts[0]!.address
  payer = new PublicKey(accounts[1]!.address)
  await anvil.fund(from, 100)
  node.fund(payer.toBase58(), 100)
  await subscribe(service.root, `${receiver.url}/hook`)
})
afterAll(async () => {
  await service.close()
  await Promise.all([anvil.kill(), node.close(), receiver.close()])
})

interface Message extends JsonObject {
  readonly sendTransactionStatusId: string
  readonly activityId: string
  readonly status: string
}
const messageOf = ({ body }: Received) => body['msg'] as Message
const isOfSend = ({ body }: Received) => body['type'] === 'transaction:status'
/** What came of one send, in the order of its statuses: two deliveries at once may change places on their way. */
async function eventsOf(id: string, wanted: number): Promise<readonly Received[]> {
  const mine = (received: readonly Received[]) =>
    received.filter((each) => isOfSend(each) && messageOf(each).sendTransactionStatusId === id)
  const events = mine(await receiver.until((received) => mine(received).length >= wanted))
  const rank = (event: Received) => ['BROADCASTING', 'INCLUDED', 'FAILED'].indexOf(messageOf(event).status)
  return events.toSorted((a, b) => rank(a) - rank(b))
}
type SendType =
  | 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION'
  | 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2'
  | 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION'
/** Sends, follows to the end, and gives the events too. */
async function send(
  parameters: object,
  { type = 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION' as SendType, client = service.root as TestClient, wanted = 2 } = {},
) {
  const caip2 = type === 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION' ? DEVNET : SEPOLIA
  const activity = await client.submit(type, { caip2, ...parameters })
  const [result] = Object.values(activity.result) as [{ sendTransactionStatusId: string }]
  const id = result.sendTransactionStatusId
  const ended = await untilEnded(client, id)
  return { id, activityId: activity.id, ended, events: await eventsOf(id, wanted) }
}
const errorOf = ({ error }: Ended) => {
  const { revertChain: _, ...rest } = error!
  return rest
}

describe('events of a send', () => {
  test('events of a send: an Ethereum send is told of when it is broadcast and when it is included, signed', async () => {
    const { id, activityId, ended, events } = await send({ from, to: TO, value: '5' })
    const { organizationId } = service
    const msg = {
      sendTransactionStatusId: id,
      activityId,
      caip2: SEPOLIA,
      idempotencyKey: expect.stringMatching(/^[0-9a-f]{64}$/),
      timestamp: expect.closeTo(Date.now() / 1_000, -2),
    }
    const body = { type: 'transaction:status', organizationId, parentOrganizationId: organizationId }
    expect(events.map((event) => event.body)).toEqual([
      { ...body, msg: { ...msg, status: 'BROADCASTING' } },
      { ...body, msg: { ...msg, status: 'INCLUDED', txHash: ended.eth!.txHash } },
    ])
    const keys = await fetchKeys(service.url)
    expect(events.map((event) => verdictOf(event, keys))).toEqual(['ok', 'ok'])
    for (const { path, headers } of events) {
      expect({ path, ...headers }).toMatchObject({
        path: '/hook',
        'content-type': 'application/json',
        'x-turnkey-organization-id': organizationId,
        'x-turnkey-event-type': 'SEND_TRANSACTION_STATUS_UPDATES',
        'x-turnkey-webhook-version': '1',
        'x-turnkey-signature-key-id': keys[0]!.keyId,
      })
    }
    const distinct = (of: (event: Received) => unknown) => new Set(events.map(of)).size
    expect([distinct(({ eventId }) => eventId), distinct((event) => messageOf(event)['idempotencyKey'])]).toEqual([
      2, 2,
    ])
  })

  test('events of a send: one that reverts on chain is included, with the chain of calls', async () => {
    const { ended, events } = await send({ from, to: ECHO, data: '0xdeadbeef', gasLimit: '100000' })
    expect(messageOf(events[1]!)).toMatchObject({ status: 'INCLUDED', txHash: ended.eth!.txHash })
    expect(messageOf(events[1]!)['error']).toEqual(errorOf(ended))
    expect(messageOf(events[1]!)['error']).toMatchObject({
      message: expect.stringMatching(/^execution reverted/),
      eth: { revertChain: [{ address: ECHO, errorType: 'unknown', unknown: { selector: '0xdeadbeef' } }] },
    })
  })

  test('events of a send: one that would revert fails, and nothing else is told of it', async () => {
    const { ended, events } = await send({ from, to: ECHO, data: '0xdeadbeef' }, { wanted: 1 })
    expect(events.map(messageOf)).toEqual([expect.objectContaining({ status: 'FAILED', error: errorOf(ended) })])
    expect(messageOf(events[0]!)).not.toHaveProperty('txHash')
  })

  test('events of a send: a sponsored one, by the service’s relayer', async () => {
    const limits = { orgWindowLimitUsd: '1000', subOrgWindowLimitUsd: '100', windowDurationMinutes: '60' }
    await complete(service.root, 'ACTIVITY_TYPE_UPSERT_GAS_USAGE_CONFIG', limits)
    await anvil.fund(service.service.bootstrap.relayers.eip155, 10)
    const [account] = (await makeWallet(service.root, ETHEREUM)).accounts
    const calls = [{ to: TO, value: '0' }]
    const type = 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2'
    const { ended, events } = await send({ from: account!.address, sponsor: true, calls }, { type })
    expect(events.map((event) => messageOf(event).status)).toEqual(['BROADCASTING', 'INCLUDED'])
    expect(messageOf(events[1]!)['txHash']).toBe(ended.eth!.txHash)
  })

  test('events of a send: one that came signed', async () => {
    const outsider = privateKeyToAccount(generatePrivateKey())
    await anvil.fund(outsider.address, 1)
    const fees = { maxFeePerGas: 9_000_000_000n, maxPriorityFeePerGas: 1n }
    const signedTransaction = await outsider.signTransaction({
      ...{ type: 'eip1559', chainId: 11_155_111, nonce: 0, to: TO, gas: 21_000n },
      ...fees,
    })
    const { transactionHash } = await complete(service.root, 'ACTIVITY_TYPE_ETH_SEND_RAW_TRANSACTION', {
      signedTransaction,
      caip2: SEPOLIA,
    })
    await receiver.until((received) => received.some((each) => messageOf(each)['txHash'] === transactionHash))
    const included = receiver.received.find((each) => messageOf(each)['txHash'] === transactionHash)!
    const events = await eventsOf(messageOf(included).sendTransactionStatusId, 2)
    expect(events.map((event) => messageOf(event).status)).toEqual(['BROADCASTING', 'INCLUDED'])
  })

  test('events of a send: one that is replaced has failed, and what replaced it is included', async () => {
    await anvil.rpc('evm_setAutomine', false)
    const nonce = await anvil.rpc<string>('eth_getTransactionCount', from, 'latest')
    const isBroadcast = (times: number) => () =>
      receiver.received.filter((each) => messageOf(each).status === 'BROADCASTING').length === before + times
    const before = receiver.received.filter((each) => messageOf(each).status === 'BROADCASTING').length
    const older = send({ from, to: TO, value: '1', nonce })
    await receiver.until(isBroadcast(1))
    const newer = send({ from, to: TO, value: '2', nonce })
    await receiver.until(isBroadcast(2))
    await anvil.rpc('evm_setAutomine', true)
    await anvil.rpc('evm_mine')
    const [failed, included] = await Promise.all([older, newer])
    expect(failed.events.map((event) => messageOf(event).status)).toEqual(['BROADCASTING', 'FAILED'])
    expect(messageOf(failed.events[1]!)['error']).toEqual({
      message: expect.stringMatching(/^replaced by transaction 0x/),
    })
    expect(included.events.map((event) => messageOf(event).status)).toEqual(['BROADCASTING', 'INCLUDED'])
  })

  test('events of a send: on Solana, included and failed before it was sent', async () => {
    const type = 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION'
    const intent = (lamports: number) => ({
      unsignedTransaction: draftOf([transferOf(payer, newAddress(), lamports)], { payer }).toString('hex'),
      signWith: payer.toBase58(),
    })
    const { ended, events } = await send(intent(1_000_000), { type })
    expect(events.map(messageOf)).toMatchObject([
      { status: 'BROADCASTING', caip2: DEVNET_CAIP2 },
      { status: 'INCLUDED', caip2: DEVNET_CAIP2, txHash: ended.solana!.signature },
    ])
    const poor = await send(intent(500_000_000_000), { type, wanted: 1 })
    expect(poor.events.map(messageOf)).toMatchObject([{ status: 'FAILED', error: errorOf(poor.ended) }])
    expect(errorOf(poor.ended)).toHaveProperty('solana.source', 'simulation')
  })
})

describe('who is told', () => {
  test('who is told: every endpoint that asks for these events and is active, each by an id of its own', async () => {
    const second = await subscribe(service.root, `${receiver.url}/second`, { name: 'second' })
    const paused = await subscribe(service.root, `${receiver.url}/paused`, { name: 'paused' })
    const others = [
      await subscribe(service.root, `${receiver.url}/inactive`, { name: 'inactive', isActive: false }),
      await subscribe(service.root, `${receiver.url}/activities`, { name: 'other', eventType: 'ACTIVITY_UPDATES' }),
    ]
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT', { endpointId: paused, isActive: false })
    const { events } = await send({ from, to: ECHO, data: '0x01' }, { wanted: 2 })
    // An endpoint that is told later, or of more, would have been told of this too.
    await send({ from, to: ECHO, data: '0x02' }, { wanted: 2 })
    const told = receiver.received.filter((each) => isOfSend(each) && each.path !== '/hook')
    expect(told.map(({ path }) => path)).toEqual(['/second', '/second'])
    expect(events.map(({ path }) => path).toSorted()).toEqual(['/hook', '/second'])
    const distinct = (of: (event: Received) => unknown) => new Set(events.map(of)).size
    expect([distinct(({ eventId }) => eventId), distinct(({ bytes }) => bytes.toString())]).toEqual([2, 1])
    for (const endpointId of [second, paused, ...others]) {
      await complete(service.root, 'ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT', { endpointId })
    }
  })

  test('who is told: the parent, of what a sub-organization has sent', async () => {
    const { client, organizationId } = await addTenant(service, { parentId: service.organizationId })
    const wallet = { walletName: 'child', accounts: accountsOf(ETHEREUM) }
    const { addresses } = await complete(client, 'ACTIVITY_TYPE_CREATE_WALLET', wallet, organizationId)
    await anvil.fund(addresses[0]!, 1)
    const parameters = { from: addresses[0]!, to: TO, value: '1', caip2: SEPOLIA }
    const type = 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION'
    const { sendTransactionStatusId } = await complete(client, type, parameters, organizationId)
    const events = await eventsOf(sendTransactionStatusId, 2)
    expect(events.map(({ body, headers }) => [body, headers['x-turnkey-organization-id']])).toEqual(
      ['BROADCASTING', 'INCLUDED'].map((status) => [
        {
          type: 'transaction:status',
          organizationId,
          parentOrganizationId: service.organizationId,
          msg: expect.objectContaining({ status }),
        },
        service.organizationId,
      ]),
    )
  })
})
