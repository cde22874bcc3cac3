/** Counts what came in the last so many ms, by key. Unlike a rate it lets no more through in any stretch of that length. */
export interface Window {
  /** Counts one; false when it is one too many, which does not count. */
  take(key: string): boolean
}

/** Creates a window. Those with nothing in them any more are forgotten as others come. */
export function createWindow(
  { most, inMs }: { readonly most: number; readonly inMs: number },
  clock: () => number = () => performance.now(),
): Window {
  // In the order of their last use.
  const taken = new Map<string, readonly number[]>()
  return {
    take(key) {
      const since = clock() - inMs
      for (const [other, times] of taken) {
        if (times.at(-1)! > since) break
        taken.delete(other)
      }
      const times = (taken.get(key) ?? []).filter((at) => at > since)
      if (times.length >= most) return false
      taken.delete(key)
      taken.set(key, [...times, clock()])
      return true
    },
  }
}
