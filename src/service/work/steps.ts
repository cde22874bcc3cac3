/**
 * What takes the main thread longer than one turn of its loop, one step a turn: between two of them others are answered.
 * Organizations take turns here as they do for threads.
 */
import { apiError } from '../../protocol/index.ts'
import { createTurns, type JobOwner } from './turns.ts'

export interface Steps {
  /** Takes a step for each item, and gives what they gave. Throws `ApiError` (429) where too many wait. */
  run<Item, Result>(items: readonly Item[], step: (item: Item) => Result, share: JobOwner): Promise<Result[]>
  /** Takes a step up to each `yield`, and gives what is returned. Throws as `run` does. */
  walk<Result>(begun: Generator<void, Result, void>, share: JobOwner): Promise<Result>
  /** Steps that were taken. */
  readonly taken: () => number
}

/** Creates the steps of one main thread. */
export function createSteps(): Steps {
  const waiting = createTurns<() => void>()
  let isTaking = false
  let taken = 0

  /** One a turn of the loop: all that were set for one turn would be called in it, one after the other. */
  function take(): void {
    const step = waiting.take()
    isTaking = step !== undefined
    if (!step) return
    taken++
    step()
    setImmediate(take)
  }

  function turn(share: JobOwner): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!waiting.add(share, resolve)) return reject(apiError('rateLimited'))
      if (isTaking) return
      isTaking = true
      setImmediate(take)
    })
  }

  return {
    async run(items, step, share) {
      const results: ReturnType<typeof step>[] = []
      for (const item of items) {
        await turn(share)
        results.push(step(item))
      }
      return results
    },
    async walk(begun, share) {
      for (;;) {
        await turn(share)
        const next = begun.next()
        if (next.done) return next.value
      }
    },
    taken: () => taken,
  }
}
