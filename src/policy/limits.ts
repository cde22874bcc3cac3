/**
 * What bounds the work that a text can cause: the language sets no limits on size (U-limits), so these are guards of our
 * own, generous against anything that people write and far below what would hold up a request.
 */
export const limits = {
  /** Bytes of one expression in UTF-8. */
  expressionBytes: 16_384,
  /** Levels of nesting, in the text and in its tree. */
  depth: 64,
  /** Steps of one evaluation: nested predicates multiply, and both sides of `&&` and `||` are read. */
  steps: 1_000_000,
  /** Steps of one request: all its policies, items and votes together. */
  stepsOfRequest: 2_000_000,
} as const

/** Characters of a text that are read in the time of one step. */
const CHARACTERS_A_STEP = 4

/** A slice makes a value of its own, however short it is. */
export const STEPS_OF_SLICE = 8

/** A `CronSpan` asks the time zone data for the offsets of a week. */
export const STEPS_OF_CRON_SPAN = 4_000

/** What reading a text of this many characters costs, in steps; a short one costs no more than the node that reads it. */
export function stepsOfText(length: number): number {
  return length < 64 ? 0 : Math.ceil(length / CHARACTERS_A_STEP)
}

/** Signed 128 bit and unsigned 256 bit (docs/protocol/policies.md#types). */
export const INT_MIN = -(2n ** 127n)
export const INT_MAX = 2n ** 127n - 1n
export const UINT_MAX = 2n ** 256n - 1n
