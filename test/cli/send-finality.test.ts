/** What is final is said by nodes of the user's own alone: these lag, lie, serve another chain, take blocks back, or do not answer. */
import { join } from 'node:path'
import { Keypair, SystemProgram, Transaction } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPlanStore, type SendOrder, type SendProgress } from '../../activities/index.ts'
import { createStyle } from '../../src/cli/io.ts'
import { renderListedSend } from '../../src/cli/views/send.ts'
import { encodeBase58 } from '../../src/encoding/index.ts'
import { type Finality, isFinality, stateOf, withFinality } from '../../src/sending/index.ts'
import { orderOf } from '../activities/order.ts'
import { type Fault, type FaultNode, startFaultNode } from '../faults/fault-node.ts'
import { type Anvil, startAnvil } from '../service/sends/anvil.ts'
import { startSolanaNode } from '../service/sends/solana-node.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { quorateShared as quorate, testFolder, writeFiles } from './harness.ts'
import { payday } from './payday.ts'

const NEEDED = 4
const closers: (() => Promise<void>)[] = []
let anvil: Anvil
let node: FaultNode
let sender: string
beforeAll(async () => {
  anvil = await startAnvil({ mining: 'on-request' })
  closers.push(() => anvil.kill())
  node = await startFaultNode(anvil.url)
  closers.push(() => node.close())
  sender = (await anvil.rpc<string[]>('eth_accounts'))[0]!
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

const ledger = () => createPlanStore(join(testFolder(), 'plans')).sends
const pay = () =>
  anvil.rpc<string>('eth_sendTransaction', { from: sender, to: `0x${'b0'.repeat(20)}`, value: '0x1', gas: '0x5208' })
const mine = (blocks: number) => anvil.rpc('anvil_mine', `0x${blocks.toString(16)}`)

function includedAs(transactionHash: string, parameters: object = { from: sender, caip2: SEPOLIA }) {
  const order = { ...orderOf('INV-1'), parameters } as SendOrder
  const progress: SendProgress = { sendId: 's', reference: 'INV-1', state: 'included', transactionHash }
  return { order, sendId: 's', progress }
}
const settings = (...urls: string[]) => ({ nodes: { [SEPOLIA]: urls }, confirmations: { [SEPOLIA]: NEEDED } })
async function look(hash: string, urls = [node.url], kept = ledger()): Promise<Finality> {
  const [one] = await withFinality([includedAs(hash)], kept, settings(...urls))
  return one!.finality!
}

describe('send finality: on Ethereum', () => {
  test('a send is final with as many blocks as the chain takes, counted by a node of one’s own', async () => {
    const hash = await pay()
    await mine(1)
    const block = String(BigInt(await anvil.rpc<string>('eth_blockNumber')))
    for (let confirmations = 1; confirmations <= NEEDED; confirmations++) {
      const finality = await look(hash)
      expect(finality).toMatchObject({ reportedBy: 'node', block, confirmations, of: NEEDED })
      expect(isFinality(finality)).toBe(confirmations === NEEDED)
      const { progress } = includedAs(hash)
      expect(stateOf({ progress, finality })).toBe(confirmations === NEEDED ? 'final' : 'included')
      await mine(1)
    }
  })

  test('without a node of one’s own nothing is final, however old it is', async () => {
    const hash = await pay()
    await mine(NEEDED + 1)
    expect(await look(hash, [])).toEqual({ reportedBy: 'api' })
    const chains = { nodes: { 'eip155:1': [node.url] }, confirmations: {} }
    const [one] = await withFinality([includedAs(hash)], ledger(), chains)
    expect(stateOf(one!)).toBe('included')
  })

  test('the defaults are those that are published for the chain', async () => {
    const hash = await pay()
    await mine(12)
    const [one] = await withFinality([includedAs(hash)], ledger(), {
      nodes: { [SEPOLIA]: [node.url] },
      confirmations: {},
    })
    expect(one!.finality).toMatchObject({ confirmations: 12, of: 12 })
  })

  test.each<[string, (method: string) => Fault, Finality]>([
    [
      'no receipt',
      (method) => (/Receipt/.test(method) ? { result: null } : undefined),
      { reportedBy: 'api', node: 'in no block' },
    ],
    [
      'a receipt of another hash',
      (method) => (/Receipt/.test(method) ? { field: 'transactionHash', says: `0x${'1'.repeat(64)}` } : undefined),
      { reportedBy: 'api', node: 'in no block' },
    ],
    [
      'a receipt of another sender',
      (method) => (/Receipt/.test(method) ? { field: 'from', says: `0x${'5'.repeat(40)}` } : undefined),
      { reportedBy: 'api', node: 'in no block' },
    ],
    [
      'a receipt of a block that the chain does not have',
      (method) => (/Receipt/.test(method) ? { field: 'blockHash', says: `0x${'1'.repeat(64)}` } : undefined),
      { reportedBy: 'api', node: 'in no block' },
    ],
    [
      'a block above its own head',
      (method) => (/blockNumber/.test(method) ? { result: '0x0' } : undefined),
      { reportedBy: 'api', node: 'in no block' },
    ],
    [
      'that it reverted',
      (method) => (/Receipt/.test(method) ? { field: 'status', says: '0x0' } : undefined),
      { reportedBy: 'api', node: 'reverted' },
    ],
    [
      'another chain',
      (method) => (/chainId/.test(method) ? { result: '0x1' } : undefined),
      { reportedBy: 'api', node: 'another chain' },
    ],
    ['nothing', () => 'dropped', { reportedBy: 'api', node: 'no answer' }],
    ['a page', () => ({ page: 502 }), { reportedBy: 'api', node: 'no answer' }],
    [
      'a page about the receipt',
      (method) => (/Receipt/.test(method) ? { page: 502 } : undefined),
      { reportedBy: 'api', node: 'no answer' },
    ],
  ])('a node that says %s makes nothing final', async (_, fault, finality) => {
    const hash = await pay()
    await mine(NEEDED)
    node.fault = ({ method }) => fault(method)
    expect(await look(hash)).toEqual(finality)
    node.fault = () => undefined
    expect(isFinality(await look(hash))).toBe(true)
  })

  test('each node of a chain must have it as deep', async () => {
    const hash = await pay()
    await mine(NEEDED)
    node.fault = ({ method }) => (/blockNumber/.test(method) ? { behind: 1 } : undefined)
    expect(await look(hash, [anvil.url, node.url])).toMatchObject({ confirmations: NEEDED - 1, nodes: 2 })
    node.fault = () => 'dropped'
    expect(await look(hash, [anvil.url, node.url])).toEqual({ reportedBy: 'api', node: 'no answer' })
    node.fault = () => undefined
    expect(isFinality(await look(hash, [anvil.url, node.url]))).toBe(true)
  })

  test('one whose head is below the block that the API tells has not come to it yet, which is not in no block', async () => {
    const hash = await pay()
    await mine(NEEDED)
    const { blockNumber } = await anvil.rpc<{ blockNumber: string }>('eth_getTransactionReceipt', hash)
    const { progress, ...rest } = includedAs(hash)
    const receipt = { block: String(Number(blockNumber)), fee: { amount: '1', caip19: 'x' } }
    const told = [{ ...rest, progress: { ...progress, receipt } }]
    node.fault = () => ({ behind: NEEDED })
    const [one] = await withFinality(told, ledger(), settings(anvil.url, node.url))
    expect(one!.finality).toEqual({ reportedBy: 'api', node: 'behind' })
    expect(renderListedSend(one!, createStyle(false), 0)).toContain('has not come to that block yet')
    node.fault = ({ method }) => (/Receipt/.test(method) ? { result: null } : undefined)
    const [lost] = await withFinality(told, ledger(), settings(anvil.url, node.url))
    expect(lost!.finality).toEqual({ reportedBy: 'api', node: 'in no block' })
    node.fault = () => undefined
  })

  test('what was final stays so, also where the node is gone; another transaction under the same send is asked about', async () => {
    const kept = ledger()
    await kept.enter(orderOf('INV-1'))
    const hash = await pay()
    await mine(NEEDED)
    const first = await look(hash, [node.url], kept)
    expect(await look(hash, [], kept)).toEqual(first)
    expect(isFinality(first)).toBe(true)
    expect(await look(`0x${'1'.repeat(64)}`, [node.url], kept)).toEqual({ reportedBy: 'api', node: 'in no block' })
  })

  test('a block that is taken back takes the word of the node back', async () => {
    const before = await anvil.rpc<string>('evm_snapshot')
    const hash = await pay()
    await mine(NEEDED - 1)
    expect(await look(hash)).toMatchObject({ reportedBy: 'node', confirmations: NEEDED - 1 })
    await anvil.rpc('evm_revert', before)
    await mine(NEEDED + 1)
    expect(await look(hash)).toEqual({ reportedBy: 'api', node: 'in no block' })
  })
})

test('send finality: on Solana a send is final when the cluster cannot take its block back', async () => {
  const solana = await startSolanaNode({ blocks: 'on-request' })
  closers.push(() => solana.close())
  const caip2 = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'
  const payer = Keypair.fromSeed(new Uint8Array(32).fill(3))
  const rpc = async <Result>(method: string, params: readonly unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(solana.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return ((await response.json()) as { readonly result: Result }).result
  }
  solana.fund(payer.publicKey.toBase58(), 1)
  const { value } = await rpc<{ value: { blockhash: string } }>('getLatestBlockhash', [])
  const transfer = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports: 1 })
  const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash: value.blockhash }).add(transfer)
  transaction.sign(payer)
  const signature = encodeBase58(transaction.signature!)
  await rpc('sendTransaction', [
    transaction.serialize().toString('base64'),
    { encoding: 'base64', skipPreflight: true },
  ])
  solana.produce()
  const one = includedAs(signature, { signWiths: [payer.publicKey.toBase58()], caip2 })
  const asked = () => withFinality([one], ledger(), { nodes: { [caip2]: [solana.url] }, confirmations: {} })
  const [early] = await asked()
  expect([stateOf(early!), early!.finality!.reportedBy]).toEqual(['included', 'node'])
  solana.produce(40)
  const [final] = await asked()
  expect([stateOf(final!), final!.finality!.fee]).toEqual(['final', '5000'])
})

