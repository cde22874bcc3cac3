/**
 * What a block's own hash says of its receipts: its head names the root of a Merkle-Patricia trie of them all by their index (Ethereum
 * yellow paper, §4.3.1, §4.4.2 and appendix D; EIP-2718 for receipts with a type), so that one receipt that is told otherwise does not fit.
 */
import { keccak256 } from '../crypto/index.ts'
import { decodeHex, encodeHex } from '../encoding/index.ts'
import { encodeRlp, rlpNumber } from './signing/rlp-encoding.ts'
import type { RlpItem } from './transactions/rlp.ts'

/** A receipt as JSON-RPC has it (`eth_getBlockReceipts`). */
export interface RpcBlockReceipt {
  readonly transactionHash: string
  readonly type: string
  readonly status: string
  readonly cumulativeGasUsed: string
  readonly logsBloom: string
  readonly logs: readonly { readonly address: string; readonly topics: readonly string[]; readonly data: string }[]
}

/** The fields of a head in their order; those of later forks come last, and a block has them up to its fork. `#`: a number. */
const HEAD = [
  ...['parentHash', 'sha3Uncles', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot', 'logsBloom'],
  ...['#difficulty', '#number', '#gasLimit', '#gasUsed', '#timestamp', 'extraData', 'mixHash', 'nonce'],
]
const LATER = [
  '#baseFeePerGas',
  'withdrawalsRoot',
  '#blobGasUsed',
  '#excessBlobGas',
  'parentBeaconBlockRoot',
  'requestsHash',
]

const bytesOf = (hex: unknown) => decodeHex(String(hex).slice(2))
const numberOf = (hex: unknown) => rlpNumber(BigInt(String(hex)))

function hashOfHead(block: Readonly<Record<string, unknown>>): string {
  const later = LATER.filter((field) => block[field.replace('#', '')] !== undefined)
  const items = [...HEAD, ...later].map((field) =>
    field.startsWith('#') ? numberOf(block[field.slice(1)]) : bytesOf(block[field]),
  )
  return `0x${encodeHex(keccak256(encodeRlp(items)))}`
}

function encodeReceipt({ type, status, cumulativeGasUsed, logsBloom, logs }: RpcBlockReceipt): Uint8Array {
  const events = logs.map(({ address, topics, data }) => [bytesOf(address), topics.map(bytesOf), bytesOf(data)])
  const body = encodeRlp([numberOf(status), numberOf(cumulativeGasUsed), bytesOf(logsBloom), events])
  return BigInt(type) === 0n ? body : Uint8Array.of(Number(type), ...body)
}

interface Leaf {
  readonly path: readonly number[]
  readonly value: Uint8Array
}

const NOTHING = new Uint8Array()

function rootOf(receipts: readonly RpcBlockReceipt[]): string {
  const leaves = receipts.map((receipt, index) => {
    const key = encodeRlp(rlpNumber(BigInt(index)))
    return { path: [...key].flatMap((byte) => [byte >> 4, byte & 15]), value: encodeReceipt(receipt) }
  })
  return `0x${encodeHex(keccak256(encodeRlp(leaves.length === 0 ? NOTHING : nodeOf(leaves))))}`
}

/** The node of at least one leaf. No key is the beginning of another, so that a branch has no value of its own. */
function nodeOf(leaves: readonly Leaf[]): RlpItem {
  const [{ path, value }, ...others] = leaves as [Leaf, ...Leaf[]]
  if (others.length === 0) return [compact(path, { isLeaf: true }), value]
  const apart = path.findIndex((nibble, at) => others.some((other) => other.path[at] !== nibble))
  const after = (some: readonly Leaf[], count: number) =>
    some.map((leaf) => ({ ...leaf, path: leaf.path.slice(count) }))
  if (apart > 0) return [compact(path.slice(0, apart), { isLeaf: false }), within(nodeOf(after(leaves, apart)))]
  const children = Array.from({ length: 16 }, (_, nibble) => {
    const below = leaves.filter((leaf) => leaf.path[0] === nibble)
    return below.length === 0 ? NOTHING : within(nodeOf(after(below, 1)))
  })
  return [...children, NOTHING]
}

/** A node within another: itself where it is short, and otherwise its hash. */
function within(node: RlpItem): RlpItem {
  const encoded = encodeRlp(node)
  return encoded.length < 32 ? node : keccak256(encoded)
}

/** Hex-prefix encoding: the first nibble says whether it is a leaf's, and whether their number is odd (appendix C). */
function compact(nibbles: readonly number[], { isLeaf }: { readonly isLeaf: boolean }): Uint8Array {
  const isOdd = nibbles.length % 2 === 1
  const flag = (isLeaf ? 2 : 0) + (isOdd ? 1 : 0)
  const all = isOdd ? [flag, ...nibbles] : [flag, 0, ...nibbles]
  return Uint8Array.from({ length: all.length / 2 }, (_, at) => all[2 * at]! * 16 + all[2 * at + 1]!)
}

/**
 * Whether a transaction succeeded in a block, by the block's own hash; undefined where that cannot be told: the answers fit neither
 * way, as on a chain whose heads or receipts have other fields.
 */
export function outcomeByReceiptsRoot(
  block: Readonly<Record<string, unknown>>,
  receipts: readonly RpcBlockReceipt[],
  transactionHash: string,
): boolean | undefined {
  const own = receipts.find((receipt) => receipt.transactionHash.toLowerCase() === transactionHash.toLowerCase())
  if (own === undefined || hashOfHead(block) !== block['hash']) return undefined
  return [true, false].find((succeeded) => {
    const status = succeeded ? '0x1' : '0x0'
    return rootOf(receipts.map((receipt) => (receipt === own ? { ...own, status } : receipt))) === block['receiptsRoot']
  })
}
