/**
 * Sends that are in a block, until that block is settled. INVARIANT: a send is taken back when a node whose head has reached the
 * height of its block has it in no block, or with another outcome, twice, the second time at a later head; then it is open again.
 */
import { isFinal } from '../chains/index.ts'
import { listAttempts, type SendRow } from '../resources/sends/store.ts'
import type { EthereumTools } from './ethereum-tools.ts'
import { type ChainFamily, reopenSend, settleSend } from './family.ts'
import { findIncludedForm, isWitnessed } from './included.ts'
import { createLaneRound } from './lane-round.ts'

/** Creates what looks back at the included sends of a chain. */
export function createSettlement(tools: EthereumTools): Required<Pick<ChainFamily, 'lookBack'>> {
  const { chain, node, database } = tools
  const round = createLaneRound(tools)
  const lastHeads = new Map<string, bigint>()
  /** By the send: the hash of the block in which it was found. While the chain has that block, it is in there. */
  const foundIn = new Map<string, string>()
  /** By the send: the head at which it was first in no block. */
  const missingSince = new Map<string, bigint>()

  async function lookBack(sender: string, included: readonly SendRow[]): Promise<void> {
    const head = await node.blockNumber()
    if (lastHeads.get(sender) === head) return
    // However many sends a block has, it is asked for once.
    const hashes = new Map<bigint, string | undefined>()
    await round(included, async (row) => {
      const number = BigInt(row.unsettled_block!)
      if (head < number) return
      if (!hashes.has(number)) hashes.set(number, (await node.blockHead(number))?.hash)
      await lookAt(row, { head, number, blockHash: hashes.get(number) })
    })
    lastHeads.set(sender, head)
  }

  async function lookAt(
    row: SendRow,
    {
      head,
      number,
      blockHash,
    }: { readonly head: bigint; readonly number: bigint; readonly blockHash: string | undefined },
  ): Promise<void> {
    const isSettled = isFinal(chain, { number, latest: head })
    const succeeded = row.failure === null
    if (await isIn(row, { number, blockHash, isSettled })) {
      missingSince.delete(row.id)
      if (!isSettled || !(await isWitnessed(tools, { hash: row.hash!, blockNumber: number, succeeded }))) return
      await settleSend(tools, row)
      foundIn.delete(row.id)
      return
    }
    const since = missingSince.get(row.id)
    if (since === undefined) missingSince.set(row.id, head)
    else if (head > since) {
      missingSince.delete(row.id)
      foundIn.delete(row.id)
      tools.logger.warn('what was told of a block is not so', {
        caip2: row.caip2,
        sendId: row.id,
        hash: row.hash,
        block: String(number),
      })
      await reopenSend(tools, row)
    }
  }

  async function isIn(
    row: SendRow,
    {
      number,
      blockHash,
      isSettled,
    }: { readonly number: bigint; readonly blockHash: string | undefined; readonly isSettled: boolean },
  ): Promise<boolean> {
    const succeeded = row.failure === null
    // What was reverted is asked for at each head, and all once more before it is settled: an answer may have been false.
    const isKnown = succeeded && !isSettled && blockHash !== undefined
    if (isKnown && foundIn.get(row.id) === blockHash) return true
    const attempts = await database.read((tx) => listAttempts(tx, row))
    const found = await findIncludedForm(node, row, attempts)
    if (found?.receipt.blockNumber !== number || found.attempt.hash !== row.hash) return false
    if (found.receipt.succeeded !== succeeded) return false
    foundIn.set(row.id, found.receipt.blockHash)
    return true
  }

  return { lookBack }
}