test('send finality: `send`, `sends` and their JSON say it alike', async () => {
  const day = await payday((close) => closers.push(close))
  const given = { ref: 'FINAL', amount: '3gwei' }
  const environment = { QUORATE_CHAINS: `${SEPOLIA}=${day.anvil.url}` }
  const more = ['--yes', '--confirmations', `${SEPOLIA}=3`]
  const first = await day.send(more, given, { environment })
  expect(first.stderr).toMatch(
    /included {6}0x\w+ {2}in block \d+, for a fee of [\d.]+ ETH, 1 of 3 confirmations, as reported by one node\n/,
  )
  const alone = await day.send(['--yes'], given)
  expect(alone.stderr).toMatch(/included {6}0x\w+ {2}in block \d+, for a fee of [\d.]+ ETH, as reported by the API\n/)
  await day.anvil.rpc('anvil_mine', '0x2')
  const list = (...args: string[]) =>
    quorate(['sends', ...args], { env: { ...day.env, ...environment }, cwd: day.folder })
  expect((await list()).stdout).toMatch(
    /included {6}0x\w+ {2}in block \d+, nonce 0, for a fee of [\d.]+ ETH, 3 of 12 confirmations, as reported by one node\n/,
  )
  const done = await list('--confirmations', `${SEPOLIA}=3`)
  expect(done.stdout).toMatch(
    /^FINAL .* final {9}0x\w+ {2}in block \d+, nonce 0, for a fee of [\d.]+ ETH, as reported by one node\n$/,
  )
  const held = await day.anvil.rpc<string>('eth_getBalance', day.address, 'latest')
  expect(done.stderr).toMatch(
    / sender +\S+ \(0x\w+\) on eip155:11155111 has 99\.9\d+ ETH, as reported by the node at 127\.0\.0\.1:\d+\n/,
  )
  const { stdout } = await list('--json')
  const { sends, senders } = JSON.parse(stdout) as Readonly<Record<string, readonly Record<string, unknown>[]>>
  const [told] = sends!
  expect(told!['nonce']).toBe('0')
  expect(senders).toMatchObject([{ address: day.address, chain: SEPOLIA, balance: { atomic: String(BigInt(held)) } }])
  expect(told).toMatchObject({ state: 'final', finality: { reportedBy: 'node', nodes: 1, confirmations: 3, of: 3 } })
  expect((await day.send(['--yes'], given)).stderr).toContain('final')
})

