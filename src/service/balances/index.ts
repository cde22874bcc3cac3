/**
 * Balances: looks through the blocks of chains for what wallets have received and sent, and has their parents told. It reads
 * what nodes say and changes nothing on a chain.
 */
export { type BalanceWatcher, createBalanceWatcher } from './watcher.ts'
