import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { type Fault, type FaultNode, startFaultNode } from '../../faults/fault-node.ts'
import { complete, refusalOf } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'
import { rowsOf } from '../rows.ts'
import { ETHEREUM, makeWallet } from '../signing/keys.ts'
import { type Anvil, type AnvilOptions, startAnvil } from './anvil.ts'
import { SEPOLIA, untilEnded, untilOffered } from './status.ts'
import { startUnreliableServer } from './unreliable-server.ts'

const closers: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const RECEIVER = '0x00000000000000000000000000000000000000b0'
const NO_METHOD: Fault = { error: { code: -32_601, message: 'the method does not exist' } }
const RATE_LIMITED = { code: -32_005, message: 'rate limited' }

interface Scene {
  readonly anvil: Anvil
  readonly node: FaultNode
  readonly service: TestService
  readonly from: string
}

async function startScene(options: AnvilOptions = {}, settings: object = {}): Promise<Scene> {
  const anvil = await startAnvil(options)
  closers.push(() => anvil.kill())
  const node = await startFaultNode(anvil.url)
  closers.push(() => node.close())
  const { service, from } = await startService(node.url, anvil, settings)
  return { anvil, node, service, from }
}

async function startService(url: string, anvil: Anvil, settings: object = {}) {
  const service = await startTestService({ chains: { [SEPOLIA]: { url, pollMs: 50, ...settings } } })
  closers.push(() => service.close())
  const from = (await makeWallet(service.root, ETHEREUM)).accounts[0]!.address
  await anvil.fund(from, 100)
  return { service, from }
}

