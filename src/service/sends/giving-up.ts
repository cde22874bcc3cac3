/**
 * Giving a send up before it is signed. INVARIANT: a send that a node says would fail is given up when the node says the same again at a
 * later head, and each further node says that it would fail too; until then it waits, and others go on.
 */
import type { Wire } from '../../protocol/index.ts'
import { type ChainNode, isNodeFault } from '../nodes/index.ts'
import type { SendRow } from '../resources/sends/store.ts'
import { createDoubts } from './doubts.ts'
import { noteWait, type SendTools } from './family.ts'

/** Why a send would fail. */
export interface SendRefusal {
  readonly failure: Wire.TxError
}

/** What comes of a send before it is signed; nothing is signed and nothing is handed over in finding it out. */
type Prepare = (row: SendRow, witness: ChainNode) => Promise<object | string>

export const isSendRefusal = (made: object | string): made is SendRefusal =>
  typeof made === 'object' && 'failure' in made

/** Creates what decides upon a refusal; `head` tells how far the chain is, `prepare` what a further node says. */
export function createGivingUp(
  tools: SendTools & { readonly chain: { readonly pollMs: number; readonly witnesses: readonly ChainNode[] } },
  { head, prepare }: { readonly head: () => Promise<bigint | number>; readonly prepare: Prepare },
) {
  const doubts = createDoubts(tools.chain)

  /** Why a further node does not bear a refusal out; nothing where all do. */
  async function findDissent(row: SendRow): Promise<string | undefined> {
    for (const witness of tools.chain.witnesses) {
      try {
        if (!isSendRefusal(await prepare(row, witness))) return 'a further node does not say so'
      } catch (error) {
        if (!isNodeFault(error)) throw error
        return 'a further node gives no answer'
      }
    }
    return undefined
  }

  return {
    /** Forgets what was said of a send before. */
    drop: ({ id }: SendRow) => doubts.drop(id),
    /** The refusal where it counts; otherwise the send says why it waits. */
    async judge(row: SendRow, refusal: SendRefusal): Promise<SendRefusal | 'waits'> {
      const { message = 'it does not say why' } = refusal.failure
      const isSaidAgain = doubts.isSaidAgain(row.id, { head: await head(), what: withoutNumbers(message) })
      const dissent = isSaidAgain ? await findDissent(row) : 'the node is asked again'
      if (dissent === undefined) {
        doubts.drop(row.id)
        return refusal
      }
      await noteWait(tools, row, `a node refuses it before it is signed, and ${dissent}: ${message}`)
      return 'waits'
    },
  }
}

/** What a node says of funds, gas and blocks differs from head to head. */
const withoutNumbers = (message: string) => message.replace(/0x[\da-f]+|\d+/gi, '')
