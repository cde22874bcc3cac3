import { type Rate, type Turn, unlessAborted } from './rate.ts'

/**
 * The rate of one organization among many that share another, the one of their source address. A request goes when both let
 * it. One request of an organization at a time waits for the shared rate, so that organizations take turns there, however many
 * requests one of them has.
 *
 * A refusal (429) slows the organization alone: what the shared rate may be is known. Where it is not, it may be what was meant.
 */
export function createRateWithin(own: Rate, shared: Rate, { isKnown }: { readonly isKnown: boolean }): Rate {
  let line: Promise<unknown> = Promise.resolve()
  const pass = async (...[signal, hold, prepare]: Parameters<Rate['take']>): Promise<Turn> => {
    signal?.throwIfAborted()
    const mine = await own.take(signal, hold)
    // It is prepared for the turn that comes last: many organizations may have their own turn and wait for the shared one.
    const ours = await shared.take(signal, hold, prepare)
    mine.goes()
    return {
      goes() {
        mine.goes()
        ours.goes()
      },
      taken() {
        mine.taken()
        ours.taken()
      },
      refused(retryAfterMs) {
        const spacingMs = mine.refused(retryAfterMs)
        return isKnown ? spacingMs : Math.max(spacingMs, ours.refused(retryAfterMs))
      },
    }
  }
  return {
    take(...given) {
      const [signal] = given
      const turn = line.then(() => pass(...given))
      // One that gives up, or is refused its turn, leaves the line to the next.
      line = turn.catch(() => {})
      return unlessAborted(turn, signal)
    },
  }
}
