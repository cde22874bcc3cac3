/**
 * What sends would leave their sender and those who are paid with, before they are asked for. A node of the user's own runs them on its
 * newest block, and keeps nothing of it; the API is asked what the sender has. What neither says is unknown, and never a "no": too little
 * is known only where two of them say so and none says otherwise.
 */
import { chainName, isSameAddress, namespaceOf, type SendIntent } from '../chain/index.ts'
import type { Assets } from '../definitions/index.ts'
import { EXIT, QuorateError } from '../diagnostics/index.ts'
import type { JsonObject } from '../protocol/index.ts'
import { printAmount, printToken, type SaidAmount } from './amount.ts'
import type { HeldByApi } from './api-balances.ts'
import { nodeName } from './ask-node.ts'
import type { NamedAddress, SendDescription } from './description.ts'
import { chainOf, senderOf } from './order.ts'
import { runOnEthereum } from './run-on-ethereum.ts'
import { type Holding, nothingKnown, type Ran, type ToBeSent } from './run-on-node.ts'
import { runOnSolana } from './run-on-solana.ts'

/** What one party has of one asset. Plain JSON. */
export interface PartyBalance extends NamedAddress {
  readonly of: 'sender' | 'payee'
  /** Address of the token. @default the currency of the chain */
  readonly token?: string
  /** @default nobody says it */
  readonly before?: SaidAmount
  /** Without the most that the fees may take. @default no node has run it */
  readonly after?: SaidAmount
  /** Of the sender's currency: that most. */
  readonly feeAtMost?: SaidAmount
  /** Of the sender: what the payments take at least, where somebody says that there is less. */
  readonly short?: {
    readonly needs: SaidAmount
    readonly saidBy: readonly string[]
    readonly deniedBy: readonly string[]
  }
}

/** What the sends of one sender on one chain would do. Plain JSON. */
export interface Simulation {
  readonly chain: string
  readonly sender: NamedAddress
  /** Host of the node, or the API, which runs nothing. */
  readonly by: string
  readonly block?: string
  readonly balances: readonly PartyBalance[]
  /** In words: which of the sends would fail, or pay another amount. */
  readonly warnings: readonly string[]
  /** Why something of this is not known. */
  readonly unknown?: string
}

export interface Sources {
  /** Nodes of the user's own, by chain. */
  readonly nodes: Readonly<Record<string, readonly string[]>>
  readonly heldByApi: HeldByApi
  readonly assets: Assets
}

/** No transaction on Ethereum takes less (Yellow Paper, appendix G, `G_transaction`). */
const LEAST_GAS = 21_000n
/** The service gives a fifth more than a node has needed. */
const withMargin = (gas: bigint) => (gas * 6n) / 5n

/** Says it of each sender and chain; nothing is sent by it, and nothing a node says makes it throw. */
export function simulateSends(sends: readonly ToBeSent[], sources: Sources): Promise<readonly Simulation[]> {
  const groups = Map.groupBy(sends, ({ order }) => JSON.stringify([chainOf(order), senderOf(order)]))
  return Promise.all([...groups.values()].map((group) => simulateGroup(group, sources)))
}

/** A party and an asset, and what the sends make of it. */
interface Position extends Holding, Pick<PartyBalance, 'of' | 'name'> {
  /** What is paid in or out. */
  readonly moved: bigint
}

