/** What the chain knows of sends besides their blocks: the nonce of each, and what their senders have. The user's own nodes tell it, and otherwise the API. */
import { inTurns, type SendOrder, type SendProgress } from '../../activities/index.ts'
import { namespaceOf } from '../chain/index.ts'
import { printAmount, type SaidAmount } from './amount.ts'
import type { HeldByApi } from './api-balances.ts'
import { askNode, isNodeOf, nodeName } from './ask-node.ts'
import type { NodeSettings } from './finality.ts'
import { chainOf, senderOf } from './order.ts'
import { readSignedTransaction } from './signed-transaction.ts'

interface Begun {
  readonly order: SendOrder
  readonly progress?: SendProgress | undefined
}

/** What the address that sends pay from has now. Plain JSON. */
export interface SenderBalance {
  readonly from: string
  readonly address: string
  readonly chain: string
  readonly balance: SaidAmount
  /** The host of a node, or the API. */
  readonly by: string
}

/** Sends whose nonces are asked for: the newest. */
const MOST_NONCES = 500
const AT_ONCE = 16
/** Senders whose balances are asked for: those of the newest sends. */
const MOST_SENDERS = 20

/**
 * Adds the nonce of each send on Ethereum whose transaction a node has; what the node says is believed where it has the hash. One that
 * was said before it was sent is in the order.
 */
export async function withNonces<One extends Begun>(
  all: readonly One[],
  { nodes }: Pick<NodeSettings, 'nodes'>,
): Promise<readonly (One & { readonly nonce?: string })[]> {
  const read = async (one: One, index: number): Promise<string | undefined> => {
    const { nonce: said } = one.order.parameters as { readonly nonce?: string }
    if (said !== undefined) return said
    const hash = one.progress?.transactionHash
    const url = nodes[chainOf(one.order)]?.[0]
    const isAsked = namespaceOf(chainOf(one.order)) === 'eip155' && index >= all.length - MOST_NONCES
    if (hash === undefined || url === undefined || !isAsked) return undefined
    return readSignedTransaction(url, hash).then(
      ({ nonce }) => nonce.toString(),
      () => undefined,
    )
  }
  return inTurns(all, AT_ONCE, async (one, index) => {
    const nonce = await read(one, index)
    return nonce === undefined ? one : { ...one, nonce }
  })
}

/** What those who pay for sends have in the currency of their chain; of whom nobody tells it, nothing. */
export async function readSenders(
  all: readonly Begun[],
  { nodes, heldByApi }: Pick<NodeSettings, 'nodes'> & { readonly heldByApi?: HeldByApi | undefined },
): Promise<readonly SenderBalance[]> {
  const orders = new Map(all.map(({ order }) => [JSON.stringify([chainOf(order), senderOf(order)]), order]))
  const told = [...orders.values()].slice(-MOST_SENDERS).map(async (order): Promise<readonly SenderBalance[]> => {
    const [chain, address] = [chainOf(order), senderOf(order)]
    const say = (held: bigint, by: string) => {
      const balance = { text: printAmount(held, namespaceOf(chain)!), atomic: String(held) }
      return [{ from: order.from, address, chain, balance, by }]
    }
    const url = nodes[chain]?.[0]
    const held = url === undefined ? undefined : await readBalance(url, chain, address).catch(() => undefined)
    if (held !== undefined) return say(held, nodeName(url!))
    const byApi = await heldByApi?.(address, chain)
    return byApi === undefined ? [] : say(byApi, 'the API')
  })
  return (await Promise.all(told)).flat()
}

/** Throws where it gives no answer that can be read, and where it is a node of another chain. */
async function readBalance(url: string, chain: string, address: string): Promise<bigint | undefined> {
  if (!(await isNodeOf(url, chain))) return undefined
  if (namespaceOf(chain) === 'solana') {
    const { value } = await askNode<{ readonly value: number }>(url, 'getBalance', [
      address,
      { commitment: 'confirmed' },
    ])
    return BigInt(value)
  }
  return BigInt(await askNode<string>(url, 'eth_getBalance', [address, 'latest']))
}
