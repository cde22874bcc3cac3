import type { Plan } from '../src/plan/index.ts'

/** An apply and a few of what is inside at the same time; each has its own plan. */
const KEPT = 8

/**
 * The plans that were last read and found to be what their digest says. Every step of an apply asks for its plan, so reading
 * and digesting it each time would cost the square of its batches. One counts as long as its file is the very one that was
 * read, unwritten since: what others do to the store is seen at the next step.
 */
export interface VerifiedPlans {
  find(digest: string, version: string | undefined): Plan | undefined
  keep(plan: Plan, version: string | undefined): void
}

/** Remembers eight plans and forgets the one that was not asked for the longest. */
export function createVerifiedPlans(): VerifiedPlans {
  const kept = new Map<string, { readonly plan: Plan; readonly version: string }>()
  return {
    find(digest, version) {
      const one = kept.get(digest)
      kept.delete(digest)
      if (one === undefined || one.version !== version) return undefined
      kept.set(digest, one)
      return one.plan
    },
    keep(plan, version) {
      if (version === undefined) return
      kept.delete(plan.digest)
      kept.set(plan.digest, { plan, version })
      for (const oldest of kept.keys()) {
        if (kept.size <= KEPT) break
        kept.delete(oldest)
      }
    },
  }
}
