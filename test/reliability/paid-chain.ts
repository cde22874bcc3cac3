/** A chain that payments are made on, of either kind: its blocks come by themselves and are taken back, and are read by nothing of the service's. */
import { setTimeout as pause } from 'node:timers/promises'
import { Keypair } from '@solana/web3.js'
import type { SendOrder } from '../../activities/index.ts'
import { encodeSolanaPayment, normalizeCaip2, tokenAccountOf } from '../../src/chain/index.ts'
import { encodeHex } from '../../src/encoding/index.ts'
import { startAnvil } from '../service/sends/anvil.ts'
import { MAX_AGE, startSolanaNode } from '../service/sends/solana-node.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { placeToken } from '../service/sends/token.ts'
import { type AccountShape, ETHEREUM, SOLANA } from '../service/signing/keys.ts'
import { type Draw, drawing } from './drawing.ts'
import { readTransactions, startMining } from './payments.ts'
import type { Stage } from './stage.ts'

/** What a block has of a payee. */
export interface InBlock {
  readonly hash: string
  readonly amount: bigint
  /** It cost more than its ceiling. */
  readonly isDear: boolean
  /** It moved nothing but its fee. */
  readonly isReverted?: boolean
}

/** All blocks of a chain. */
export interface Blocks {
  /** What each payee got. */
  readonly paid: ReadonlyMap<string, readonly InBlock[]>
  /** By the index of a payment: the hash of the transaction by which somebody else who has the key has used its nonce. */
  readonly replacedBy: ReadonlyMap<number, string>
}

/** Every tenth payment of a chain is one of these; all others are in its currency. `reverted`: a call that is refused in its block. */
export type PaymentKind = 'currency' | 'token' | 'reverted'

