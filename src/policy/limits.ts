/**
 * What bounds the work that a text can cause: the language sets no limits on size (U-limits), so these are guards of our
 * own, generous against anything that people write and far below what would hold up a request.
 */
export const limits = {
  /** Bytes of one expression in UTF-8. */
  expressionBytes: 16_384,
  /** Levels of nesting, in the text and in its tree. */
  depth: 64,
  /** Nodes visited in one evaluation: nested predicates multiply, and nothing stops early. */
  steps: 1_000_000,
} as const

/** Signed 128 bit and unsigned 256 bit (facts: policy-language §3). */
export const INT_MIN = -(2n ** 127n)
export const INT_MAX = 2n ** 127n - 1n
export const UINT_MAX = 2n ** 256n - 1n
