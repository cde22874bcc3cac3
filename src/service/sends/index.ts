/**
 * Sends: transactions on their way: nonces, fees, broadcast, inclusion, replacement and failure, a family of chains each.
 */
export { toAttempt } from './attempt.ts'
export type { SendEnd } from './family.ts'
export { checkGasAllowance, readGasUsage, reserveGas } from './gas-usage.ts'
export { createLaneDesk } from './lane-desk.ts'
export { nextNonce, spokenExecutions, spokenNonces } from './next-nonce.ts'
export { prepareRelayers, type RelayerAddresses, relayerAddress } from './relayers.ts'
export { executionRequest, rawRequest, readSendRequest, toSendRequest, undelegateRequest } from './request.ts'
export { createSender, type Sender } from './sender.ts'
export type { SolanaRequest } from './solana-request.ts'
