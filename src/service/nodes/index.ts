/**
 * Nodes: what a chain's node is asked, by JSON-RPC, and how its refusals and its silence are told apart. Decides nothing.
 */
export {
  createEthereumNode,
  type EthereumCall,
  type EthereumNode,
  type Fees,
  hexQuantity,
  type MarketFees,
  otherChain,
  type Receipt,
  raiseFees,
  toRpcCall,
} from './ethereum.ts'
export type { EthereumBlock, EthereumBlockHead } from './ethereum-block.ts'
export {
  EXECUTION_LASTS_S,
  executionDomain,
  executionInterfaces,
  executionNonce,
  executionRelays,
  GAS_STATION,
  type GasStation,
  isDelegated,
  MAX_BATCHED_CALLS,
  missingContract,
} from './gas-station.ts'
export {
  boundedNode,
  type ChainNode,
  createChainNode,
  isNodeFault,
  NodeBusy,
  NodeRefusal,
  NodeUnreachable,
  NodeUnreadable,
} from './node.ts'
export type { SolanaBlock, SolanaBlockTransaction } from './solana-block.ts'
export {
  createSolanaNode,
  otherCluster,
  type SignatureOf,
  type SignatureStatus,
  type SolanaNode,
  type SolanaRun,
  type TransactionError,
} from './solana-node.ts'
export { readTokenTransfer, TRANSFER_TOPIC } from './token-transfer.ts'
