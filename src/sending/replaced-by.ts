import type { PlanStore, SendOrder, SendProgress } from '../../activities/index.ts'

/** The send that has taken the nonce of another, and whether to cancel it. */
export interface ReplacedBy {
  readonly reference: string
  readonly cancels: boolean
}

interface Ordered {
  readonly order: SendOrder
  readonly progress?: SendProgress | undefined
}

/** Says of each send that was replaced by which of the others, where it was one of them: the transaction names it. */
export function withReplacers<One extends Ordered>(
  all: readonly One[],
  among: readonly Ordered[] = all,
): readonly (One & { readonly replacedBy?: ReplacedBy })[] {
  const byHash = new Map<string, Ordered>(
    among.flatMap((one) =>
      one.progress?.transactionHash === undefined ? [] : [[one.progress.transactionHash, one] as const],
    ),
  )
  return all.map((one) => {
    const { error } = one.progress ?? {}
    const [hash] = error?.code === 'apply/transaction-replaced' ? (/0x[0-9a-f]{64}/.exec(error.message) ?? []) : []
    const by = hash === undefined ? undefined : byHash.get(hash)?.order
    if (by?.replaces === undefined) return one
    const { from, to, value } = by.parameters as Readonly<Record<string, unknown>>
    return { ...one, replacedBy: { reference: by.reference, cancels: from === to && value === '0' } }
  })
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
