import type { Database } from './database.ts'

/** A store that knows which writes are under way. */
export interface TrackedDatabase extends Database {
  /** Waits until every write that was asked for before has ended. */
  settled(): Promise<void>
}

/** Tells of the writes of one process. */
export function trackWrites(database: Database): TrackedDatabase {
  const underWay = new Set<Promise<unknown>>()
  return {
    ...database,
    write(work, organizationId) {
      const done = database.write(work, organizationId)
      underWay.add(done)
      const forget = () => underWay.delete(done)
      done.then(forget, forget)
      return done
    },
    settled: async () => void (await Promise.allSettled(underWay)),
  }
}
