/**
 * Balances: looks through the blocks of chains for what wallets have received and sent, and tells the wallets' parent
 * organizations. It reads from nodes and changes nothing on a chain.
 */
export { type BalanceWatcher, createBalanceWatcher } from './watcher.ts'
