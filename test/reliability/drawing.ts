/** Numbers that are the same for the same seed. */
export type Draw = (below: number) => number

export function drawing(seed: number): Draw {
  let state = seed >>> 0 || 1
  return (below) => {
    // xorshift32 (Marsaglia, 2003)
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state % below
  }
}

export function pick<Item>(items: readonly Item[], draw: Draw): Item {
  return items[draw(items.length)]!
}
