/**
 * Payments to nodes that fail in every way at once, by a seeded schedule: answers are dropped, late, stale, of another hash, or
 * say no after the deed; blocks are taken back; the service is started again. Judged by all blocks of the chain, read from the
 * node itself by nothing of the service's: each is paid once, told as it is, and for no more than the ceiling.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { drawFault, FAULTS, type FaultNode, fromReplica, startFaultNode, startReplica } from '../faults/fault-node.ts'
import { complete } from '../service/handlers/steps.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { type Anvil, startAnvil } from '../service/sends/anvil.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { ETHEREUM, makeWallet } from '../service/signing/keys.ts'
import { type Draw, drawing } from './drawing.ts'

const SENDERS = 4
const CONFIRMATIONS = 5
/** Of a hundred questions so many are answered wrongly, or not at all. */
const FAULTY = 30
const BLOCK_MS = 120
/** The last blocks that a reorganisation takes back. */
const MOST_TAKEN_BACK = 2
/** Four times two gwei for the tip of empty blocks, and eight times a base fee that begins at one gwei. */
const CEILING = 16_000_000_000n

export interface Payments {
  readonly payments: number
  readonly faults: number
  readonly kinds: number
  readonly reorganised: number
  readonly restarts: number
  /** Payments that no block has, that more than one has, and of another amount. */
  readonly unpaid: number
  readonly twice: number
  readonly wrong: number
  /** Payments that are told otherwise than the blocks have them. */
  readonly mistold: number
  /** Payments that cost more than the ceiling allows. */
  readonly dear: number
}

interface Order {
  readonly id: string
  readonly to: string
  readonly value: bigint
}

export async function payUnderFaults({ count, seed }: { count: number; seed: number }): Promise<Payments> {
  const draw = drawing(seed)
  const anvil = await startAnvil({ mining: 'on-request' })
  const node = await startFaultNode(anvil.url)
  const replica = await startReplica(anvil.url)
  const chain = { url: node.url, pollMs: 40, confirmations: CONFIRMATIONS }
  const service = await startTestService({ chains: { [SEPOLIA]: chain } })
  // Blocks have numbers of their own: how many questions are asked in between, and draw from the others, is a matter of time.
  const mining = startMining(anvil, drawing(seed + 1))
  try {
    const senders = await makeSenders(service, anvil)
    const counts = new Map<string, number>()
    const kinds = [...Object.entries(FAULTS), ...fromReplica(replica)]
    const once = new Set<string>()
    node.fault = (ask) => {
      const drawn = draw(100) < FAULTY ? drawFault(ask, draw, { kinds, once }) : undefined
      if (drawn !== undefined) counts.set(drawn.name, (counts.get(drawn.name) ?? 0) + 1)
      return drawn?.fault
    }
    const orders: Order[] = []
    const restarts = Math.max(1, Math.floor(count / 50))
    for (let index = 0; index < count; index++) {
      orders.push(await pay(service, { from: senders[index % SENDERS]!, index }))
      await mining.perhapsTakeBack()
      if (index % Math.ceil(count / (restarts + 1)) === 0 && index > 0) await service.restart()
    }
    await settle(service, { node, anvil, orders })
    await mining.stop()
    const verdict = await judge(service, anvil, orders)
    const faults = [...counts.values()].reduce((sum, each) => sum + each, 0)
    return { payments: count, faults, kinds: counts.size, reorganised: mining.takenBack, restarts, ...verdict }
  } finally {
    await mining.stop()
    await service.close()
    await node.close()
    await replica.close()
    await anvil.kill()
  }
}

/** Blocks come by themselves; now and then the last ones are taken back, and others come in their place. `before` is done before each. */
export function startMining(anvil: Anvil, draw: Draw, before: () => Promise<void> = async () => {}) {
  let isOver = false
  let isBusy = Promise.resolve<unknown>(undefined)
  const inTurn = (work: () => Promise<unknown>) => {
    isBusy = isBusy.then(work)
    return isBusy
  }
  const running = (async () => {
    while (!isOver) {
      await inTurn(async () => {
        await before()
        await anvil.rpc('evm_mine')
      })
      await pause(BLOCK_MS)
    }
  })()
  const mining = {
    takenBack: 0,
    async perhapsTakeBack() {
      if (draw(12) !== 0) return
      await inTurn(() => anvil.rpc('anvil_reorg', 1 + draw(MOST_TAKEN_BACK), []))
      mining.takenBack++
    },
    async stop() {
      isOver = true
      await running
    },
  }
  return mining
}