async function simulateGroup(sends: readonly ToBeSent[], { nodes, heldByApi, assets }: Sources): Promise<Simulation> {
  const { order } = sends[0]!
  const [chain, sender] = [chainOf(order), { name: order.from, address: senderOf(order) }]
  const namespace = namespaceOf(chain)!
  const positions = positionsOf(sends, sender)
  const [url, ...others] = nodes[chain] ?? []
  const { by, ran } = url === undefined ? noNode(chain) : await runOn(url, chain, { holdings: positions, sends })
  const fee = feeAtMost(sends, ran)
  const least = leastFee(sends)
  const print = (atomic: bigint, token?: string) => printHeld(atomic, { token, assets, namespace, chain })
  const failed = ran.failures.flatMap((why, index) =>
    why === undefined ? [] : [`${sends[index]!.order.reference}: ${why}`],
  )
  const balances = positions.map(async ({ of, address, name, token, moved }, index): Promise<PartyBalance> => {
    const told = ran.before[index]
    const byApi = of === 'sender' ? await heldByApi(address, chain, token) : undefined
    const before = told ?? byApi
    const isPayer = of === 'sender' && token === undefined
    const taken = isPayer && !ran.isFeeTaken ? fee : 0n
    // What would fail leaves nothing as it says.
    const left = failed.length > 0 && sends.length === 1 ? undefined : ran.after[index]
    const after = left === undefined || taken === undefined ? undefined : left - taken
    const needs = moved + (isPayer ? least : 0n)
    const said = told === undefined ? [] : [{ by, held: told }]
    const more = of === 'sender' && [told, byApi].some((held) => held !== undefined && held < needs)
    const witnesses = more ? await askWitnesses(others, chain, { address, ...(token && { token }) }, sends) : []
    const all = [...said, ...(byApi === undefined ? [] : [{ by: 'the API', held: byApi }]), ...witnesses]
    return {
      of,
      ...(name === undefined ? {} : { name }),
      address,
      ...(token === undefined ? {} : { token }),
      ...(before === undefined ? {} : { before: print(before, token) }),
      ...(after === undefined || after < 0n ? {} : { after: print(after, token) }),
      ...(isPayer && fee !== undefined ? { feeAtMost: print(fee) } : {}),
      ...(more
        ? {
            short: {
              needs: print(needs, token),
              saidBy: all.filter(({ held }) => held < needs).map((one) => one.by),
              deniedBy: all.filter(({ held }) => held >= needs).map((one) => one.by),
            },
          }
        : {}),
    }
  })
  return {
    chain,
    sender,
    by,
    ...(ran.block === undefined ? {} : { block: ran.block }),
    balances: await Promise.all(balances),
    warnings: [...failed, ...(failed.length > 0 ? [] : paidOtherwise(positions, ran, print))],
    ...(ran.unknown === undefined ? {} : { unknown: ran.unknown }),
  }
}

const noNode = (chain: string) => ({
  by: 'the API',
  ran: nothingKnown(`QUORATE_CHAINS names no node of ${chainName(chain)}`),
})

async function runOn(url: string, chain: string, asked: Parameters<typeof runOnEthereum>[2]) {
  const run = namespaceOf(chain) === 'solana' ? runOnSolana : runOnEthereum
  const ran = await run(url, chain, asked).catch(() => nothingKnown('it gives no answer that can be read'))
  return { by: nodeName(url), ran }
}

/** Further nodes: they are asked where somebody says that there is too little. */
async function askWitnesses(urls: readonly string[], chain: string, holding: Holding, sends: readonly ToBeSent[]) {
  const said = urls.map(async (url) => {
    const { by, ran } = await runOn(url, chain, { holdings: [holding], sends })
    const [held] = ran.before
    return held === undefined ? [] : [{ by, held }]
  })
  return (await Promise.all(said)).flat()
}

/** The sender in each asset that is paid and in the currency of the fees, then everybody who is paid. */
function positionsOf(
  sends: readonly ToBeSent[],
  sender: { readonly name: string; readonly address: string },
): readonly Position[] {
  const found = new Map<string, Position>()
  const add = ({ moved, ...position }: Position) => {
    const key = JSON.stringify([position.of, position.address.toLowerCase(), position.token?.toLowerCase()])
    found.set(key, { ...position, moved: moved + (found.get(key)?.moved ?? 0n) })
  }
  const pays = (of: 'sender' | 'payee') => {
    for (const { description } of sends) {
      const { receiver, amount, token } = description
      const isOwn = isSameAddress(receiver.address, sender.address)
      const moved = BigInt(amount.atomic)
      const asset = token === undefined ? {} : { token: token.address }
      if (of === 'sender') add({ of, ...sender, ...asset, moved: isOwn ? 0n : moved })
      else if (!isOwn && moved > 0n) add({ of, ...receiver, ...asset, moved })
    }
  }
  pays('sender')
  add({ of: 'sender', ...sender, moved: 0n })
  pays('payee')
  return [...found.values()]
}

