/**
 * What a transaction of PostgreSQL remembers of the organizations whose rows it holds: a round has many requests of one
 * organization, and each of them asks the same.
 *
 * Premise: what belongs to an organization changes under the lock of its row alone (`lockOrganization`). INVARIANT: nothing is
 * remembered of an organization before this transaction holds its row, since another process may have written while it waited; and
 * what is undone to a savepoint gives back the rows that were taken behind it, so that all is forgotten then.
 */
import type { CompiledQuery, KyselyPlugin } from 'kysely'
import { Memory } from './memory.ts'
import type { Transaction } from './transaction.ts'

export class LockedMemory extends Memory {
  readonly #held = new Set<string>()

  /** The row of an organization is held from now on. */
  hold(organizationId: string): void {
    this.#held.add(organizationId)
  }

  holds(organizationId: string): boolean {
    return this.#held.has(organizationId)
  }

  /** Whether a read with these values is one of organizations whose rows are held. */
  covers({ organizationId, organizationIds }: OfOrganizations): boolean {
    if (typeof organizationId === 'string') return this.#held.has(organizationId)
    return Array.isArray(organizationIds) && organizationIds.every((id) => this.#held.has(id))
  }

  override forgetAll(): void {
    super.forgetAll()
    this.#held.clear()
  }
}

/** The values of a read, among which may be the organizations that it is of. */
interface OfOrganizations {
  readonly organizationId?: unknown
  readonly organizationIds?: unknown
}

const memories = new WeakMap<Transaction, LockedMemory>()

/** Gives the transaction a memory, which is told of all that is written by it. To be passed on in its place. */
export function remembering(tx: Transaction): Transaction {
  const memory = new LockedMemory()
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      memory.running({ query: node })
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const own = tx.withPlugin(plugin)
  memories.set(own, memory)
  return own
}

/** The memory of a transaction that locks; no other has one. */
export function lockedMemoryOf(tx: Transaction): LockedMemory | undefined {
  return memories.get(tx)
}

/** A statement that was compiled before is about to run, which no plugin is told of. */
export function noteRunning(tx: Transaction, query: CompiledQuery): void {
  memories.get(tx)?.running(query)
}