async function makeSenders(service: TestService, anvil: Anvil): Promise<readonly string[]> {
  const senders = []
  for (let index = 0; index < SENDERS; index++) {
    const { address } = (await makeWallet(service.root, ETHEREUM)).accounts[0]!
    await anvil.fund(address, 100)
    senders.push(address)
  }
  await anvil.rpc('anvil_mine', '0x8')
  return senders
}

/** A receiver and an amount of its own for each, by which a block tells it. A submit that had no node was not accepted. */
async function pay(service: TestService, { from, index }: { from: string; index: number }): Promise<Order> {
  const to = `0x${(0xba5e0000 + index).toString(16).padStart(40, '0')}`
  const value = BigInt(1_000 + index)
  for (;;) {
    const intent = { from, caip2: SEPOLIA, to, value: value.toString() }
    const made = await complete(service.root, 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION', intent).catch(() => undefined)
    if (made !== undefined) return { id: made.sendTransactionStatusId, to, value }
  }
}

interface Ending {
  readonly node: FaultNode
  readonly anvil: Anvil
  readonly orders: readonly Order[]
}

/** Faults go on until most are told of; then the truth is said until nothing changes any more. */
async function settle(service: TestService, { node, anvil, orders }: Ending): Promise<void> {
  await untilTold(service, orders.slice(0, Math.ceil(orders.length * 0.8)))
  node.fault = () => undefined
  for (let settled = 0; settled < 2; settled++) {
    await untilTold(service, orders)
    const from = Number(await anvil.rpc<string>('eth_blockNumber'))
    while (Number(await anvil.rpc<string>('eth_blockNumber')) < from + CONFIRMATIONS + 3) await pause(50)
  }
}

async function untilTold(service: TestService, orders: readonly Order[]): Promise<void> {
  for (const { id } of orders)
    while (!['INCLUDED', 'FAILED'].includes((await stateOf(service, id)).txStatus)) await pause(30)
}

const stateOf = (service: TestService, sendTransactionStatusId: string) =>
  service.root.query('get_send_transaction_status', { sendTransactionStatusId })

interface Paid {
  readonly hash: string
  readonly value: bigint
  readonly price: bigint
}

/** A transaction that a block has, and what came of it. */
export interface InChain {
  readonly hash: string
  readonly from: string
  readonly nonce: string
  readonly to: string
  readonly value: string
  readonly input: string
  readonly receipt: {
    readonly status: string
    readonly effectiveGasPrice: string
    readonly logs: readonly { readonly address: string; readonly topics: readonly string[]; readonly data: string }[]
  }
}

/** All transactions of all blocks of the chain. */
export async function readTransactions(anvil: Anvil): Promise<readonly InChain[]> {
  const all: InChain[] = []
  const head = Number(await anvil.rpc<string>('eth_blockNumber'))
  for (let number = 0; number <= head; number++) {
    const { transactions } = await anvil.rpc<{ readonly transactions: readonly Omit<InChain, 'receipt'>[] }>(
      'eth_getBlockByNumber',
      `0x${number.toString(16)}`,
      true,
    )
    for (const one of transactions) {
      const receipt = await anvil.rpc<InChain['receipt']>('eth_getTransactionReceipt', one.hash)
      all.push({ ...one, receipt })
    }
  }
  return all
}

/** What each receiver got, by all blocks of the chain. */
export async function readBlocks(anvil: Anvil): Promise<ReadonlyMap<string, readonly Paid[]>> {
  const paid = new Map<string, Paid[]>()
  for (const { hash, to, value, receipt } of await readTransactions(anvil)) {
    if (receipt.status !== '0x1') continue
    const one = { hash, value: BigInt(value), price: BigInt(receipt.effectiveGasPrice) }
    paid.set(to, [...(paid.get(to) ?? []), one])
  }
  return paid
}

async function judge(service: TestService, anvil: Anvil, orders: readonly Order[]) {
  const paid = await readBlocks(anvil)
  const found = { unpaid: 0, twice: 0, wrong: 0, mistold: 0, dear: 0 }
  for (const { id, to, value } of orders) {
    const payments = paid.get(to) ?? []
    const { txStatus, eth } = await stateOf(service, id)
    if (payments.length === 0) found.unpaid++
    if (payments.length > 1) found.twice++
    if (payments.some((each) => each.value !== value)) found.wrong++
    if (payments.some(({ price }) => price > CEILING)) found.dear++
    if (txStatus !== 'INCLUDED' || eth?.txHash !== payments[0]?.hash) found.mistold++
  }
  return found
}
