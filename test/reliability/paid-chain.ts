/** A chain that payments are made on, of either kind: its blocks come by themselves and are taken back, and are read by nothing of the service's. */
import { setTimeout as pause } from 'node:timers/promises'
import { Keypair } from '@solana/web3.js'
import type { SendOrder } from '../../activities/index.ts'
import { encodeSolanaPayment, normalizeCaip2 } from '../../src/chain/index.ts'
import { encodeHex } from '../../src/encoding/index.ts'
import { startAnvil } from '../service/sends/anvil.ts'
import { startSolanaNode } from '../service/sends/solana-node.ts'
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
  /** Whether a service that is restored from a snapshot is told what the chain has beyond it. */
  readonly canBeRestored: boolean
  /** Whether a fault of this name is one of its nodes'. */
  suffers(fault: string): boolean
  fund(address: string): Promise<void>
  payment(of: { readonly from: string; readonly index: number }): Pick<SendOrder, 'type' | 'parameters'>
  payeeOf(index: number): string
  amountOf(index: number): bigint
  balanceOf(payee: string): Promise<bigint>
  perhapsTakeBack(draw: Draw): Promise<void>
  takenBack(): number
  /** What each payee got, by all blocks. */
  readBlocks(): Promise<ReadonlyMap<string, readonly InBlock[]>>
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
    settings: { pollMs: 50, confirmations: CONFIRMATIONS },
    account: ETHEREUM,
    canBeRestored: true,
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
    takenBack: () => mining.takenBack,
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
  const node = await startSolanaNode()
  stage.atEnd(() => node.close())
  const caip2 = normalizeCaip2('solana:devnet')
  let takenBack = 0
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
    settings: { pollMs: 50 },
    account: SOLANA,
    canBeRestored: false,
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
      // Leaders leave out what they have; the newest block is one that nobody has confirmed.
      node.drops = draw(4) === 0
      if (draw(3) !== 0) return
      node.takeBack(1)
      takenBack++
    },
    takenBack: () => takenBack,
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
      node.drops = false
      await pause(500)
    },
    async stop() {},
  }
}
