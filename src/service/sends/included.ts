/** Where a transaction is in the chain, as far as what a node says agrees with itself. */
import { createEthereumNode, type EthereumNode, type Receipt } from '../nodes/index.ts'
import type { SendAttemptRow, SendRow } from '../resources/sends/store.ts'
import type { EthereumTools } from './ethereum-tools.ts'

export interface Included {
  readonly attempt: SendAttemptRow
  readonly receipt: Receipt
}

/**
 * Finds the signed form of a send that is in a block. A receipt counts when it is of that form's hash, sent by its sender, and
 * its block is the one that the chain has at its height. Throws as `ChainNode` does.
 */
export async function findIncludedForm(
  node: EthereumNode,
  { sender }: Pick<SendRow, 'sender'>,
  attempts: readonly SendAttemptRow[],
): Promise<Included | undefined> {
  for (const attempt of attempts) {
    const receipt = await node.receipt(attempt.hash)
    if (receipt === undefined || receipt.from.toLowerCase() !== sender.toLowerCase()) continue
    const block = await node.blockHead(receipt.blockNumber)
    if (block?.hash === receipt.blockHash) return { attempt, receipt }
  }
  return undefined
}

/**
 * Whether each further node has a transaction in the same block, and with the same outcome where one is given. One that cannot be
 * asked has not agreed.
 */
export async function isWitnessed(
  { chain }: Pick<EthereumTools, 'chain'>,
  {
    hash,
    blockNumber,
    succeeded,
  }: { readonly hash: string; readonly blockNumber: bigint; readonly succeeded?: boolean },
): Promise<boolean> {
  const said = await Promise.all(
    chain.witnesses.map((witness) =>
      createEthereumNode(witness)
        .receipt(hash)
        .catch(() => undefined),
    ),
  )
  return said.every(
    (receipt) => receipt?.blockNumber === blockNumber && (succeeded === undefined || receipt.succeeded === succeeded),
  )
}