test('send finality: a send whose block was taken back is broadcasting again, until its bytes are in another block', async () => {
  const day = await payday((close) => closers.push(close))
  const environment = { QUORATE_CHAINS: `${SEPOLIA}=${day.anvil.url}` }
  const given = { ref: 'BACK', amount: '3gwei' }
  expect((await day.send(['--yes'], given, { environment })).stderr).toContain('included')
  const list = async () => {
    const { stdout } = await quorate(['sends', '--json'], { env: { ...day.env, ...environment }, cwd: day.folder })
    return (JSON.parse(stdout) as { readonly sends: readonly Record<string, unknown>[] }).sends[0]!
  }
  const before = await list()
  expect(before).toMatchObject({ state: 'included', finality: { reportedBy: 'node' } })
  // The same send, as the row of a batch.
  const row = `BACK,${day.walletName},payroll,3gwei,${SEPOLIA}`
  writeFiles(day.folder, { 'back.csv': `ref,from,to,amount,chain\n${row}\n` })
  const run = (...words: string[]) => quorate(words, { env: { ...day.env, ...environment }, cwd: day.folder })
  const batch = await run('send', 'defs', '--batch', 'back.csv', '--yes', '--json')
  const { batchId } = JSON.parse(batch.stdout) as { readonly batchId: string }
  const report = async () => {
    const { stdout } = await run('sends', '--batch', batchId, '--json')
    return JSON.parse(stdout) as Readonly<Record<string, readonly Record<string, unknown>[]>>
  }
  const { transactionHash } = before['progress'] as { readonly transactionHash: string }
  type Cost = Readonly<Record<'gasUsed' | 'effectiveGasPrice', string>>
  const cost = await day.anvil.rpc<Cost>('eth_getTransactionReceipt', transactionHash)
  const fee = `${BigInt(cost.gasUsed) * BigInt(cost.effectiveGasPrice)}`
  expect(before).toMatchObject({ finality: { fee } })
  expect(await report()).toMatchObject({
    rows: [{ state: 'included', nonce: '0', fee, reportedBy: 'node', nodes: 1, confirmations: 1 }],
    senders: [{ address: day.address, by: expect.stringContaining('the node at ') }],
  })
  await day.anvil.rpc('evm_setAutomine', false)
  await day.anvil.rpc('anvil_reorg', 1, [])
  // Until the service has found it in no block at two heads, its word is told beside that of the node.
  let told = await list()
  expect(told).toMatchObject({ state: 'included', finality: { reportedBy: 'api', node: 'in no block' } })
  for (let blocks = 0; told['state'] === 'included' && blocks < 60; blocks++) {
    await day.anvil.rpc('anvil_mine', '0x1')
    told = await list()
  }
  expect(told).toMatchObject({ state: 'broadcasting', progress: { transactionHash } })
  expect((await report())['rows']).toMatchObject([{ state: 'broadcasting', transactionHash }])
  const again = await day.send(['--yes'], given, { environment })
  expect([again.exit, again.stderr]).toEqual([3, expect.stringContaining('broadcasting')])
  await expect
    .poll(() => day.anvil.rpc('eth_getTransactionByHash', transactionHash))
    .toMatchObject({ hash: transactionHash })
  await day.anvil.rpc('anvil_mine', '0x1')
  await expect
    .poll(list)
    .toMatchObject({ state: 'included', progress: { transactionHash }, finality: { reportedBy: 'node' } })
})

