/**
 * What one request may cost, and what has been done for it so far.
 *
 * Dear parts of a request are done beside the main thread and outside of its transaction, and only once it is decided that
 * they are wanted: a handler that needs such a part asks for it with all that it rests on. If it is not there, the transaction is
 * undone, the part is made, and everything is done again from the start: caller, votes, policies, decision. INVARIANT: a
 * part is found again by the bytes that it was made from alone, so that what has changed meanwhile is made anew.
 */
import { createHash } from 'node:crypto'
import { ChainError } from '../../chain/index.ts'
import { type Budget, createBudget } from '../../policy/index.ts'
import { StoreUnavailable } from '../store/index.ts'
import { type JobInput, type JobName, type JobResult, jobs, type WorkPool } from '../work/index.ts'

export interface Work {
  /** Of all decisions that the request leads to. */
  readonly budget: Budget
  /** Whether the request is looked at for the first time. */
  readonly isFirst: boolean
  /** Makes something once, however often the request is done again: a secret that everything else rests on. */
  once<T>(key: string, make: () => T): T
  /** The outcome of a job; the secret is wiped. Throws `NotPrepared`, which must reach `withWork`. */
  run<Name extends JobName>(name: Name, job: Job<Name>): JobResult<Name>
}

export interface Job<Name extends JobName> {
  readonly secret: Uint8Array
  readonly input: JobInput<Name>
  /** Multiplications on a curve, more or less. */
  readonly weight: number
}

/** Smaller jobs are done at once: they take the few milliseconds that handing them to a thread would take. */
const SMALL_WEIGHT = 32

/** Thrown when a part is not there yet. No `Error`: nothing that prints errors may print what it holds. */
export class NotPrepared {
  readonly key: string
  readonly #prepare: (pool: WorkPool) => Promise<object>

  constructor(key: string, prepare: (pool: WorkPool) => Promise<object>) {
    this.key = key
    this.#prepare = prepare
  }

  prepare(pool: WorkPool): Promise<object> {
    return this.#prepare(pool)
  }
}

/** Does a request as often as it takes until all its parts are there. */
export async function withWork<T>(pool: WorkPool, attempt: (work: Work) => Promise<T>): Promise<T> {
  const made = new Map<string, unknown>()
  const parts = new Map<string, object>()
  try {
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await attempt(workOver(made, parts, isFirst))
      } catch (thrown) {
        if (!(thrown instanceof NotPrepared)) throw thrown
        parts.set(thrown.key, await thrown.prepare(pool).catch(orUnavailable))
      }
    }
  } finally {
    for (const part of parts.values()) if ('privateKeys' in part) (part.privateKeys as Uint8Array).fill(0)
  }
}

/** What was refused is so when it is asked for; a thread that ended says nothing of the request, of which nothing is left. */
function orUnavailable(error: Error): Error {
  if (error instanceof ChainError) return error
  throw new StoreUnavailable(error.message)
}

function workOver(made: Map<string, unknown>, parts: Map<string, object>, isFirst: boolean): Work {
  return {
    budget: createBudget(),
    isFirst,
    once<T>(key: string, make: () => T) {
      if (!made.has(key)) made.set(key, make())
      return made.get(key) as T
    },
    run<Name extends JobName>(name: Name, { secret, input, weight }: Job<Name>): JobResult<Name> {
      if (weight <= SMALL_WEIGHT) {
        try {
          return (jobs[name] as (secret: Uint8Array, input: JobInput<Name>) => JobResult<Name>)(secret, input)
        } finally {
          secret.fill(0)
        }
      }
      const key = createHash('sha256').update(name).update(secret).update(JSON.stringify(input)).digest('hex')
      const part = parts.get(key)
      if (part === undefined) throw new NotPrepared(key, (pool) => pool.run(name, secret, input))
      secret.fill(0)
      if (part instanceof Error) throw part
      // A copy, because the caller wipes its own: the request may be done once more.
      return (
        'privateKeys' in part ? { ...part, privateKeys: (part.privateKeys as Uint8Array).slice() } : part
      ) as never
    },
  }
}
