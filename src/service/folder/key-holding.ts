/** Says in the database which master keys a process holds, for a rotation and for `quorate master-key status` to go by. */
import { hostname } from 'node:os'
import type { Logger } from '../../telemetry/index.ts'
import type { Keyring } from '../keys/index.ts'
import {
  forgetKeyHolder,
  type KeyHolder,
  noteKeyHolder,
  RENEWED_MS,
  type Rows,
  type Transaction,
} from '../store/index.ts'

/** What a process says again and again, until it ends. */
export interface KeyHolding {
  /** Says it at once. @param settled the key that all of what this process has written is sealed with, where that has changed */
  say(settled?: string): Promise<void>
  close(): Promise<void>
}

export interface KeyHoldingTools {
  readonly kind: KeyHolder['kind']
  /** Tells this process from others. */
  readonly id: string
  readonly keyring: Keyring
  readonly write: (work: (tx: Transaction) => Rows<unknown>) => Promise<unknown>
  /** Whether it is said again by itself; otherwise by who calls `say`. */
  readonly isRepeated: boolean
  readonly logger: Logger
}

/** Begins. Throws `StoreUnavailable` where the database does not take it. */
export async function sayKeysHeld({
  kind,
  id,
  keyring,
  write,
  isRepeated,
  logger,
}: KeyHoldingTools): Promise<KeyHolding> {
  const place = `${hostname()}:${process.pid}`
  let seals = kind === 'service' ? keyring.sealsWith() : undefined
  let hasSaid = false
  let saying = Promise.resolve()
  const note = async () => {
    await write((tx) => noteKeyHolder(tx, id, { kind, place, seals, opens: keyring.names() }))
    hasSaid = true
  }
  const onFault = (error: unknown) =>
    logger.error('which master keys this process holds is not said', { reason: String(error) })
  const again = () => {
    saying = note().catch(onFault)
  }
  if (isRepeated) await note()
  const timer = isRepeated ? setInterval(again, RENEWED_MS) : undefined
  return {
    async say(settled) {
      if (seals !== undefined && settled !== undefined) seals = settled
      await note()
    },
    async close() {
      clearInterval(timer)
      await saying
      if (hasSaid) await write((tx) => forgetKeyHolder(tx, id)).catch(onFault)
    },
  }
}

/** Nobody else may serve the database, so nobody asks. */
export const ALONE: KeyHolding = { say: async () => {}, close: async () => {} }
