/** Some people of one organization. Thousands of sets are compared, most of which have nothing to do with each other. */
export interface People {
  /** A bit for each, in the order in which the organization lists them. */
  readonly bits: bigint
  /** The bits folded into one small number: of a set within another all are set in both, so most comparisons end here. */
  readonly fold: number
}

export const NOBODY: People = { bits: 0n, fold: 0 }

/** The person at a place in the list. */
export function personAt(place: number): People {
  return { bits: 1n << BigInt(place), fold: 1 << (place % 30) }
}

export function unionOf(one: People, other: People): People {
  return { bits: one.bits | other.bits, fold: one.fold | other.fold }
}

export function includes(large: People, small: People): boolean {
  return (large.fold & small.fold) === small.fold && (large.bits & small.bits) === small.bits
}

/** How many of the first are among the others as well; by default all are counted. */
export function sizeOf({ bits }: People, others?: People): number {
  let size = 0
  for (let left = others ? bits & others.bits : bits; left > 0n; left &= left - 1n) size++
  return size
}
