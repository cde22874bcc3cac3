/**
 * What one look at a chain says against a send. A node may lag, answer for another that stands behind the same address, or lie: what
 * it says counts when it says the same again at a later head.
 */
import type { Chain } from '../chains/index.ts'

/** A chain that makes blocks for transactions alone has no later head: then as many looks at it are waited for. */
const LOOKS_WITHOUT_BLOCK = 20

interface Doubt {
  readonly what: string
  readonly head: bigint | number
  /** On `performance.now`: the service's own clock may stand still. */
  readonly at: number
}

/** Creates the memory of what was said first, and at which head; `id` is a send's, or a transaction's hash. */
export function createDoubts({ pollMs }: Pick<Chain, 'pollMs'>) {
  const doubts = new Map<string, Doubt>()
  return {
    has: (id: string) => doubts.has(id),
    /** Whether the same was said at an earlier head, and not otherwise since; notes it where it was not. */
    isSaidAgain(id: string, { head, what = '' }: { readonly head: bigint | number; readonly what?: string }): boolean {
      const now = performance.now()
      const doubt = doubts.get(id)
      if (doubt?.what !== what) doubts.set(id, { what, head, at: now })
      return doubt?.what === what && (head > doubt.head || now - doubt.at >= LOOKS_WITHOUT_BLOCK * pollMs)
    },
    drop(id: string): void {
      doubts.delete(id)
    },
  }
}
