/** The time as an API has it, told by the `Date` of its answers (RFC 9110 §6.6.1): whole seconds, as it began to answer. */

/** When an answer says that it was made; and on this machine's clock when it was asked for and when it came. */
export interface DatedAnswer {
  readonly date: number
  readonly askedAt: number
  readonly cameAt: number
}

export interface ApiClock {
  /** Milliseconds since the epoch; by this machine's clock until an answer has told of another. */
  readonly now: () => number
  readonly hears: (answer: DatedAnswer) => void
  /** Whether any answer has told. */
  readonly isTold: () => boolean
}

/** Makes one that goes by this machine's clock, but for what that cannot explain. */
export function createApiClock(machine: () => number = Date.now): ApiClock {
  let aheadMs = 0
  let isTold = false
  return {
    now: () => machine() + aheadMs,
    isTold: () => isTold,
    hears({ date, askedAt, cameAt }) {
      isTold = true
      // The answer was made at some time of that second, and between the request and its arrival here.
      const [least, most] = [date - cameAt, date + 999 - askedAt]
      aheadMs = Math.min(Math.max(0, least), most)
    },
  }
}
