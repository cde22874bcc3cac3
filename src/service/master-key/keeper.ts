import type { KeeperTools } from '../../keepers/index.ts'
import { ServiceError } from '../error.ts'

/** Who wraps and opens the master key. */
export interface Keeper {
  /** Gives what only this keeper opens; bytes of its own form. */
  wrap(key: Uint8Array): Promise<Uint8Array>
  unwrap(wrapped: Uint8Array): Promise<Uint8Array>
  close?(): void
}

export type OpenKeeper = (rest: string, tools: KeeperTools) => Promise<Keeper>

/** Bound to what is wrapped where a keeper can: what it opens for another purpose is no master key. */
export const PURPOSE = 'quorate master key'

/** A secret is shown to nobody: only its shape is said. */
export function checkLength(key: Uint8Array, from: string, length = 32): Uint8Array {
  if (key.length === length) return key
  throw new ServiceError('service/key-keeper-failed', `expected ${length} bytes from ${from}, got ${key.length}`, {
    next: 'give the key that the master key was wrapped with',
  })
}