export interface PaidChain {
  readonly url: string
  readonly caip2: string
  readonly settings: { readonly pollMs: number; readonly confirmations?: number }
  readonly account: AccountShape
  /** Whether a fault of this name is one of its nodes'. */
  suffers(fault: string): boolean
  fund(address: string): Promise<void>
  payment(of: { readonly from: string; readonly index: number }): Pick<SendOrder, 'type' | 'parameters'>
  kindOf(index: number): PaymentKind
  payeeOf(index: number): string
  /** What its payee is to have of it. */
  amountOf(index: number): bigint
  balanceOf(index: number): Promise<bigint>
  perhapsTakeBack(draw: Draw): Promise<void>
  /** From now on, or no longer, nobody else uses the key of a sender. */
  spare(isSpared: boolean): void
  /** How many blocks were taken back, and payments signed anew. */
  figures(): { readonly reorganised: number; readonly datedAnew: number }
  readBlocks(): Promise<Blocks>
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
const TOKEN = '0x00000000000000000000000000000000000000e2'
const REVERTS = '0x00000000000000000000000000000000000bad00'
const TRANSFER = '0xa9059cbb'
const TRANSFERRED = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

const FIRST_PAYEE = 0xba5e0000n
const MOST_PAYEES = 100_000

const wordOf = (value: string | bigint) => BigInt(value).toString(16).padStart(64, '0')
const addressIn = (word: string) => `0x${word.slice(-40)}`

/** By its number on the chain: both chains are paid on in turn. */
const turnOf = (index: number) => Math.floor(index / 2) % 5

/** Whom somebody else who has the key of a sender pays, and offers more for it than any payment here. */
const ELSEWHERE = '0x0000000000000000000000000000000000e15e00'
const OFFERED = { maxFeePerGas: '0xdf8475800', maxPriorityFeePerGas: '0x4a817c800' }

/** A payment that waits to be in a block. */
interface Waiting {
  readonly from: string
  readonly nonce: string
  readonly to: string | null
}

async function startEthereum(stage: Stage): Promise<PaidChain> {
  const anvil = await startAnvil({ mining: 'on-request' })
  stage.atEnd(() => anvil.kill())
  /** Payments whose nonce somebody else has used, by their index: one in five, as far as they are seen before they are in a block. */
  const replaced = new Map<number, Waiting>()
  let isSpared = false
  const replaceSome = async () => {
    if (isSpared) return
    const { pending } = await anvil.rpc<{
      readonly pending: Readonly<Record<string, Readonly<Record<string, Waiting>>>>
    }>('txpool_content')
    for (const { from, nonce, to } of Object.values(pending).flatMap((each) => Object.values(each))) {
      const index = Number(BigInt(to ?? 0) - FIRST_PAYEE)
      if (index < 0 || index > MOST_PAYEES || turnOf(index) !== 2 || replaced.has(index)) continue
      await anvil.rpc('anvil_impersonateAccount', from)
      await anvil.rpc('eth_sendTransaction', { from, nonce, to: ELSEWHERE, gas: '0x5208', value: '0x7', ...OFFERED })
      await anvil.rpc('anvil_stopImpersonatingAccount', from)
      replaced.set(index, { from: from.toLowerCase(), nonce, to })
    }
  }
  const mining = startMining(anvil, drawing(1), replaceSome)
  stage.atEnd(() => mining.stop())
  const token = await placeToken(anvil, TOKEN)
  await anvil.rpc('anvil_setCode', REVERTS, '0x60006000fd')
  const kindOf = (index: number): PaymentKind =>
    turnOf(index) === 3 ? 'token' : turnOf(index) === 4 ? 'reverted' : 'currency'
  const payeeOf = (index: number) => `0x${(FIRST_PAYEE + BigInt(index)).toString(16).padStart(40, '0')}`
  const amountOf = (index: number) => (kindOf(index) === 'reverted' ? 0n : BigInt(1_000 + index))
  const callOf = (index: number) => {
    const data = `${TRANSFER}${wordOf(payeeOf(index))}${wordOf(amountOf(index))}`
    const calls = {
      currency: { to: payeeOf(index), value: `${amountOf(index)}` },
      token: { to: TOKEN, value: '0', data },
      // Who says how much gas it may use has it sent without a trial.
      reverted: { to: REVERTS, value: '0', data, gasLimit: '90000' },
    }
    return calls[kindOf(index)]
  }
  return {
    url: anvil.url,
    caip2: SEPOLIA,
    settings: { pollMs: 400, confirmations: CONFIRMATIONS },
    account: ETHEREUM,
    suffers: () => true,
    async fund(address) {
      await anvil.fund(address, 100)
      await token.give(address, 10n ** 12n)
    },
    payment: ({ from, index }) => ({
      type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION',
      parameters: {
        ...{ from, caip2: SEPOLIA, ...callOf(index) },
        maxFeePerGas: `${CEILING}`,
      },
    }),
    kindOf,
    payeeOf,
    amountOf,
    balanceOf: async (index) =>
      kindOf(index) === 'token'
        ? token.balanceOf(payeeOf(index))
        : BigInt(await anvil.rpc<string>('eth_getBalance', payeeOf(index), 'latest')),
    perhapsTakeBack: () => mining.perhapsTakeBack(),
    spare(isNow) {
      isSpared = isNow
    },
    figures: () => ({ reorganised: mining.takenBack, datedAnew: 0 }),
    calm() {},
    async readBlocks() {
      const paid = new Map<string, InBlock[]>()
      const replacedBy = new Map<number, string>()
      for (const { hash, from, nonce, to, value, input, receipt } of await readTransactions(anvil)) {
        if (to === ELSEWHERE) {
          const [index] = [...replaced].find(([, each]) => each.from === from && each.nonce === nonce)!
          replacedBy.set(index, hash)
          continue
        }
        const isDear = BigInt(receipt.effectiveGasPrice) > CEILING
        const note = (payee: string, found: Omit<InBlock, 'hash' | 'isDear'>) =>
          paid.set(payee, [...(paid.get(payee) ?? []), { hash, isDear, ...found }])
        if (receipt.status !== '0x1')
          note(input === '0x' ? to : addressIn(input.slice(0, 74)), { amount: 0n, isReverted: true })
        else if (to !== TOKEN) note(to, { amount: BigInt(value) })
        for (const { address, topics, data } of receipt.logs)
          if (address === TOKEN && topics[0] === TRANSFERRED) note(addressIn(topics[2]!), { amount: BigInt(data) })
      }
      return { paid, replacedBy }
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
const MINT = Keypair.generate().publicKey.toBase58()
const SPL = { mint: MINT, decimals: 6, program: 'token' } as const
/** All of the fee of a payment, which offers nothing for its place: one signature. */
const MOST_FEE = 6_000

interface TokenBalance {
  readonly accountIndex: number
  readonly owner: string
  readonly uiTokenAmount: { readonly amount: string }
}

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
      readonly preTokenBalances: readonly TokenBalance[]
      readonly postTokenBalances: readonly TokenBalance[]
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
  node.makeToken(MINT, SPL.decimals)
  const kindOf = (index: number): PaymentKind => (turnOf(index) === 3 ? 'token' : 'currency')
  const amountOf = (index: number) => BigInt(RENT + index)
  const draftOf = (from: string, index: number) => {
    const payment = { from, to: payeeOf(index), amount: amountOf(index) }
    if (kindOf(index) !== 'token') return encodeSolanaPayment(payment)
    node.giveToken(MINT, payment.to, 0n, tokenAccountOf(payment.to, SPL))
    return encodeSolanaPayment({ ...payment, token: SPL })
  }
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
      node.giveToken(MINT, address, 10n ** 12n, tokenAccountOf(address, SPL))
    },
    payment: ({ from, index }) => ({
      type: 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2',
      parameters: {
        unsignedTransaction: encodeHex(draftOf(from, index)),
        ...{ signWiths: [from], caip2 },
      },
    }),
    kindOf,
    payeeOf,
    amountOf,
    async balanceOf(index) {
      if (kindOf(index) !== 'token') return node.balance(payeeOf(index))
      return Buffer.from(node.data(tokenAccountOf(payeeOf(index), SPL))).readBigUInt64LE(64)
    },
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
    // Nothing takes the place of a transaction there.
    spare() {},
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
          const note = (payee: string, amount: bigint) => {
            if (amount <= 0n) return
            const one = { hash: transaction.signatures[0]!, amount, isDear: meta.fee > MOST_FEE }
            paid.set(payee, [...(paid.get(payee) ?? []), one])
          }
          for (const [at, { pubkey }] of transaction.accountKeys.entries())
            note(pubkey, BigInt(meta.postBalances[at]! - meta.preBalances[at]!))
          for (const { accountIndex, owner, uiTokenAmount } of meta.postTokenBalances) {
            const before = meta.preTokenBalances.find((each) => each.accountIndex === accountIndex)
            note(owner, BigInt(uiTokenAmount.amount) - BigInt(before?.uiTokenAmount.amount ?? 0))
          }
        }
      }
      return { paid, replacedBy: new Map() }
    },
    async settle() {
      await pause(500)
    },
    async stop() {
      clearInterval(timer)
    },
  }
}
