/** What the reader of an activity knows of sends by themselves: names, the references of their ledger, and what they would offer. */

import { type PlanStore, type SendBatch, type SendOrder, sendIdOf } from '../../../activities/index.ts'
import { EXIT, QuorateError } from '../../diagnostics/index.ts'
import type { Place } from '../../operations/index.ts'
import { isWaiting, type Wire } from '../../protocol/index.ts'
import { createGasCeilings, ledgerOf, type SendNames } from '../../sending/index.ts'
import { readFeeSettings } from '../background/kept-chains.ts'
import type { CommandInput } from '../command.ts'
import { readNames } from '../sending/index.ts'
import type { ActivityView, BatchOfSend } from '../views/activity.ts'

export interface SendsKnown {
  readonly names: SendNames
  readonly ledger: ReturnType<typeof ledgerOf>['sends']
  /** The batch of a send of that ledger; of several files with the same row, the one that was sent last. */
  readonly batchOf: (order: SendOrder) => Promise<BatchOfSend | undefined>
  readonly ceilingOf: ReturnType<typeof createGasCeilings>
}

/** Reads them, the names from the folder of `--definitions`. Throws `cli/usage` for definitions that are wrong. */
export async function readSendsKnown(input: CommandInput, place: Place): Promise<SendsKnown> {
  const { options, settings } = input
  const folder = options['definitions']
  const names = await readNames(input, place, typeof folder === 'string' ? folder : undefined)
  if (!names) {
    throw new QuorateError('cli/usage', `the definitions in \`${String(folder)}\` name nobody while they are wrong`, {
      exit: EXIT.error,
      next: 'correct them, or leave --definitions out',
    })
  }
  const { sends: ledger, batches } = ledgerOf(settings.dataDir)
  let read: ReturnType<typeof readBatches> | undefined
  const batchOf: SendsKnown['batchOf'] = async (order) => {
    read ??= readBatches(batches)
    return (await read).get(sendIdOf(order))
  }
  return { names, ledger, batchOf, ceilingOf: createGasCeilings(readFeeSettings(input)) }
}

/** The batch of each send, by the id of the send. */
async function readBatches(batches: PlanStore['batches']): Promise<ReadonlyMap<string, BatchOfSend>> {
  const all: SendBatch[] = []
  for (const id of await batches.ids()) all.push(await batches.get(id))
  all.sort((one, other) => Date.parse(one.orderedAt) - Date.parse(other.orderedAt))
  return new Map(
    all.flatMap(({ batchId, file, rows }) =>
      rows.map(({ line, order }) => [sendIdOf(order), { batchId, file, line, rows: rows.length }] as const),
    ),
  )
}

/** Sets beside what an activity asks for its reference, and what the settings of who reads it would offer at most. */
export async function withSendsKnown(
  view: ActivityView,
  { fingerprint, status }: Pick<Wire.Activity, 'fingerprint' | 'status'>,
  { ledger, batchOf, ceilingOf }: SendsKnown,
): Promise<ActivityView> {
  const order = await ledger.findByBody(fingerprint)
  const batch = order && isWaiting(status) ? await batchOf(order) : undefined
  const found =
    order === undefined ? view : { ...asOrdered(view, order), reference: order.reference, ...(batch && { batch }) }
  const { caip2 } = view.parameters as { readonly caip2?: unknown }
  if (view.sends === undefined || typeof caip2 !== 'string' || status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED')
    return found
  const { feeCeiling, wei } = await ceilingOf(caip2)
  const yours = { ...feeCeiling, wei: wei.toString() }
  return { ...found, sends: view.sends.map((send) => ({ ...send, fee: { ...send.fee, yours } })) }
}

/** What the ledger has asked for is not made outside, though no plan asks for it. */
function asOrdered(view: ActivityView, { reference }: SendOrder): ActivityView {
  const { review } = view
  if (review?.explained.kind !== 'made outside' && review?.explained.kind !== 'unknown') return view
  return { ...view, review: { ...review, explained: { kind: 'send', reference } } }
}
