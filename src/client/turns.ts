/**
 * Turns that processes share. Time is cut into slots, one a request; the process that makes a slot's file first has the
 * slot. There is no lock that could be left behind: a process that dies loses the one slot that it waited for. How long the slots are is the
 * same for all: as long as the slowest wants them, which each says by a file.
 */
import { open, readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ensurePrivateFolder } from '../local/index.ts'
import { systemTiming, type Timing } from './timing.ts'

export interface Turns {
  /**
   * Resolves at the beginning of a slot that nobody else has, of slots so many milliseconds long, or longer where somebody who shares
   * them wants them so; with false, and at once, where turns cannot be shared.
   */
  next(spacingMs: number, signal?: AbortSignal): Promise<boolean>
}

/** Who is so much later than its turn still has it. It is part of what a rate leaves for the way to the API. */
export const lateness = (spacingMs: number) => Math.min(spacingMs / 4, 25)

const KEPT = 3

/** Files of slots that are past by so much are of no use to anybody. */
const OLD_MS = 10_000

/** How long a process is known by the spacing that it has asked for, at least. */
const KNOWN_MS = 60_000

/**
 * Shares turns through a folder, which is made when it is first needed. The clock is the machine's own, which all its
 * processes have in common.
 */
export function createFolderTurns(folder: string, timing: Timing = systemTiming): Turns {
  let tidied: Promise<void> | undefined
  let said: string | undefined
  const mine: string[] = []

  const create = async (name: string): Promise<'mine' | 'taken' | 'nobody can'> => {
    try {
      await (await open(join(folder, name), 'wx', 0o600)).close()
      return 'mine'
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EEXIST' ? 'taken' : 'nobody can'
    }
  }

  /** Takes the slot that begins at a time in microseconds. */
  const claim = async (beginsAtUs: number): Promise<'mine' | 'taken' | 'nobody can'> => {
    const claimed = await create(String(beginsAtUs))
    if (claimed !== 'mine') return claimed
    mine.push(String(beginsAtUs))
    // The last ones stay: a slot that has just begun would be taken a second time.
    while (mine.length > KEPT) await unlink(join(folder, mine.shift()!)).catch(() => {})
    return claimed
  }

  /** Says a spacing to those who share turns, and gives the longest that any of them has said lately. */
  const longest = async (spacingUs: number): Promise<number> => {
    const period = Math.floor(timing.now() / KNOWN_MS)
    const own = `every-${spacingUs}-${period}`
    if (said !== own) await create(own)
    said = own
    let most = spacingUs
    for (const name of await readdir(folder).catch(() => [])) {
      const [, every, at] = /^every-(\d+)-(\d+)$/.exec(name) ?? []
      if (at === undefined) continue
      if (Number(at) >= period - 1) most = Math.max(most, Number(every))
      else await unlink(join(folder, name)).catch(() => {})
    }
    return most
  }

  return {
    async next(spacingMs, signal) {
      tidied ??= tidy(folder, (timing.now() - OLD_MS) * 1000)
      await tidied
      const slotUs = await longest(Math.round(spacingMs * 1000))
      const slotMs = slotUs / 1000
      // Who comes from other turns on the same beat is a little late for the slot that has just begun.
      for (let slot = Math.ceil((timing.now() - lateness(spacingMs)) / slotMs); ; slot++) {
        const claimed = await claim(slot * slotUs)
        if (claimed === 'nobody can') return false
        if (claimed === 'taken') continue
        const early = slot * slotMs - timing.now()
        if (early > 0) await timing.sleep(early, signal)
        // A timer may fire a millisecond early.
        const still = slot * slotMs - timing.now()
        if (still > 0) await timing.sleep(still, signal)
        if (timing.now() - slot * slotMs <= lateness(spacingMs)) return true
        // Overslept: it goes at the next turn that is still to come.
        slot = Math.floor(timing.now() / slotMs)
      }
    },
  }
}

async function tidy(folder: string, oldestUs: number): Promise<void> {
  try {
    ensurePrivateFolder(folder)
  } catch {
    // Where it cannot be made, nobody can take turns.
  }
  const names = await readdir(folder).catch(() => [])
  const old = names.filter((name) => Number(name) < oldestUs)
  await Promise.all(old.map((name) => unlink(join(folder, name)).catch(() => {})))
}
