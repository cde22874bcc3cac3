/** What carries on open sends, watched while they are followed: what goes away is told, and what comes back. */
import type { Away } from '../background/away.ts'
import type { Io } from '../io.ts'
import { renderAway, renderBack } from '../views/away.ts'

/** How often it is looked for. */
const LOOK_EVERY_MS = 5_000

export interface AwayWatch {
  /** Looks again where that is due; what was found is told later, and nothing waits for it. */
  readonly look: () => void
  /** What was away when it was last looked for. */
  readonly away: () => readonly Away[]
  /** Tells nothing more. */
  readonly end: () => void
}

/** @param begun what is away now, which the first look tells. */
export function createAwayWatch(
  { say, style }: Pick<Io, 'say' | 'style'>,
  begun: readonly Away[],
  find: () => Promise<readonly Away[]>,
): AwayWatch {
  let away = begun
  let told: readonly Away[] = []
  let isEnded = false
  let nextAt = 0
  const tell = (found: readonly Away[]) => {
    if (isEnded) return
    const isNew = (one: Away) => !told.some((before) => before.found === one.found)
    const isBack = ({ part, node }: Away) => !found.some((one) => one.part === part && one.node === node)
    say(renderBack(told.filter(isBack), style))
    say(renderAway(found.filter(isNew), style))
    away = told = found
  }
  const lookAgain = async () => {
    tell(await find().catch(() => away))
    nextAt = Date.now() + LOOK_EVERY_MS
  }
  return {
    look() {
      if (Date.now() < nextAt) return
      const isFirst = nextAt === 0
      nextAt = Number.POSITIVE_INFINITY
      if (!isFirst) return void lookAgain()
      tell(begun)
      nextAt = Date.now() + LOOK_EVERY_MS
    },
    away: () => away,
    end() {
      isEnded = true
    },
  }
}
