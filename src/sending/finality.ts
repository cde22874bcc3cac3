/**
 * Whether what the API tells as included is final. The API has no word for it, so that is said by nodes of the user's own alone: each
 * of them has the transaction in the block that its chain has at that height, with as many blocks on top as the chain takes to make one
 * definitive. Without such a node a send is included as reported by the API, and never final. Where a node has the transaction in no
 * block, the API is asked again: it may have found meanwhile that the block was taken back.
 */
import {
  inTurns,
  type PlanStore,
  readTransactionState,
  type SendOrder,
  type SendProgress,
} from '../../activities/index.ts'
import { confirmationsOf, isSameAddress, namespaceOf } from '../chain/index.ts'
import type { QueryClient } from '../client/index.ts'
import { askNode, isNodeOf } from './ask-node.ts'
import { chainOf, senderOf } from './order.ts'

/** The user's own nodes, and what makes a block final. */
export interface NodeSettings {
  /** By chain: each of its nodes must say so. */
  readonly nodes: Readonly<Record<string, readonly string[]>>
  /** Blocks, the including one counted, by chain. @default what is published for the chain; on Solana the cluster says it itself */
  readonly confirmations: Readonly<Record<string, number>>
}

/** Who says that a send is in a block, and how deep it is there. Plain JSON. */
export interface Finality {
  readonly reportedBy: 'node' | 'api'
  /** How many nodes have said so; one alone may lie. None by the API, nor of what was kept before they were counted. */
  readonly nodes?: number
  /** Number of its block; on Solana the slot. */
  readonly block?: string
  /** Blocks on top of it, its own counted. */
  readonly confirmations?: number
  /** How many of them make it final. */
  readonly of?: number
  /** What it has cost, in the smallest unit of the chain's currency. */
  readonly fee?: string
  /** Why the user's own node does not say so. */
  readonly node?: 'no answer' | 'another chain' | 'behind' | 'in no block' | 'reverted'
}

interface Included {
  readonly order: SendOrder
  readonly sendId?: string | undefined
  readonly progress?: SendProgress | undefined
}

/** Whether the block of a send is definitive. */
export function isFinality({ reportedBy, confirmations = 0, of = Number.POSITIVE_INFINITY }: Finality): boolean {
  return reportedBy === 'node' && confirmations >= of
}

/**
 * Says of each included send whether it is final. What was final once is kept in the ledger, and not asked again.
 * @param api asked again about what a node has in no block. @default what it told last counts
 */
export async function withFinality<One extends Included>(
  all: readonly One[],
  ledger: Pick<PlanStore['sends'], 'getFinal' | 'setFinal'>,
  settings: NodeSettings,
  api?: () => Promise<QueryClient>,
): Promise<readonly (One & { readonly finality?: Finality })[]> {
  const lookers = new Map<string, Promise<Look>>()
  const lookerOf = (url: string, caip2: string) => {
    const key = `${caip2} ${url}`
    if (!lookers.has(key)) lookers.set(key, openNode(url, caip2, settings.confirmations[caip2]))
    return lookers.get(key)!
  }
  const finalityOf = async ({ order, sendId, progress }: One): Promise<Finality | undefined> => {
    const hash = progress?.transactionHash
    if (progress?.state !== 'included') return undefined
    const kept = sendId === undefined ? undefined : await ledger.getFinal(sendId)
    if (kept !== undefined && kept.transactionHash === hash) {
      const { block, confirmations, nodes, fee } = kept
      const depth = { block, confirmations, of: confirmations }
      return { reportedBy: 'node', ...(nodes && { nodes }), ...depth, ...(fee && { fee }) }
    }
    const urls = settings.nodes[chainOf(order)] ?? []
    if (urls.length === 0 || hash === undefined) return { reportedBy: 'api' }
    const asked = urls.map(async (url) =>
      (await lookerOf(url, chainOf(order)))({ hash, sender: senderOf(order), block: progress.receipt?.block }),
    )
    const least = leastOf(await Promise.all(asked))
    const said = least.reportedBy === 'node' ? { ...least, nodes: new Set(urls).size } : least
    if (sendId !== undefined && isFinality(said)) {
      const { block, of, nodes, fee } = said
      const final = { transactionHash: hash, block: block!, confirmations: of!, ...(nodes && { nodes }) }
      await ledger.setFinal(sendId, { ...final, ...(fee && { fee }) })
    }
    return said
  }
  return inTurns(all, AT_ONCE, async (one): Promise<One & { readonly finality?: Finality }> => {
    const finality = await finalityOf(one)
    const back =
      api && (finality?.node === 'in no block' || finality?.node === 'behind')
        ? await readTakenBack(one, api)
        : undefined
    return back ? { ...one, progress: back } : finality === undefined ? one : { ...one, finality }
  })
}

/** How a send stands that was told as included, where the API says by now that it is not; undefined where it says so still, or nothing. */
async function readTakenBack(
  { order, progress }: Included,
  api: () => Promise<QueryClient>,
): Promise<SendProgress | undefined> {
  const { sendTransactionStatusId } = progress!
  if (sendTransactionStatusId === undefined) return undefined
  try {
    const stands = await readTransactionState(await api(), order, { sendTransactionStatusId, withReceipt: false })
    if (stands.state === 'included') return undefined
    const { receipt, ...rest } = progress!
    return { ...rest, ...stands }
  } catch {
    return undefined
  }
}

