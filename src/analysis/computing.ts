/**
 * Which analysis computes, and for how long. An analysis computes for many seconds without a pause, in which no timer of the process
 * fires: its long loops call `breathe` instead, which tells the listener once a second.
 */

/** Told what is computed, such as `who could undo the plan`, and since when. */
export type ComputingListener = (what: string, sinceMs: number) => void

const TOLD_EVERY_MS = 1_000

/** One for the process: no two analyses compute at a time. */
let listener: ComputingListener | undefined
let current: { readonly what: () => string; readonly sinceMs: number } | undefined
let nextMs = 0

/** Tells of what this process computes until the function that it gives is called. */
export function listenToComputing(told: ComputingListener): () => void {
  const before = listener
  listener = told
  nextMs = 0
  return () => {
    listener = before
  }
}

/** Computes something that has a name. */
export function computing<T>(what: string | (() => string), work: () => T): T {
  const before = current
  current = { what: typeof what === 'string' ? () => what : what, sinceMs: performance.now() }
  try {
    return work()
  } finally {
    current = before
  }
}

/** Called at each turn of a loop that may be long; costs next to nothing. */
export function breathe(): void {
  if (listener === undefined || current === undefined) return
  const now = performance.now()
  if (now < nextMs) return
  nextMs = now + TOLD_EVERY_MS
  listener(current.what(), current.sinceMs)
}
