/**
 * The transaction that has used a nonce. INVARIANT: a nonce counts as used by another transaction only when that transaction
 * is known, in a block of the chain; that a count is beyond a nonce, or that a node does not know a hash, is what a node says
 * that lags as well.
 */
import { type EthereumNode, NodeRefusal } from '../nodes/index.ts'

export interface NonceUser {
  readonly hash: string
  readonly blockNumber: bigint
}

/** Which nonce of which address, in lower case. */
export interface AddressNonce {
  readonly address: string
  readonly nonce: bigint
}

/**
 * Finds it by the block in which the count of the address passes the nonce. Nothing where it is not used, where the node no
 * longer keeps the counts of that time, and where what it says does not agree. Throws `NodeUnreachable`.
 */
export async function findNonceUser(node: EthereumNode, used: AddressNonce): Promise<NonceUser | undefined> {
  try {
    const number = await findBlockOfNonce(node, used)
    const mined = number === undefined ? undefined : await node.transactionsIn(number)
    const found = mined?.find(({ from, nonce }) => from === used.address && nonce === used.nonce)
    if (number === undefined || found === undefined) return undefined
    const receipt = await node.receipt(found.hash)
    const isThere = receipt?.blockNumber === number && receipt.from.toLowerCase() === used.address
    return isThere ? { hash: found.hash, blockNumber: number } : undefined
  } catch (error) {
    // "missing trie node", "state is not available": most nodes keep the counts of the last blocks alone.
    if (error instanceof NodeRefusal) return undefined
    throw error
  }
}

/** The first block after which the count is beyond the nonce: back from the head in growing steps, then by halves. */
export async function findBlockOfNonce(
  node: EthereumNode,
  { address, nonce }: AddressNonce,
): Promise<bigint | undefined> {
  const isUsed = async (block: bigint) => (await node.minedCount(address, block)) > nonce
  let late = await node.blockNumber()
  if (!(await isUsed(late))) return undefined
  let early = late - 1n
  for (let step = 2n; early >= 0n && (await isUsed(early)); step *= 2n) {
    late = early
    early = late - step
  }
  if (early < -1n) early = -1n
  while (late - early > 1n) {
    const middle = (late + early) / 2n
    if (await isUsed(middle)) late = middle
    else early = middle
  }
  return late
}
