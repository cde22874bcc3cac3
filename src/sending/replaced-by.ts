import type { PlanStore, SendOrder, SendProgress } from '../../activities/index.ts'

/** The send of this ledger that has the nonce of another: its replacement, or the one that it was to replace. */
export interface ReplacedBy {
  readonly reference: string
  /** Whether it was to cancel the other. */
  readonly cancels: boolean
}

interface Ordered {
  readonly order: SendOrder
  readonly progress?: SendProgress | undefined
}

/**
 * Says of each send that was replaced by which of the others, where it was one of them: the transaction names it. A replacement
 * that comes too late is replaced by the send whose place it was to take.
 */
export function withReplacers<One extends Ordered>(
  all: readonly One[],
  among: readonly Ordered[] = all,
): readonly (One & { readonly replacedBy?: ReplacedBy })[] {
  const byHash = new Map<string, Ordered>(
    among.flatMap((one) =>
      one.progress?.transactionHash === undefined ? [] : [[one.progress.transactionHash, one] as const],
    ),
  )
  const byReference = new Map(among.map(({ order }) => [order.reference, order]))
  const firstOf = ({ replaces, reference }: SendOrder): string => {
    const before = replaces === undefined ? undefined : byReference.get(replaces)
    return before === undefined ? (replaces ?? reference) : firstOf(before)
  }
  return all.map((one) => {
    const { error } = one.progress ?? {}
    const [hash] = error?.code === 'apply/transaction-replaced' ? (/0x[0-9a-f]{64}/.exec(error.message) ?? []) : []
    const by = hash === undefined ? undefined : byHash.get(hash)?.order
    if (by === undefined || firstOf(by) !== firstOf(one.order)) return one
    const { from, to, value } = by.parameters as Readonly<Record<string, unknown>>
    const cancels = by.replaces !== undefined && from === to && value === '0'
    return { ...one, replacedBy: { reference: by.reference, cancels } }
  })
}

/** Says of each send that is broadcast which of the others was offered in its place last, and may be included instead. */
export function withOffered<One extends Ordered>(
  all: readonly One[],
): readonly (One & { readonly offered?: string })[] {
  return all.map((one) => {
    if (one.progress?.state !== 'broadcasting') return one
    const by = all.findLast(({ order, progress }) => order.replaces === one.order.reference && isOffered(progress))
    return by === undefined ? one : { ...one, offered: by.order.reference }
  })
}

function isOffered(progress: SendProgress | undefined): boolean {
  return progress?.state === 'broadcasting' || progress?.state === 'included'
}

/** As `withReplacers`, among all sends of the ledger; it is read only where one was replaced. */
export async function findReplacers<One extends Ordered>(
  ledger: PlanStore['sends'],
  all: readonly One[],
): Promise<readonly (One & { readonly replacedBy?: ReplacedBy })[]> {
  const replaced = all.find(({ progress }) => progress?.error?.code === 'apply/transaction-replaced')
  if (replaced === undefined) return all
  const listed = await ledger.list(replaced.order.organization.id)
  const among = await Promise.all(
    listed.map(async ({ sendId, order }) => ({ order, progress: await ledger.getProgress(sendId) })),
  )
  return withReplacers(all, among)
}
