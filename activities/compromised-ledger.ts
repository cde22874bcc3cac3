/** Public keys that an incident has marked, for every machine that shares the plan store. */
import { join } from 'node:path'
import { sha256 } from '../src/crypto/index.ts'
import { encodeHex, encodeUtf8 } from '../src/encoding/index.ts'
import type { Records } from './records.ts'

/** A mark; keys are lower-case hex. */
export interface CompromisedKey {
  readonly publicKey: string
  /** ISO 8601. */
  readonly markedAt: string
  /** Whose it was, where a user was cut off: by then the user may have it no more. */
  readonly userId?: string
}

export interface CompromisedLedger {
  /** Keeps a mark for good; the first of a key stays. */
  mark(key: CompromisedKey): Promise<void>
  list(): Promise<readonly CompromisedKey[]>
}

/** Makes the ledger in the plan store's folder. */
export function createCompromisedLedger(folder: string, records: Records): CompromisedLedger {
  const shelf = join(folder, 'compromised-keys')
  return {
    mark: (key) => records.claim(join(shelf, encodeHex(sha256(encodeUtf8(key.publicKey)))), JSON.stringify(key)),
    async list() {
      const texts = await Promise.all((await records.list(shelf)).map((name) => records.read(join(shelf, name))))
      return texts.flatMap((text) => (text === undefined ? [] : [JSON.parse(text) as CompromisedKey]))
    },
  }
}
