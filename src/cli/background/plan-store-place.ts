import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isSamePlace, parseStorePlace, readStorePlace } from '../../../activities/index.ts'
import { PLAN_STORE_VARIABLE, type Settings } from '../../config/index.ts'
import { EXIT, QuorateError } from '../../diagnostics/index.ts'

/** Whether the data folder has a plan store, or says where it is. */
export function hasPlanStore(dataDir: string): boolean {
  const folder = join(dataDir, 'plans')
  return existsSync(folder) || readStorePlace(folder) !== undefined
}

/**
 * Throws where the environment names another place for the plan store than the data folder works with: a ledger of sends that is
 * looked for in the wrong place is empty, and would pay again. A variable alone moves nothing.
 */
export function assertPlanStore({ dataDir, planStore }: Pick<Settings, 'dataDir' | 'planStore'>): void {
  if (!planStore) return
  const folder = join(dataDir, 'plans')
  const [asked, kept] = [parseStorePlace(planStore.reveal()), readStorePlace(folder)]
  if (kept && isSamePlace(kept, asked)) return
  const where = kept?.shown ?? (existsSync(folder) ? `its folder ${folder}` : 'no place yet')
  throw new QuorateError(
    'cli/plan-store',
    `${PLAN_STORE_VARIABLE} names ${asked.shown}, and this data folder works with ${where}`,
    {
      exit: EXIT.refused,
      facts: { submitted: 'nothing' },
      next: kept
        ? `unset ${PLAN_STORE_VARIABLE}, or name another data folder with --data-dir`
        : 'run `quorate plan-store use`, which moves what is there and reads it back',
    },
  )
}