/** The most that the fees may take; undefined where a price or the units of one are not known. */
function feeAtMost(sends: readonly ToBeSent[], { gas = [] }: Ran): bigint | undefined {
  return sends.reduce<bigint | undefined>((sum, { description: { fee } }, index) => {
    const one = feeOf(fee, gas[index])
    return sum === undefined || one === undefined ? undefined : sum + one
  }, 0n)
}

function feeOf(fee: SendDescription['fee'], used: bigint | undefined): bigint | undefined {
  if ('signatureLamports' in fee) return fee.atMostLamports === undefined ? undefined : BigInt(fee.atMostLamports)
  const units = fee.gasLimit === undefined ? used && withMargin(used) : BigInt(fee.gasLimit)
  return units === undefined || fee.maxFeePerGas === undefined ? undefined : units * BigInt(fee.maxFeePerGas)
}

/** What the sender must have for fees, whatever comes: on Ethereum the bound of one at a time, on Solana all, since what is offered is paid. */
function leastFee(sends: readonly ToBeSent[]): bigint {
  const all = sends.map(({ order, description: { fee } }) => {
    if ('signatureLamports' in fee) return BigInt(fee.atMostLamports ?? fee.signatureLamports)
    const { gasLimit, maxFeePerGas = '0' } = order.parameters as JsonObject & SendIntent
    return BigInt(maxFeePerGas) * (gasLimit === undefined ? LEAST_GAS : BigInt(gasLimit))
  })
  const isSolana = 'signatureLamports' in sends[0]!.description.fee
  if (isSolana) return all.reduce((one, other) => one + other, 0n)
  return all.toSorted((one, other) => (one < other ? 1 : -1))[0]!
}

/** Tokens that take a part for themselves, or that move nothing and say that they did. */
function paidOtherwise(
  positions: readonly Position[],
  { before, after }: Ran,
  print: (atomic: bigint, token?: string) => SaidAmount,
): readonly string[] {
  return positions.flatMap(({ of, address, name, token, moved }, index) => {
    const [was, is] = [before[index], after[index]]
    if (of === 'sender' || was === undefined || is === undefined || is - was === moved) return []
    const got = is < was ? `lose ${print(was - is, token).text}` : `get ${print(is - was, token).text}`
    return [`${name ?? address} would ${got}, not get ${print(moved, token).text}`]
  })
}

function printHeld(
  atomic: bigint,
  {
    token,
    assets,
    namespace,
    chain,
  }: {
    readonly token: string | undefined
    readonly assets: Assets
    readonly namespace: NonNullable<ReturnType<typeof namespaceOf>>
    readonly chain: string
  },
): SaidAmount {
  const asset = Object.values(assets).find((one) => one.chain === chain && token && isSameAddress(one.address, token))
  if (token === undefined) return { text: printAmount(atomic, namespace), atomic: String(atomic) }
  if (asset === undefined) return { text: `${atomic} units of the token ${token}`, atomic: String(atomic) }
  return { text: printToken(atomic, asset), atomic: String(atomic) }
}

/** Whether there is too little for certain: two say so, and nobody says otherwise. */
function isCertain({ short }: PartyBalance): boolean {
  return short !== undefined && short.saidBy.length > 1 && short.deniedBy.length === 0
}

/** Throws `cli/too-little` before anything is asked for. */
export function assertFunded(simulations: readonly Simulation[]): void {
  for (const { balances, chain } of simulations) {
    const found = balances.find(isCertain)
    if (found === undefined) continue
    const { name, address, before, short } = found
    throw new QuorateError(
      'cli/too-little',
      `${name ?? address} has ${before!.text}, and this takes at least ${short!.needs.text}`,
      {
        exit: EXIT.refused,
        facts: { 'as said by': short!.saidBy.join(' and '), submitted: 'nothing' },
        next: `fund ${address} on ${chainName(chain)}, and give the same command again; if a node is wrong, name another in QUORATE_CHAINS`,
      },
    )
  }
}
