import type { KeeperTools } from '../keepers/index.ts'

/** Signs a SHA-256 digest: DER, or `r ‖ s`. */
export type SignDigest = (digest: Uint8Array) => Promise<Uint8Array>
/** Opens a key of a keeper by what stands after the keeper's name. */
export type OpenKeeperKey = (rest: string, tools: KeeperTools) => Promise<SignDigest>
