/**
 * Sends that are in a block, until that block is settled. INVARIANT: a send is taken back when a node whose head has reached the
 * height of its block has it in no block, twice, the second time at a later head; then the same bytes are offered again.
 */
import { isFinal } from '../chains/index.ts'
import { listAttempts, type SendRow, updateUnsettled } from '../resources/sends/store.ts'
import type { EthereumTools } from './ethereum-tools.ts'
import { apart, type ChainFamily, reopenSend } from './family.ts'
import { findIncludedForm, isWitnessed } from './included.ts'

/** Creates what looks back at the included sends of a chain. */
export function createSettlement(tools: EthereumTools): Required<Pick<ChainFamily, 'lookBack'>> {
  const { chain, node, clock, database } = tools
  const lastHeads = new Map<string, bigint>()
  /** By the send: the head at which it was first in no block. */
  const missingSince = new Map<string, bigint>()

  async function lookBack(sender: string, included: readonly SendRow[]): Promise<void> {
    const head = await node.blockNumber()
    if (lastHeads.get(sender) === head) return
    for (const row of included) await apart(tools, row, () => lookAt(row, head))
    lastHeads.set(sender, head)
  }

  async function lookAt(row: SendRow, head: bigint): Promise<void> {
    const number = BigInt(row.unsettled_block!)
    if (head < number) return
    const attempts = await database.read((tx) => listAttempts(tx, row))
    const found = await findIncludedForm(node, row, attempts)
    if (found?.receipt.blockNumber === number && found.attempt.hash === row.hash) {
      missingSince.delete(row.id)
      const isSettled = isFinal(chain, { number, latest: head })
      if (!isSettled || !(await isWitnessed(tools, { hash: row.hash, blockNumber: number }))) return
      await database.write((tx) => updateUnsettled(tx, row, { unsettled_block: null, updated_at: clock() }))
      return
    }
    const since = missingSince.get(row.id)
    if (since === undefined) missingSince.set(row.id, head)
    else if (head > since) {
      missingSince.delete(row.id)
      tools.logger.warn('a block was taken back', {
        caip2: row.caip2,
        sendId: row.id,
        hash: row.hash,
        block: String(number),
      })
      await reopenSend(tools, row)
    }
  }

  return { lookBack }
}
