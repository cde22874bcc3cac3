/**
 * History: what the service itself sent, read back as transfers.
 */
export { readEthereumHistory } from './ethereum.ts'
export type { SentTransaction } from './sent.ts'
export { readSolanaHistory } from './solana.ts'
