/**
 * Sends that a store has open which was put back from a snapshot. What became of them since is known only where the chain has their
 * transaction: one that was given up, cancelled or replaced may stand paid under another reference. INVARIANT: nothing is signed for
 * them before an operator says so, and that is taken only where everything else of their address is identified.
 */
import type { LaneRequest, SeenHeldSend } from '../operator/index.ts'
import { isStillHeld, releaseSend, type SendRow } from '../resources/sends/store.ts'
import { lockOrganization } from '../store/index.ts'
import { failure } from './failure.ts'
import { changeSend, type SendTools } from './family.ts'

type Shown = Pick<SeenHeldSend, 'receiver' | 'value' | 'token' | 'data'>

/** The held sends among these that no transaction was found to be, each with what the operator says of it. */
export function seeHeldSends(
  rows: readonly SendRow[],
  { pay = [], giveUp = [] }: LaneRequest,
  show: (row: SendRow) => Shown | undefined,
): readonly SeenHeldSend[] {
  const wordOf = (id: string): Pick<SeenHeldSend, 'word'> => {
    if (giveUp.includes(id)) return { word: 'give-up' }
    return pay === 'all' || pay.includes(id) ? { word: 'pay' } : {}
  }
  return rows
    .filter(({ held_by_restore }) => held_by_restore === 1)
    .map((row) => ({ sendId: row.id, activityId: row.activity_id, ...show(row), ...wordOf(row.id) }))
}

/** Does what the operator says of each. */
export async function writeWords(
  tools: SendTools,
  rows: readonly SendRow[],
  sends: readonly SeenHeldSend[],
): Promise<void> {
  for (const { sendId, word } of sends) {
    const row = rows.find(({ id }) => id === sendId)!
    // One organization's at a time: what one operator has signed, another cannot give up.
    if (word === 'pay')
      await tools.database.write(async (tx) => {
        await lockOrganization(tx, row.organization_id)
        await releaseSend(tx, row)
      })
    if (word === 'give-up') {
      const reason = failure('given up by the operator, after the store was put back from a snapshot')
      await changeSend(tools, row, { status: 'FAILED', failure: JSON.stringify(reason) }, async (tx) => {
        if (!(await isStillHeld(tx, row))) throw new Error(`send ${sendId} was released meanwhile, and may be signed`)
      })
    }
  }
}
