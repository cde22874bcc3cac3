/** A chain that payments are made on, of either kind: its blocks come by themselves and are taken back, and are read by nothing of the service's. */
import { setTimeout as pause } from 'node:timers/promises'
import { Keypair } from '@solana/web3.js'
import type { SendOrder } from '../../activities/index.ts'
import { encodeSolanaPayment, normalizeCaip2 } from '../../src/chain/index.ts'
import { encodeHex } from '../../src/encoding/index.ts'
import { startAnvil } from '../service/sends/anvil.ts'
import { MAX_AGE, startSolanaNode } from '../service/sends/solana-node.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { type AccountShape, ETHEREUM, SOLANA } from '../service/signing/keys.ts'
import { type Draw, drawing } from './drawing.ts'
import { readBlocks, startMining } from './payments.ts'
import type { Stage } from './stage.ts'

/** What a block has of a payee. */
export interface InBlock {
  readonly hash: string
  readonly amount: bigint
  /** It cost more than its ceiling. */
  readonly isDear: boolean
}

export interface PaidChain {
  readonly url: string
  readonly caip2: string
  readonly settings: { readonly pollMs: number; readonly confirmations?: number }
  readonly account: AccountShape
  /** Whether a fault of this name is one of its nodes'. */
  suffers(fault: string): boolean
  fund(address: string): Promise<void>
  payment(of: { readonly from: string; readonly index: number }): Pick<SendOrder, 'type' | 'parameters'>
  payeeOf(index: number): string
  amountOf(index: number): bigint
  balanceOf(payee: string): Promise<bigint>
  perhapsTakeBack(draw: Draw): Promise<void>
  /** How many blocks were taken back, and payments signed anew. */
  figures(): { readonly reorganised: number; readonly datedAnew: number }
  /** What each payee got, by all blocks. */
  readBlocks(): Promise<ReadonlyMap<string, readonly InBlock[]>>
  /** Nothing more is left out or lags, now that nothing more is begun. */
  calm(): void
  /** Resolves when nothing is taken back any more. */
  settle(): Promise<void>
  stop(): Promise<void>
}

export const startPaidChain = (kind: 'ethereum' | 'solana', stage: Stage): Promise<PaidChain> =>
  kind === 'ethereum' ? startEthereum(stage) : startSolana(stage)

const CONFIRMATIONS = 5
const CEILING = 30_000_000_000n

async function startEthereum(stage: Stage): Promise<PaidChain> {
  const anvil = await startAnvil({ mining: 'on-request' })
  stage.atEnd(() => anvil.kill())
  const mining = startMining(anvil, drawing(1))
  stage.atEnd(() => mining.stop())
  const payeeOf = (index: number) => `0x${(0xba5e0000 + index).toString(16).padStart(40, '0')}`
  const amountOf = (index: number) => BigInt(1_000 + index)
  return {
    url: anvil.url,
    caip2: SEPOLIA,
    settings: { pollMs: 400, confirmations: CONFIRMATIONS },
    account: ETHEREUM,
    suffers: (fault) => fault !== 'stale' && fault !== 'no status',
    async fund(address) {
      await anvil.fund(address, 100)
    },
    payment: ({ from, index }) => ({
      type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION',
      parameters: {
        ...{ from, caip2: SEPOLIA, to: payeeOf(index), value: `${amountOf(index)}` },
        maxFeePerGas: `${CEILING}`,
      },
    }),
    payeeOf,
    amountOf,
    balanceOf: async (payee) => BigInt(await anvil.rpc<string>('eth_getBalance', payee, 'latest')),
    perhapsTakeBack: () => mining.perhapsTakeBack(),
    figures: () => ({ reorganised: mining.takenBack, datedAnew: 0 }),
    calm() {},
    async readBlocks() {
      const paid = await readBlocks(anvil)
      const inBlock = ({ hash, value, price }: { hash: string; value: bigint; price: bigint }) => ({
        ...{ hash, amount: value, isDear: price > CEILING },
      })
      return new Map([...paid].map(([to, payments]) => [to, payments.map(inBlock)]))
    },
    async settle() {
      const head = async () => Number(await anvil.rpc<string>('eth_blockNumber'))
      const from = await head()
      while ((await head()) < from + 2 * CONFIRMATIONS) await stage.pause(50)
    },
    stop: () => mining.stop(),
  }
}

