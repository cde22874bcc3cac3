import { sql } from 'kysely'
import type { Database } from './database.ts'
import { StoreUnavailable } from './error.ts'
import type { Transaction } from './transaction.ts'

/** Work that one process alone does at a time. INVARIANT: its writes go through `database`. */
export interface Lease {
  /** Whether this process may begin another turn of the work. Where it may, none is taken over while the turn runs. */
  run<T>(turn: () => Promise<T>): Promise<T | 'elsewhere'>
  /** As the store, but a write whose lease has gone to another process is refused: nothing of it is kept. */
  readonly database: Database
  /** Where others may do the work, how long to wait at most before the next look at what they have recorded, in ms. */
  readonly lookAgainMs: number
}

/** The leases of one process. */
export interface Leases<Name extends string> {
  readonly of: Readonly<Record<Name, Lease>>
  /** How many processes serve the database, as far as they have been heard of. */
  processes(): number
  /** Gives up what is held, so that another process need not wait. */
  close(): Promise<void>
}

/** How long a lease holds after it was last renewed: what a process that was killed leaves waiting. */
export const HELD_MS = 10_000
/** How often what a process holds or says of itself is renewed. */
export const RENEWED_MS = 2_500
const LOOK_AGAIN_MS = 500

/** Prefix of the row of a process that is alive and holds no lease. */
export const PRESENT = 'process/'

/** The time that all processes share: that of the database. */
export const NOW = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`

interface LeaseRow {
  name: string
  /** The process. */
  holder: string
  /** Milliseconds since the epoch, by the database's clock. */
  until: number
}

declare module './schema.ts' {
  interface Schema {
    leases: LeaseRow
  }
}

/** Takes what is free, and goes on trying. Where the database is this process's alone, it holds everything. */
export async function createLeases<Name extends string>(
  database: Database,
  names: readonly Name[],
  tools: { readonly id: string; readonly onFault: (error: unknown) => void },
): Promise<Leases<Name>> {
  if (!database.isShared) return alone(database, names)
  const { id } = tools
  const held = new Map<Name, { until: number; running: number }>(
    names.map((name) => [name, { until: -Infinity, running: 0 }]),
  )
  let processes = 1
  let closed = false

  async function renew(): Promise<void> {
    const asked = performance.now()
    const wanted = names.filter((name) => {
      const { until, running } = held.get(name)!
      // A turn that has outlived its lease ends before the lease is asked for anew: its writes are refused until then.
      return until > asked || running === 0
    })
    const found = await database.write(async (tx) => {
      await take(tx, `${PRESENT}${id}`, id)
      const taken: Name[] = []
      for (const name of wanted) if (await take(tx, name, id)) taken.push(name)
      return { taken, processes: await countProcesses(tx) }
    })
    processes = found.processes
    for (const name of wanted) held.get(name)!.until = found.taken.includes(name) ? asked + HELD_MS : -Infinity
  }

  await renew()
  let timer: NodeJS.Timeout | undefined
  let renewing: Promise<void> = Promise.resolve()
  const renewLater = () => {
    timer = setTimeout(() => {
      renewing = renew()
        .catch(tools.onFault)
        .then(() => void (closed || renewLater()))
    }, RENEWED_MS)
  }
  renewLater()

  const leaseOf = (name: Name): Lease => ({
    lookAgainMs: LOOK_AGAIN_MS,
    async run(turn) {
      const state = held.get(name)!
      if (state.until <= performance.now()) return 'elsewhere'
      state.running += 1
      try {
        return await turn()
      } finally {
        state.running -= 1
      }
    },
    database: {
      ...database,
      write: (work, organizationId) =>
        database.write(async (tx) => {
          await assertHeld(tx, name, id)
          return work(tx)
        }, organizationId),
    },
  })
  return {
    of: Object.fromEntries(names.map((name) => [name, leaseOf(name)])) as Record<Name, Lease>,
    processes: () => processes,
    async close() {
      closed = true
      clearTimeout(timer)
      await renewing
      await database.write((tx) => tx.deleteFrom('leases').where('holder', '=', id).execute()).catch(tools.onFault)
    },
  }
}

function alone<Name extends string>(database: Database, names: readonly Name[]): Leases<Name> {
  const lease: Lease = { run: (turn) => turn(), database, lookAgainMs: Infinity }
  return {
    of: Object.fromEntries(names.map((name) => [name, lease])) as Record<Name, Lease>,
    processes: () => 1,
    close: async () => {},
  }
}

/** Takes a lease that is free or is this process's already. */
async function take(tx: Transaction, name: string, holder: string): Promise<boolean> {
  const until = sql<number>`${NOW} + ${sql.lit(HELD_MS)}`
  const taken = await tx
    .insertInto('leases')
    .values({ name, holder, until })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ holder, until })
        .where(sql<boolean>`leases.holder = ${holder} or leases.until < ${NOW}`),
    )
    .returning('name')
    .executeTakeFirst()
  return taken !== undefined
}

async function countProcesses(tx: Transaction): Promise<number> {
  await tx.deleteFrom('leases').where('name', 'like', `${PRESENT}%`).where(sql<boolean>`until < ${NOW}`).execute()
  const { count } = await tx
    .selectFrom('leases')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('name', 'like', `${PRESENT}%`)
    .executeTakeFirstOrThrow()
  return Math.max(1, Number(count))
}

/** Keeps others from taking the lease until the transaction has ended. */
async function assertHeld(tx: Transaction, name: string, holder: string): Promise<void> {
  const row = await tx
    .selectFrom('leases')
    .select('name')
    .where('name', '=', name)
    .where('holder', '=', holder)
    .where(sql<boolean>`until > ${NOW}`)
    .forShare()
    .executeTakeFirst()
  if (!row) throw new StoreUnavailable('another process has taken this work over', undefined, 'server')
}
