/** What commands have submitted without a plan: kept in their data folder, for those who vote from there. */
import { join } from 'node:path'
import { withoutKeys } from '../diagnostics/index.ts'
import { keepRow, keptRows } from './kept-rows.ts'

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
  try {
    keepRow(join(dataDir, FILE), { activityId, command: withoutKeys(command), what: withoutKeys(what) })
  } catch {
    return
  }
}

/** The command that submitted an activity. */
export function orderFor(dataDir: string, activityId: string): CommandOrder | undefined {
  return keptRows<CommandOrder>(join(dataDir, FILE)).find((row) => row.activityId === activityId)
}
