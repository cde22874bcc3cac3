/** What commands have submitted without a plan and waits: kept in their data folder, for those who vote from there. */
import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { withoutKeys } from '../diagnostics/index.ts'
import { assertPlain, ensurePrivateFolder, readPrivate } from '../local/index.ts'

/** One activity that a command has submitted; a line of JSON each. */
export interface CommandOrder {
  readonly activityId: string
  /** `incident user ann`. */
  readonly command: string
  /** `deny whatever ann approves`. */
  readonly what: string
}

const FILE = 'command-orders.ndjson'

/** Adds one, without key material that stands in its words. A file that cannot be written stops no command: the activity then counts as made outside. */
export function keepOrder(dataDir: string, { activityId, command, what }: CommandOrder): void {
  const order = { activityId, command: withoutKeys(command), what: withoutKeys(what) }
  const path = join(dataDir, FILE)
  try {
    ensurePrivateFolder(dataDir)
    if (existsSync(path)) assertPlain(path)
    appendFileSync(path, `${JSON.stringify(order)}\n`, { mode: 0o600 })
  } catch {
    return
  }
}

/** The command that submitted an activity. A line that was cut short, as by a full disk, is passed over. */
export function orderFor(dataDir: string, activityId: string): CommandOrder | undefined {
  for (const line of (readPrivate(join(dataDir, FILE)) ?? '').split('\n'))
    if (line.includes(`"activityId":"${activityId}"`) && line.endsWith('}')) return JSON.parse(line) as CommandOrder
  return undefined
}
