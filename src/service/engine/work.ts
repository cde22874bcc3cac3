/**
 * What one request may cost, and what has been done for it so far.
 *
 * Dear parts of a request are done beside the main thread and outside of its transaction, and only once it is decided that
 * they are wanted: a handler that needs such a part asks for it with all that it rests on. If it is not there, the transaction is
 * undone, the part is made, and everything is done again from the start: caller, votes, policies, decision. INVARIANT: a
 * part is found again by the bytes that it was made from alone, so that what has changed meanwhile is made anew.
 */
import { createHash } from 'node:crypto'
import { type Budget, createBudget } from '../../policy/index.ts'
import { ApiError } from '../../protocol/index.ts'
import { StoreUnavailable } from '../store/index.ts'
import {
  type JobInput,
  type JobName,
  JobNotDone,
  type JobOwner,
  type JobResult,
  jobs,
  type WorkPool,
} from '../work/index.ts'

export interface Work {
  /** Of all decisions that the request leads to. */
  readonly budget: Budget
  /** Whether the request is looked at for the first time. */
  readonly isFirst: boolean
  /** Names the organization of the request; before that the request has no turns of its own. */
  chargeTo(share: JobOwner): void
  /** Makes something once, however often the request is done again: a secret that everything else rests on. */
  once<T>(key: string, make: () => T): T
  /** The outcome of a job; the secret is wiped. Throws `NotPrepared`, which must reach `withWork`. */
  run<Name extends JobName>(name: Name, job: Job<Name>): JobResult<Name>
  /**
   * A step for each item on this thread: at once where they are light, else outside of the transaction, in turns with
   * everybody. INVARIANT: what comes of it rests on the items alone, which `key` names. Throws `NotPrepared`.
   */
  inSteps<Item, Result>(key: string, steps: StepsOf<Item, Result>): readonly Result[]
  /** A computation on this thread, outside of the transaction, in turns with everybody. */
  readonly inTurns: InTurns
}

/** How a long computation is begun, which `key` names with all that it rests on. Throws `NotPrepared` until it has ended. */
export type InTurns = <Result extends object>(key: string, begin: () => Generator<void, Result, void>) => Result

export interface StepsOf<Item, Result> {
  readonly items: readonly Item[]
  readonly step: (item: Item) => Result
  readonly weight: number
}

export interface Job<Name extends JobName> {
  readonly secret?: Uint8Array
  readonly input: JobInput<Name>
  /** Multiplications on a curve, more or less: up to a millisecond each. */
  readonly weight: number
}

/** Smaller jobs are done at once: they take the few milliseconds that handing them to a thread would take. */
const SMALL_WEIGHT = 32

/** What is done at once for one request, together. */
const MOST_AT_ONCE = 48

/** How many bytes are read in the time of a multiplication, of transactions and typed data of the slowest kind. */
const BYTES_A_WEIGHT = 1_024

/** The weight of reading texts. */
export function weightOfBytes(...texts: readonly (string | readonly string[])[]): number {
  return Math.ceil(texts.flat().reduce((sum, { length }) => sum + length, 0) / BYTES_A_WEIGHT)
}

/** An expression is parsed and checked at some characters a microsecond. */
const CHARACTERS_A_WEIGHT = 1_024

/** The weight of compiling expressions, those that are absent left out. */
export function weightOfExpressions(texts: readonly (string | null | undefined)[]): number {
  return Math.ceil(texts.reduce((sum, text) => sum + (text?.length ?? 0), 0) / CHARACTERS_A_WEIGHT)
}

interface Missing {
  readonly key: string
  readonly prepare: (pool: WorkPool) => Promise<object>
}

/** Thrown when parts are not there yet. No `Error`: nothing that prints errors may print what it holds. */
export class NotPrepared {
  readonly #missing: readonly Missing[]

  constructor(missing: readonly Missing[]) {
    this.#missing = missing
  }