const BLOCK_MS = 80
/** A payee's account must hold this much, or it cannot be opened. */
const RENT = 890_880
/** All of the fee of a payment, which offers nothing for its place: one signature. */
const MOST_FEE = 6_000

interface SolanaBlock {
  readonly transactions?: readonly {
    readonly transaction: {
      readonly signatures: readonly string[]
      readonly accountKeys: readonly { pubkey: string }[]
    }
    readonly meta: {
      readonly err: unknown
      readonly fee: number
      readonly preBalances: number[]
      readonly postBalances: number[]
    }
  }[]
}

async function startSolana(stage: Stage): Promise<PaidChain> {
  const node = await startSolanaNode({ blocks: 'on-request' })
  stage.atEnd(() => node.close())
  /** Blocks with payments that are to be taken back, before anybody has confirmed them. */
  let toTakeBack = 0
  let isNewestFull = false
  const timer = setInterval(() => {
    if (isNewestFull && toTakeBack > 0) {
      node.takeBack(1)
      toTakeBack--
      takenBack++
    }
    const before = node.landed.size
    node.produce()
    isNewestFull = node.landed.size > before
  }, BLOCK_MS)
  stage.atEnd(async () => clearInterval(timer))
  const caip2 = normalizeCaip2('solana:devnet')
  let takenBack = 0
  /** Whether what is offered now is left out until its blockhash expires. */
  let isToExpire = false
  const payees = new Map<number, string>()
  const payeeOf = (index: number) => {
    const known = payees.get(index) ?? Keypair.generate().publicKey.toBase58()
    payees.set(index, known)
    return known
  }
  const amountOf = (index: number) => BigInt(RENT + index)
  const rpc = async <Result>(method: string, ...params: readonly unknown[]): Promise<Result> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const answer = await fetch(node.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return ((await answer.json()) as { result: Result }).result
  }
  return {
    url: node.url,
    caip2,
    settings: { pollMs: 400 },
    account: SOLANA,
    suffers: (fault) => fault !== 'repeated' || node.waiting.size > 0,
    async fund(address) {
      node.fund(address, 100)
    },
    payment: ({ from, index }) => ({
      type: 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2',
      parameters: {
        unsignedTransaction: encodeHex(encodeSolanaPayment({ from, to: payeeOf(index), amount: amountOf(index) })),
        ...{ signWiths: [from], caip2 },
      },
    }),
    payeeOf,
    amountOf,
    balanceOf: async (payee) => node.balance(payee),
    async perhapsTakeBack(draw) {
      if (isToExpire) {
        // So many blocks go by at once that every blockhash has expired, as far as another node knows that lags.
        node.statusLag = 1 + draw(20)
        node.produce(MAX_AGE + 3)
        isToExpire = false
        return
      }
      node.statusLag = 0
      isToExpire = draw(15) === 0
      // Leaders leave out what they have.
      node.drops = isToExpire || draw(4) === 0
      if (draw(3) === 0) toTakeBack++
    },
    figures: () => ({ reorganised: takenBack, datedAnew: node.offered.size - payees.size }),
    calm() {
      node.drops = false
      node.statusLag = 0
    },
    async readBlocks() {
      const paid = new Map<string, InBlock[]>()
      const last = await rpc<number>('getSlot', { commitment: 'confirmed' })
      for (const slot of await rpc<readonly number[]>('getBlocks', 0, last, { commitment: 'confirmed' })) {
        const how = { transactionDetails: 'accounts', commitment: 'confirmed' }
        for (const { transaction, meta } of (await rpc<SolanaBlock>('getBlock', slot, how)).transactions ?? []) {
          if (meta.err !== null) continue
          for (const [at, { pubkey }] of transaction.accountKeys.entries()) {
            const amount = BigInt(meta.postBalances[at]! - meta.preBalances[at]!)
            if (amount <= 0n) continue
            const one = { hash: transaction.signatures[0]!, amount, isDear: meta.fee > MOST_FEE }
            paid.set(pubkey, [...(paid.get(pubkey) ?? []), one])
          }
        }
      }
      return paid
    },
    async settle() {
      await pause(500)
    },
    async stop() {
      clearInterval(timer)
    },
  }
}
