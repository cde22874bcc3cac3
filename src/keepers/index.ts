/**
 * Keepers: programs that keep keys and never give them away: how their client libraries are loaded, Vault's transit engine, and a
 * token by PKCS #11. Knows nothing of what their keys are for.
 */
export { ClientMissing, KEEPER_MS, type KeeperTools, loadClient } from './client.ts'
export { type KeyToken, openToken } from './token.ts'
export { openTransit, type Transit } from './transit.ts'