/** Sends that are asked about at once. */
const AT_ONCE = 16

/** What the node says that believes least. */
function leastOf(all: readonly Finality[]): Finality {
  const depth = ({ reportedBy, confirmations = 0 }: Finality) => (reportedBy === 'node' ? confirmations : -1)
  return all.reduce((one, other) => (depth(other) < depth(one) ? other : one))
}

interface Asked {
  readonly hash: string
  readonly sender: string
  /** In which block it is, by the API. */
  readonly block?: string | undefined
}
type Look = (asked: Asked) => Promise<Finality>

const unsaid = (node: NonNullable<Finality['node']>): Finality => ({ reportedBy: 'api', node })

/** A node that was asked once for its chain and its head: all sends are measured at that head. */
async function openNode(url: string, caip2: string, confirmations?: number): Promise<Look> {
  const open = namespaceOf(caip2) === 'solana' ? openSolana : openEthereum
  try {
    const look = await open(url, caip2, confirmations)
    // An answer that cannot be read is none.
    return (asked) => look(asked).catch(() => unsaid('no answer'))
  } catch {
    return async () => unsaid('no answer')
  }
}

interface Receipt {
  readonly transactionHash: string
  readonly from: string
  readonly blockNumber: string
  readonly blockHash: string
  readonly status?: string
  readonly gasUsed?: string
  readonly effectiveGasPrice?: string
  /** What a rollup adds for its data (OP Stack). */
  readonly l1Fee?: string | null
}

function feeOf({ gasUsed, effectiveGasPrice, l1Fee }: Receipt): Pick<Finality, 'fee'> {
  if (gasUsed === undefined || effectiveGasPrice === undefined) return {}
  return { fee: String(BigInt(gasUsed) * BigInt(effectiveGasPrice) + BigInt(l1Fee ?? 0)) }
}

async function openEthereum(url: string, caip2: string, confirmations = confirmationsOf(caip2)): Promise<Look> {
  const [isOfChain, latest] = await Promise.all([isNodeOf(url, caip2), askNode<string>(url, 'eth_blockNumber', [])])
  if (!isOfChain) return async () => unsaid('another chain')
  const blocks = new Map<string, Promise<{ readonly hash: string } | null>>()
  const blockAt = (number: string) => {
    if (!blocks.has(number)) blocks.set(number, askNode(url, 'eth_getBlockByNumber', [number, false]))
    return blocks.get(number)!
  }
  return async ({ hash, sender, block: told }) => {
    const receipt = await askNode<Receipt | null>(url, 'eth_getTransactionReceipt', [hash])
    if (receipt === null) return unsaid(told !== undefined && BigInt(latest) < BigInt(told) ? 'behind' : 'in no block')
    const { transactionHash, from, blockNumber, blockHash, status } = receipt
    // A receipt of something else, or of a block that the chain has not (any more), says nothing of this one.
    const isIts = transactionHash === hash && isSameAddress(from, sender)
    const depth = Number(BigInt(latest) - BigInt(blockNumber)) + 1
    if (!isIts || depth < 1 || (await blockAt(blockNumber))?.hash !== blockHash) return unsaid('in no block')
    if (status === '0x0') return unsaid('reverted')
    const block = String(BigInt(blockNumber))
    return { reportedBy: 'node', block, confirmations: depth, of: confirmations, ...feeOf(receipt) }
  }
}

/** Blocks on top of one until the cluster cannot take it back (Solana's documentation, "commitment": 31 and its own). */
const ROOTED = 32

interface SignatureStatus {
  readonly slot: number
  /** None once it cannot be taken back. */
  readonly confirmations: number | null
  readonly confirmationStatus?: string
  readonly err: unknown
}

async function openSolana(url: string, caip2: string): Promise<Look> {
  if (!(await isNodeOf(url, caip2))) return async () => unsaid('another chain')
  return async ({ hash }) => {
    const asked = [[hash], { searchTransactionHistory: true }]
    const { value } = await askNode<{ readonly value: readonly (SignatureStatus | null)[] }>(
      url,
      'getSignatureStatuses',
      asked,
    )
    const status = value[0] ?? null
    if (status === null) return unsaid('in no block')
    if (status.err !== null) return unsaid('reverted')
    const isRooted = status.confirmationStatus === 'finalized'
    const confirmations = isRooted ? ROOTED : Math.min(status.confirmations ?? 0, ROOTED - 1)
    return { reportedBy: 'node', block: String(status.slot), confirmations, of: ROOTED, ...(await readFee(url, hash)) }
  }
}

/** What a transaction in a block has cost; nothing where the node does not keep that. */
async function readFee(url: string, hash: string): Promise<Pick<Finality, 'fee'>> {
  const asked = { commitment: 'confirmed', encoding: 'json', maxSupportedTransactionVersion: 0 }
  try {
    const found = await askNode<{ readonly meta: { readonly fee: number } | null } | null>(url, 'getTransaction', [
      hash,
      asked,
    ])
    return found?.meta ? { fee: String(BigInt(found.meta.fee)) } : {}
  } catch {
    return {}
  }
}
