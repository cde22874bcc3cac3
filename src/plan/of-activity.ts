import type { Actual } from '../resources/index.ts'
import { diff, type Pair } from './diff.ts'
import type { Change, Plan } from './document.ts'
import { fieldsOf } from './make.ts'

/** An activity that waits, and what it would do to each thing that it touches. */
export interface OneActivity {
  readonly type: string
  /** Its intent. */
  readonly parameters: Plan['batches'][number]['parameters']
  /** Who submitted it. */
  readonly actor: Plan['actor']
  readonly baseUrl: string
  /** ISO 8601. */
  readonly now: string
}

/**
 * One activity as a plan of its own, so that a voter reads it as they read a plan: each pair is a thing as it lives, and as it would
 * be. It is for reading and for `forecast`; nobody applies it, and it has no digest.
 */
export function planOfActivity(
  { type, parameters, actor, baseUrl, now }: OneActivity,
  { pairs, actual }: { readonly pairs: readonly Pair[]; readonly actual: Actual },
): Plan {
  const namesById = new Map<string, string>()
  for (const { id, address } of actual.resources) if (!namesById.has(id!)) namesById.set(id!, address)
  const ids = Object.fromEntries(
    pairs.flatMap(({ desired }) =>
      desired?.parent !== undefined && desired.parentId !== undefined ? [[desired.parent, desired.parentId]] : [],
    ),
  )
  const { differences } = diff(pairs, ids)
  const changes = differences.map((difference): Change => {
    const { address, kind, action, input } = difference
    const fields = fieldsOf(difference, namesById)
    const id = input.actual?.id
    return { address, kind, action, cause: 'differs', fields, batch: 0, ...(id === undefined ? {} : { id }) }
  })
  const addresses = changes.map(({ address }) => address)
  return {
    format: 'quorate.plan/1',
    organization: { name: actual.organizationName, id: actual.organizationId, baseUrl },
    actor,
    definitionsDigest: '',
    liveDigest: '',
    live: { every: [], things: [] },
    changes,
    batches: [{ index: 0, type, summary: type, parameters, changes: addresses, after: [], produces: [] }],
    ids,
    unmanaged: [],
    guards: [],
    createdAt: now,
    digest: '',
  }
}
