/**
 * Turns that processes share. Time is cut into slots, one a request; the process that makes a slot's file first has the
 * slot. There is no lock that could be left behind: a process that dies loses the one slot that it waited for.
 */
import { open, readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ensurePrivateFolder } from '../local/index.ts'
import { systemTiming, type Timing } from './timing.ts'

export interface Turns {
  /**
   * Resolves at the beginning of a slot that nobody else has, of slots so many milliseconds long; with false, and at once,
   * where turns cannot be shared.
   */
  next(spacingMs: number, signal?: AbortSignal): Promise<boolean>
}

/** A process that wakes so much late still has its turn. */
const lateness = (spacingMs: number) => Math.min(spacingMs / 4, 25)

const KEPT = 3

/** Files of slots that are past by so much are of no use to anybody. */
const OLD_MS = 10_000

/**
 * Shares turns through a folder, which is made when it is first needed. The clock is the machine's own, which all its
 * processes have in common.
 */
export function createFolderTurns(folder: string, timing: Timing = systemTiming): Turns {
  let tidied: Promise<void> | undefined
  const mine: number[] = []

  const claim = async (slot: number): Promise<'mine' | 'taken' | 'nobody can'> => {
    const path = join(folder, String(slot))
    try {
      await (await open(path, 'wx', 0o600)).close()
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EEXIST' ? 'taken' : 'nobody can'
    }
    mine.push(slot)
    // The last ones stay: a process whose timer fires early would take the slot that has just begun a second time.
    while (mine.length > KEPT) await unlink(join(folder, String(mine.shift()))).catch(() => {})
    return 'mine'
  }

  return {
    async next(spacingMs, signal) {
      // A late turn and those that follow in time must not be too many for their second.
      const slotMs = spacingMs * (1 + lateness(spacingMs) / 1_000)
      tidied ??= tidy(folder, (timing.now() - OLD_MS) / slotMs)
      await tidied
      for (let slot = Math.ceil(timing.now() / slotMs); ; slot++) {
        const claimed = await claim(slot)
        if (claimed === 'nobody can') return false
        if (claimed === 'taken') continue
        const early = slot * slotMs - timing.now()
        if (early > 0) await timing.sleep(early, signal)
        if (timing.now() - slot * slotMs <= lateness(spacingMs)) return true
        // Overslept: it goes at the next turn that is still to come.
        slot = Math.floor(timing.now() / slotMs)
      }
    },
  }
}

async function tidy(folder: string, oldest: number): Promise<void> {
  try {
    ensurePrivateFolder(folder)
  } catch {
    // Where it cannot be made, nobody can take turns.
  }
  const names = await readdir(folder).catch(() => [])
  const old = names.filter((name) => Number(name) < oldest)
  await Promise.all(old.map((name) => unlink(join(folder, name)).catch(() => {})))
}
