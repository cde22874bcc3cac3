import type { PlanStore, RowStand, SendBatch, SendOrder } from '../../activities/index.ts'
import type { QueryClient } from '../client/index.ts'
import { createHeldByApi } from './api-balances.ts'
import { askedAnew, asTheyStand } from './asked-anew.ts'
import { type BatchReport, countStates, rowState, type StandingRow, toBatchReport } from './batch-report.ts'
import type { NodeSettings } from './finality.ts'
import { findReplacers } from './replaced-by.ts'
import { readSenders, withNonces } from './senders.ts'
import { unknownName, usage } from './usage.ts'

type Batches = PlanStore['batches']

/** Finds a batch by the beginning of its id. Throws `cli/usage` or `cli/unknown-name`. */
export async function findBatch(batches: Batches, begins: string): Promise<SendBatch> {
  const ids = await batches.ids()
  const [batchId, another] = ids.filter((id) => id.startsWith(begins))
  if (another !== undefined) throw usage(`several batches begin with \`${begins}\``, 'give more of the id')
  if (batchId !== undefined) return batches.get(batchId)
  const known = ids.map((id) => id.slice(0, 12))
  throw unknownName('batch', begins, known)
}

/**
 * The state of each row of a batch, up to now.
 * @param nodes say what is final, and the nonces. @default none is asked
 * @param api asked again about what a node has in no block, what senders have and, for who looks at a time (`now`), about what is
 * open. @default what it told last counts
 * @param heldUp what has rows go on, where nobody carries them out now
 */
export async function readBatchReport(
  { sends, batches }: Pick<PlanStore, 'sends' | 'batches'>,
  batch: SendBatch,
  {
    nodes = { nodes: {}, confirmations: {} },
    api,
    now,
    heldUp,
  }: {
    readonly nodes?: NodeSettings
    readonly api?: (() => Promise<QueryClient>) | undefined
    readonly now?: (() => number) | undefined
    readonly heldUp?: string | undefined
  } = {},
): Promise<BatchReport> {
  const [stands, stoppedAt] = await Promise.all([batches.survey(batch), batches.stoppedAt(batch.batchId)])
  const settled = await withNonces(await rowsAsTheyStand(sends, stands, { nodes, api, now }), nodes)
  const rows = settled.map((row) => ({ ...row, heldUp }))
  const heldByApi = api && createHeldByApi({ query: async (...asked) => (await api()).query(...asked) })
  return toBatchReport(batch, rows, { stoppedAt, senders: await readSenders(rows, { ...nodes, heldByApi }) })
}

/** Rows of which the ledger has told how they stand, as they stand now; see `asTheyStand`. */
export async function rowsAsTheyStand(
  sends: PlanStore['sends'],
  stands: readonly RowStand[],
  asking: Omit<Parameters<typeof asTheyStand>[1], 'ledger'>,
): Promise<readonly (StandingRow & { readonly order: SendOrder })[]> {
  return asTheyStand(await withAsked(sends, stands), { ledger: sends, ...asking })
}

/**
 * How many rows of a batch are in which state.
 * @param asking the API, of what is open. @default the ledger alone tells
 */
export async function countRows(
  { sends, batches }: Pick<PlanStore, 'sends' | 'batches'>,
  batch: SendBatch,
  asking?: Parameters<typeof askedAnew>[1],
): Promise<BatchReport['counts']> {
  const known = await withAsked(sends, await batches.survey(batch))
  const rows = await findReplacers(sends, asking ? await askedAnew(known, asking) : known)
  return countStates(rows.map(rowState))
}

const withAsked = (sends: PlanStore['sends'], stands: readonly RowStand[]) =>
  Promise.all(
    stands.map(async (one) => ({
      ...one,
      order: one.row.order,
      isAsked: one.state === 'submitting' && one.progress === undefined && (await sends.isAsked(one.sendId)),
    })),
  )