test('send finality: what its API told as reverted and found in its block after all is told as included', async () => {
  let front!: FaultNode
  const day = await payday(
    (close) => closers.push(close),
    async (url) => {
      front = await startFaultNode(url)
      closers.push(() => front.close())
      return front.url
    },
  )
  front.fault = ({ method }) => {
    if (method === 'eth_getTransactionReceipt') return { field: 'status', says: '0x0' }
    // Nothing of this node proves its word: it traces no transaction, and shows no block whole.
    return /^debug_|^eth_getBlockReceipts$/.test(method)
      ? { error: { code: -32_601, message: 'the method does not exist' } }
      : undefined
  }
  const before = await day.paid()
  const given = { ref: 'LIED', amount: '3gwei' }
  const first = await day.send(['--yes'], given)
  expect([first.exit, first.stderr]).toEqual([6, expect.stringMatching(/^reverted .*/m)])
  expect(first.stderr).toContain('look at its transaction by another node')
  front.fault = () => undefined
  const list = async () => {
    await day.anvil.rpc('anvil_mine', '0x1')
    const { stdout } = await quorate(['sends', '--json'], { env: day.env, cwd: day.folder })
    return (JSON.parse(stdout) as { readonly sends: readonly { readonly state: string }[] }).sends[0]!.state
  }
  await expect.poll(list, { timeout: 30_000 }).toBe('included')
  const again = await day.send(['--yes'], given)
  expect([again.exit, again.stderr]).toEqual([0, expect.stringContaining('included')])
  expect(await day.paid()).toBe(before + 3_000_000_000n)
})