async function submit({ service, from }: Pick<Scene, 'service' | 'from'>, parameters: object = {}): Promise<string> {
  const intent = { from, caip2: SEPOLIA, to: RECEIVER, ...parameters }
  return (await complete(service.root, 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION', intent)).sendTransactionStatusId
}

const countOf = async (anvil: Anvil, address: string) =>
  Number(await anvil.rpc<string>('eth_getTransactionCount', address, 'latest'))

test.each<[string, Fault]>([
  ['that limits how often it is asked', { error: RATE_LIMITED }],
  ['whose gateway limits how often it is asked', { status: 429, error: { code: -32_000, message: 'slow down' } }],
  ['whose gateway does not reach it', { status: 503, error: { code: -32_000, message: 'no backend' } }],
])('sends: by a node %s a send is put off, not given up', async (_, lie) => {
  const scene = await startScene()
  const refused = new Map<string, number>()
  scene.node.fault = ({ method }) => {
    const times = refused.get(method) ?? 0
    refused.set(method, times + 1)
    return method !== 'eth_chainId' && times < 2 ? lie : undefined
  }
  const { txStatus } = await untilEnded(scene.service.root, await submit(scene))
  expect(txStatus).toBe('INCLUDED')
  expect([...refused.keys()]).toEqual(expect.arrayContaining(['eth_estimateGas', 'eth_sendRawTransaction']))
})

test.each<[string, string, object]>([
  ['its nonce was used', 'nonce too low', {}],
  ['the nonce that the caller gave was used', 'nonce too low', { nonce: '0' }],
  ['its sender has no funds', 'insufficient funds for gas * price + value', {}],
  ['another one with that nonce waits', 'replacement transaction underpriced', { nonce: '0' }],
  ['it has it already', 'already known', {}],
])(
  'sends: one whose answer was lost is not signed anew by the word of nodes that lag, though one says that %s',
  async (_, message, parameters) => {
    const scene = await startScene()
    const first: unknown[] = []
    let asked = 0
    scene.node.fault = ({ method, params }) => {
      // Behind one address stand nodes of which one has the transaction, and others do not have it yet.
      if (method === 'eth_getTransactionByHash' && asked++ < 4) return { result: null }
      if (method !== 'eth_sendRawTransaction') return undefined
      if (first.length === 0) {
        first.push(params[0])
        return 'lost'
      }
      return params[0] === first[0] ? { error: { code: -32_000, message } } : undefined
    }
    const { txStatus } = await untilEnded(scene.service.root, await submit(scene, parameters))
    expect({ txStatus, mined: await countOf(scene.anvil, scene.from) }).toEqual({ txStatus: 'INCLUDED', mined: 1 })
  },
)

test('get_nonces: the next nonces are those behind all that is accepted, whether signed or not', async () => {
  const { anvil, node, service, from } = await startScene({ mining: 'on-request' })
  const next = () =>
    service.root.query('get_nonces', { address: from, caip2: SEPOLIA, nonce: true, gasStationNonce: true })
  await untilStatus(service, await submit({ service, from }), 'BROADCASTING')
  expect(await next()).toEqual({ nonce: '1', gasStationNonce: '0' })
  node.fault = ({ method }) => (method === 'eth_estimateGas' ? { error: RATE_LIMITED } : undefined)
  await submit({ service, from })
  await submit({ service, from }, { nonce: '3' })
  expect(await next()).toEqual({ nonce: '2', gasStationNonce: '0' })
  await submit({ service, from })
  expect(await next()).toEqual({ nonce: '4', gasStationNonce: '0' })
  const calls = [{ to: RECEIVER }, { to: from }]
  await complete(service.root, 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2', { from, caip2: SEPOLIA, calls })
  expect(await next()).toEqual({ nonce: '5', gasStationNonce: '1' })
  expect(await countOf(anvil, from)).toBe(0)
})

test('sends: while the node serves another chain, no send there counts as replaced', async () => {
  const [anvil, other] = await Promise.all([startAnvil({ mining: 'on-request' }), startAnvil({ chainId: 5 })])
  closers.push(
    () => anvil.kill(),
    () => other.kill(),
  )
  const front = await startUnreliableServer(anvil.url, () => false)
  closers.push(() => front.close())
  const scene = await startService(front.url, anvil)
  const id = await submit(scene)
  await untilOffered(scene.service.root, anvil, id)
  await other.rpc('anvil_setNonce', scene.from, '0x9')
  front.target = other.url
  await pause(600)
  expect(await statusOf(scene.service, id)).toBe('BROADCASTING')
  front.target = anvil.url
  await anvil.rpc('evm_mine')
  expect((await untilEnded(scene.service.root, id)).txStatus).toBe('INCLUDED')
})

test.each([99, 'latest'])('sends: %j is no count of transactions, and replaces nothing', async (result) => {
  const { anvil, node, service, from } = await startScene({ mining: 'on-request' })
  const id = await submit({ service, from })
  await untilOffered(service.root, anvil, id)
  node.fault = ({ method }) => (method === 'eth_getTransactionCount' ? { result } : undefined)
  await pause(400)
  expect(await statusOf(service, id)).toBe('BROADCASTING')
  node.fault = () => undefined
  await anvil.rpc('evm_mine')
  expect((await untilEnded(service.root, id)).txStatus).toBe('INCLUDED')
})

test.each<[string, Fault]>([
  ['refuses to trace', { error: { code: -32_601, message: 'the method does not exist' } }],
  ['wants to be paid for tracing', { status: 429, error: RATE_LIMITED }],
  ['traces to nothing', { result: null }],
])('sends: a revert is told by a node that %s', async (_, lie) => {
  const scene = await startScene()
  await scene.anvil.rpc('anvil_setCode', RECEIVER, '0x366000600037366000fd')
  scene.node.fault = ({ method }) => (method === 'debug_traceTransaction' ? lie : undefined)
  const reason = `0x08c379a0${'20'.padStart(64, '0')}${'2'.padStart(64, '0')}${'6e6f'.padEnd(64, '0')}`
  const ended = await untilEnded(scene.service.root, await submit(scene, { data: reason, gasLimit: '90000' }))
  expect(ended).toMatchObject({ txStatus: 'INCLUDED', txError: 'execution reverted: no' })
})

test.each<[string, unknown]>([
  ['nothing', null],
  ['words', 'soon'],
  ['an object', {}],
  ['an empty list', []],
  ['an empty text', ''],
])('a node that answers with %s is said not to be understood', async (_, result) => {
  const { node, service, from } = await startScene()
  node.fault = () => ({ result })
  const refusal = [503, 14, `the node of chain ${SEPOLIA} answers with what cannot be read`, 'RPC_CALL_ERROR']
  expect(await refusalOf(submit({ service, from }))).toEqual(refusal)
  const [address, caip2] = [from, SEPOLIA]
  expect(await refusalOf(service.root.query('get_nonces', { address, caip2, nonce: true }))).toEqual(refusal)
  expect(await refusalOf(service.root.query('get_wallet_address_balances', { address, caip2 }))).toEqual(refusal)
})

test('sends: while the keys cannot be read, a send waits for them and is not given up', async () => {
  const { node, service, from } = await startScene()
  let accepted = 0
  // Asked by the submit, and then to complete the send.
  node.fault = ({ method }) => (method === 'eth_chainId' && accepted++ > 0 ? { error: RATE_LIMITED } : undefined)
  const id = await submit({ service, from })
  await rowsOf(service.dataDir, 'ALTER TABLE wallet_accounts RENAME TO hidden')
  node.fault = () => undefined
  await pause(400)
  await rowsOf(service.dataDir, 'ALTER TABLE hidden RENAME TO wallet_accounts')
  expect((await untilEnded(service.root, id)).txStatus).toBe('INCLUDED')
})

async function statusOf(service: TestService, sendTransactionStatusId: string): Promise<string> {
  return (await service.root.query('get_send_transaction_status', { sendTransactionStatusId })).txStatus
}

async function untilStatus(service: TestService, id: string, status: string): Promise<void> {
  while ((await statusOf(service, id)) !== status) await pause(20)
}

test('sends: one whose receipt is never told holds up none that has a receipt', async () => {
  const scene = await startScene()
  let silent: unknown
  let unanswered = 0
  scene.node.fault = ({ method, params }) => {
    if (method !== 'eth_getTransactionReceipt') return undefined
    silent ??= params[0]
    if (params[0] !== silent) return undefined
    unanswered++
    return 'dropped'
  }
  const first = await submit(scene)
  while (unanswered < 3) await pause(20)
  const second = await submit(scene)
  expect((await untilEnded(scene.service.root, second)).txStatus).toBe('INCLUDED')
  scene.node.fault = () => undefined
  expect((await untilEnded(scene.service.root, first)).txStatus).toBe('INCLUDED')
})

const REVERTED: Fault = { field: 'status', says: '0x0' }
const isReceipt = (method: string) => method === 'eth_getTransactionReceipt'
/** That a node may not have, and by which the word of one receipt is known as a lie. */
const isProof = (method: string) => method.startsWith('debug_') || method === 'eth_getBlockReceipts'

test('sends: one receipt that says so reverts nothing, nor do many against the trace', async () => {
  const scene = await startScene()
  const { node, service } = scene
  let receipts = 0
  node.fault = ({ method }) => (isReceipt(method) && ++receipts === 1 ? REVERTED : undefined)
  const paid = ['INCLUDED', undefined]
  const ended = async (id: string) => {
    const { txStatus, error } = await untilEnded(service.root, id)
    return [txStatus, error]
  }
  expect(await ended(await submit(scene))).toEqual(paid)
  expect(receipts).toBeGreaterThan(1)

  node.fault = ({ method }) =>
    isReceipt(method) ? REVERTED : method === 'eth_getBlockReceipts' ? NO_METHOD : undefined
  const id = await submit(scene)
  await vi.waitFor(async () =>
    expect(await service.root.query('get_send_transaction_status', { sendTransactionStatusId: id })).toMatchObject({
      txStatus: 'BROADCASTING',
      error: {
        message: expect.stringMatching(/says that it was reverted in block \d+, and its trace says that it was not/),
      },
    }),
  )
  node.fault = () => undefined
  expect(await ended(id)).toEqual(paid)
})

test('sends: a further node that does not say so keeps a send from being reverted', async () => {
  const anvil = await startAnvil()
  closers.push(() => anvil.kill())
  const node = await startFaultNode(anvil.url)
  closers.push(() => node.close())
  node.fault = ({ method }) => (isReceipt(method) ? REVERTED : isProof(method) ? NO_METHOD : undefined)
  const scene = await startService(node.url, anvil, { witnesses: [anvil.url] })
  const id = await submit(scene)
  await pause(500)
  const { txStatus } = await scene.service.root.query('get_send_transaction_status', { sendTransactionStatusId: id })
  expect(txStatus).toBe('BROADCASTING')
})

test('sends: what was told as reverted and is not is included, before its block is settled', async () => {
  const scene = await startScene({}, { confirmations: 10 })
  const { anvil, node, service } = scene
  node.fault = ({ method }) => (isReceipt(method) ? REVERTED : isProof(method) ? NO_METHOD : undefined)
  const id = await submit(scene)
  expect(await untilEnded(service.root, id)).toMatchObject({ txStatus: 'INCLUDED', error: expect.anything() })
  node.fault = () => undefined
  await vi.waitFor(async () => {
    await anvil.rpc('anvil_mine', '0x1')
    const { txStatus, error } = await service.root.query('get_send_transaction_status', { sendTransactionStatusId: id })
    expect([txStatus, error]).toEqual(['INCLUDED', undefined])
  })
  expect(await countOf(anvil, scene.from)).toBe(1)
})