  /** One after the other: a request has no more than one turn. */
  async prepare(pool: WorkPool, parts: Map<string, object>): Promise<void> {
    for (const { key, prepare } of this.#missing)
      if (!parts.has(key)) parts.set(key, await prepare(pool).catch(orUnavailable))
  }

  static all(several: readonly NotPrepared[]): NotPrepared {
    return new NotPrepared(several.flatMap((one) => one.#missing))
  }
}

/** Does a request as often as it takes until all its parts are there. */
export async function withWork<T>(pool: WorkPool, attempt: (work: Work) => T | Promise<T>): Promise<T> {
  const kept: Kept = {}
  try {
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await attempt(new WorkOfAttempt(kept, isFirst))
      } catch (thrown) {
        if (!(thrown instanceof NotPrepared)) throw thrown
        kept.parts ??= new Map()
        await thrown.prepare(pool, kept.parts)
      }
    }
  } finally {
    const { made, parts } = kept
    if (made) for (const secret of made.values()) if (secret instanceof Uint8Array) secret.fill(0)
    if (parts) for (const part of parts.values()) if ('privateKeys' in part) (part.privateKeys as Uint8Array).fill(0)
  }
}

/** What stays from one attempt at a request to the next. Most requests need none of it. */
interface Kept {
  made?: Map<string, unknown>
  parts?: Map<string, object>
}

/** What was refused is so when it is asked for; a thread that ended says nothing of the request, of which nothing is left. */
function orUnavailable(error: Error): Error {
  if (error instanceof JobNotDone) throw new StoreUnavailable(error.message)
  if (error instanceof ApiError) throw error
  return error
}

/** Whose turn it is while nobody is known. */
const NOBODY: JobOwner = { treeId: '', organizationId: '' }

/** One attempt at a request: every request has one, so that it is no closures but an object. */
class WorkOfAttempt implements Work {
  readonly budget = createBudget()
  readonly isFirst: boolean
  readonly #kept: Kept
  #share = NOBODY
  #atOnce = 0

  constructor(kept: Kept, isFirst: boolean) {
    this.#kept = kept
    this.isFirst = isFirst
  }

  chargeTo(share: JobOwner): void {
    this.#share = share
  }

  once<T>(key: string, make: () => T): T {
    this.#kept.made ??= new Map()
    const { made } = this.#kept
    if (!made.has(key)) made.set(key, make())
    return made.get(key) as T
  }

  inSteps<Item, Result>(key: string, { items, step, weight }: StepsOf<Item, Result>): readonly Result[] {
    if (this.#takeSmall(weight)) return items.map(step)
    return this.#part(key, (pool) => pool.steps.run(items, step, this.#share)) as readonly Result[]
  }

  inTurns<Result extends object>(key: string, begin: () => Generator<void, Result, void>): Result {
    return this.#part(key, (pool) => pool.steps.walk(begin(), this.#share)) as Result
  }

  run<Name extends JobName>(name: Name, { secret = NONE, input, weight }: Job<Name>): JobResult<Name> {
    if (this.#takeSmall(weight)) {
      try {
        return (jobs[name] as (secret: Uint8Array, input: JobInput<Name>) => JobResult<Name>)(secret, input)
      } finally {
        secret.fill(0)
      }
    }
    const key = createHash('sha256').update(name).update(secret).update(JSON.stringify(input)).digest('hex')
    // A pool wipes it as well, and needs it until then.
    if (this.#kept.parts?.has(key)) secret.fill(0)
    const found = this.#part(key, (pool) => pool.run(name, { secret, input }, this.#share))
    // A copy, because the caller wipes its own: the request may be done once more.
    return (
      'privateKeys' in found ? { ...found, privateKeys: (found.privateKeys as Uint8Array).slice() } : found
    ) as never
  }

  #takeSmall(weight: number): boolean {
    const fits = weight <= SMALL_WEIGHT && this.#atOnce + weight <= MOST_AT_ONCE
    if (fits) this.#atOnce += weight
    return fits
  }

  #part(key: string, prepare: Missing['prepare']): object {
    const found = this.#kept.parts?.get(key)
    if (found === undefined) throw new NotPrepared([{ key, prepare }])
    if (found instanceof Error) throw found
    return found
  }
}

/** Of a job without a secret. */
const NONE = new Uint8Array()
