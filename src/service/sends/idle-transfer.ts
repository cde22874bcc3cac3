/** Transfers of tokens that would move nothing, although no node refuses them. */
import { type EthereumCall, type EthereumNode, NodeRefusal } from '../nodes/index.ts'

/** `transfer(address,uint256)` and `transferFrom(address,address,uint256)` (EIP-20). */
const MOVES = /^0x(?:a9059cbb|23b872dd)/i
const FALSE = /^0x0{64}$/

/**
 * Says why a transfer would move nothing: its token has no code, so that the call succeeds and does nothing, or answers `false`,
 * which EIP-20 lets it do instead of reverting. Nothing where it is no transfer. Throws `NodeUnreachable`.
 */
export async function explainIdleTransfer(node: EthereumNode, call: EthereumCall): Promise<string | undefined> {
  if (!MOVES.test(call.data)) return undefined
  if ((await node.code(call.to)) === '0x') {
    return `there is no contract at ${call.to} on this chain: a transfer of a token there would move nothing`
  }
  try {
    const isRefused = FALSE.test(await node.call(call))
    return isRefused ? `the token at ${call.to} answers that it would not make this transfer` : undefined
  } catch (error) {
    // What waits before it may bring what it moves: it was estimated upon that.
    if (error instanceof NodeRefusal) return undefined
    throw error
  }
}
