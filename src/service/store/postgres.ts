import { setTimeout as delay } from 'node:timers/promises'
import { Kysely } from 'kysely'
import type { Database, Round } from './database.ts'
import { StoreConflict, StoreUnavailable } from './error.ts'
import { remembering } from './locked-memory.ts'
import { createPool, createPostgresDialect, MIGRATION_MS, type PostgresSettings, withClient } from './postgres-pool.ts'
import { migratePostgres } from './postgres-schema.ts'
import type { Rows } from './prepared.ts'
import { gather, type WaitingWrite, waitFor } from './rounds.ts'
import type { Schema } from './schema.ts'
import type { Transaction } from './transaction.ts'

/** How many writes of one organization share a transaction: what the last of them waits for. */
const MAX_ROUND = 32

/** How often a write is done again that met another process's, and the longest pause before it. */
const MOST_TRIES = 8
const PAUSE_MS = { first: 4, longest: 200 }

/** Names the lock of a process that starts: any number that nobody else uses. */
export const START_LOCK = 7_163_094_422

/** Whatever a server does by itself: what was acknowledged is on its disk. */
const DURABLY = 'set synchronous_commit = on'

/**
 * Opens a database of PostgreSQL, which other processes may serve as well, and brings it to the newest schema. Throws
 * `StoreUnavailable`.
 *
 * Writes read what is committed, statement by statement, and lock the row of their organization first
 * (`lockOrganization`): what belongs to an organization changes under that lock alone, and whatever spans organizations has a
 * row or an index of its own that the second of two waits at. The writes of one organization that wait in this process are a
 * round, as in SQLite: one transaction, a savepoint each. So one busy organization takes one connection, whatever waits. A
 * conflict with another process undoes the round, and it is done again: work must be able to run more than once.
 */
export async function openPostgres(
  settings: PostgresSettings,
  options: { readonly now: number; readonly onRound?: ((round: Round) => void) | undefined },
): Promise<Database> {
  const durably = await withClient(
    settings,
    async (client) => {
      await migratePostgres(client, options.now)
      const { rows } = await client.query('show synchronous_commit')
      return rows[0].synchronous_commit === 'off' ? DURABLY : undefined
    },
    { statementMs: MIGRATION_MS },
  )
  const pools = { write: createPool(settings, durably), read: createPool(settings) }
  const writer = new Kysely<Schema>({ dialect: createPostgresDialect(pools.write, true) })
  const reader = new Kysely<Schema>({ dialect: createPostgresDialect(pools.read, false) })
  const lanes = new Map<unknown, WaitingWrite[]>()
  const running = new Set<Promise<unknown>>()
  let closed = false
  let last: ReturnType<Database['lastRound']>

  const track = <T>(work: Promise<T>): Promise<T> => {
    running.add(work)
    const forget = () => running.delete(work)
    work.then(forget, forget)
    return work
  }

  async function runLane(lane: unknown, waiting: WaitingWrite[]): Promise<void> {
    while (waiting.length > 0) {
      await gather(() => waiting.length, MAX_ROUND)
      await runRound(waiting.splice(0, MAX_ROUND))
    }
    lanes.delete(lane)
  }

  async function runRound(round: readonly WaitingWrite[], attempt = 1): Promise<void> {
    const begun = performance.now()
    const end = (failed: boolean) => {
      last = { at: performance.now(), failed }
      options.onRound?.({ writes: round.length, ms: last.at - begun, failed })
    }
    try {
      const answers = await writer.transaction().execute((tx) => runIn(remembering(tx), round))
      end(false)
      for (const answer of answers) answer()
    } catch (error) {
      if (error instanceof StoreConflict && attempt < MOST_TRIES) {
        await delay(Math.random() * Math.min(PAUSE_MS.longest, PAUSE_MS.first * 2 ** attempt))
        // One by one: what never goes well takes nothing else with it.
        for (const item of round) await runRound([item], attempt + 1)
        return
      }
      end(error instanceof StoreUnavailable)
      for (const item of round) item.fail(causeOf(error))
    }
  }

  return {
    isShared: true,
    write<T>(work: (tx: Transaction) => Rows<T>, organizationId?: string): Promise<T> {
      if (closed) return Promise.reject(new StoreUnavailable('it is closing'))
      const { item, done } = waitFor(work)
      const lane = organizationId ?? item
      const waiting = lanes.get(lane)
      if (waiting) waiting.push(item)
      else {
        const begun = [item]
        lanes.set(lane, begun)
        track(runLane(lane, begun))
      }
      return done
    },
    async read<T>(work: (tx: Transaction) => Rows<T>): Promise<T> {
      if (closed) throw new StoreUnavailable('it is closing')
      const view = reader.transaction().setIsolationLevel('repeatable read').setAccessMode('read only')
      return track(view.execute(async (tx) => work(tx)))
    },
    async alone(work) {
      const begun = await withClient(
        settings,
        async (client) => {
          await client.query('select pg_advisory_lock($1)', [START_LOCK])
          return { outcome: await Promise.allSettled([work()]) }
        },
        { statementMs: MIGRATION_MS },
      )
      const [outcome] = begun.outcome
      if (outcome.status === 'rejected') throw outcome.reason
      return outcome.value
    },
    lastRound: () => last,
    waiting: () => [...lanes.values()].reduce((sum, { length }) => sum + length, pools.write.waiting()),
    async close(): Promise<void> {
      closed = true
      while (running.size > 0) await Promise.allSettled(running)
      await Promise.all([reader.destroy(), writer.destroy()])
    },
  }
}

/** Brings a database to the newest schema, and says by which steps. Throws `StoreUnavailable`, `service/schema-differs`. */
export async function migrateServer(settings: PostgresSettings, now: number): Promise<readonly string[]> {
  const steps = await withClient(settings, (client) => migratePostgres(client, now), { statementMs: MIGRATION_MS })
  return steps.flatMap(({ marks }) => marks)
}

/** What is so however often it is done is no conflict. */
function causeOf(error: unknown): unknown {
  const cause = error instanceof StoreConflict ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && String(cause.code).startsWith('23') ? cause : error
}

async function runIn(tx: Transaction, round: readonly WaitingWrite[]): Promise<readonly (() => void)[]> {
  const [first] = round
  if (first && round.length === 1) return [await first.runAlone(tx)]
  const answers: (() => void)[] = []
  for (const item of round) answers.push(await item.run(tx))
  return answers
}
