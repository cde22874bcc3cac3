import { createLine, type PreparedPlace, type Rate, rateOfHalves, type Turn, unlessAborted } from './rate.ts'

/**
 * The rate of one organization among many that share another, the one of their source address. A request goes when both let
 * it. One request of an organization at a time waits for the shared rate, and one for a place among those that are prepared there, so that
 * organizations take turns, however many requests one of them has.
 *
 * A refusal (429) slows the organization alone: what the shared rate may be is known. Where it is not, it may be what was meant. Requests of
 * an organization that is refused leave their places in the shared rate to others, once they are prepared, and go as they are.
 */
export function createRateWithin(own: Rate, shared: Rate, { isKnown }: { readonly isKnown: boolean }): Rate {
  const inLine = createLine()
  const toEnter = createLine()
  let refusals = 0
  /** Places in the shared rate of requests that wait for their turn alone. */
  const ready = new Set<PreparedPlace>()

  const enter = async (...[signal, hold]: Parameters<Rate['enter']>): Promise<PreparedPlace> => {
    for (;;) {
      const mine = await own.enter(signal, hold)
      const refusedBefore = refusals
      const ours = await shared.enter(signal, hold).catch((error: unknown) => {
        mine.leave()
        throw error
      })
      if (refusals === refusedBefore) return placeOf(mine, ours)
      // Meanwhile the API wants none of this organization.
      ours.leave()
      mine.leave()
    }
  }

  const placeOf = (mine: PreparedPlace, ours: PreparedPlace): PreparedPlace => {
    const refusedBefore = refusals
    return {
      ready() {
        ours.ready()
        if (refusals === refusedBefore) ready.add(ours)
        else ours.leave()
      },
      leave() {
        ready.delete(ours)
        ours.leave()
        mine.leave()
      },
    }
  }

  const pass = async (...[signal, hold]: Parameters<Rate['turn']>): Promise<Turn> => {
    signal?.throwIfAborted()
    for (;;) {
      const refusedBefore = refusals
      const mine = await own.turn(signal, hold)
      const ours = await shared.turn(signal, hold)
      // Otherwise the API has come to want none of this organization, and the turn is nobody's.
      if (refusals === refusedBefore) return turnOf(mine, ours)
    }
  }

  const turnOf = (mine: Turn, ours: Turn): Turn => {
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
        refusals++
        const spacingMs = mine.refused(retryAfterMs)
        for (const place of ready) place.leave()
        ready.clear()
        return isKnown ? spacingMs : Math.max(spacingMs, ours.refused(retryAfterMs))
      },
    }
  }

  return rateOfHalves({
    enter(signal, hold) {
      const entered = toEnter(() => enter(signal, hold))
      return unlessAborted(entered, signal).catch((error: unknown) => {
        entered.then(
          (place) => place.leave(),
          () => {},
        )
        throw error
      })
    },
    turn: (signal, hold) =>
      unlessAborted(
        inLine(() => pass(signal, hold)),
        signal,
      ),
  })
}
