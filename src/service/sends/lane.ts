/**
 * The lane of an address: its nonces on one chain. INVARIANT: a nonce is chosen where the transactions of all lower ones are
 * known here. A store that was restored, or whose key signs elsewhere too, is behind the chain, and what it takes for unsent may
 * be paid: then nothing is signed until an operator has had what used the nonces identified (`lane-desk.ts`).
 */
import {
  type ForeignTransactionRow,
  findNextNonce,
  type Lane,
  listUnclaimed,
  putNextNonce,
  readRestoredAt,
} from '../resources/sends/lanes-store.ts'
import type { SendRow } from '../resources/sends/store.ts'
import type { Transaction } from '../store/index.ts'
import type { EthereumTools } from './ethereum-tools.ts'
import { readSendRequest } from './request.ts'

/** Why a send is not signed; `later` holds up all that comes after it, `waits` itself alone. */
export interface Hold {
  readonly as: 'later' | 'waits'
  readonly reason: string
}

/** The nonces of a lane that are used, and that no send here was signed with: from the first to the one before `end`. */
export interface UnknownNonces {
  readonly from: number
  readonly end: number
}

/** Finds them. A lane of which nothing is known begins where its chain is, unless the store was restored. */
export async function findUnknown(
  tx: Transaction,
  { chain, lane, next }: Pick<EthereumTools, 'chain'> & { readonly lane: Lane; readonly next: bigint },
): Promise<UnknownNonces | undefined> {
  if (chain.unknownNonces === 'follow') return undefined
  const known = (await findNextNonce(tx, lane)) ?? ((await readRestoredAt(tx)) === undefined ? Number(next) : 0)
  return next > BigInt(known) ? { from: known, end: Number(next) } : undefined
}

/** Says why a send cannot have a nonce of the service's; nothing where it can. `next` is the chain's. */
export async function holdOf(tools: EthereumTools, row: SendRow, next: bigint): Promise<Hold | undefined> {
  const { chain, database } = tools
  return database.read(async (tx): Promise<Hold | undefined> => {
    const unknown = await findUnknown(tx, { chain, lane: row, next })
    if (unknown !== undefined) return { as: 'later', reason: unknownReason(row, unknown) }
    const same = (await listUnclaimed(tx, row)).find((foreign) => paysAs(row, foreign))
    return same && { as: 'waits', reason: sameReason(same) }
  })
}

/** Notes that a send was signed with a nonce, and what it authorizes of an account with another (EIP-7702). */
export async function noteSigned(
  tx: Transaction,
  { caip2, sender }: Lane,
  signed: { readonly nonce: number; readonly authorizes?: { readonly account: string; readonly nonce: bigint } },
): Promise<void> {
  const { nonce, authorizes } = signed
  await raise(tx, { caip2, sender }, nonce)
  if (authorizes !== undefined) await raise(tx, { caip2, sender: authorizes.account }, Number(authorizes.nonce))
}

/** A lane that is known up to a nonce is known beyond it; one that is behind stays that. */
async function raise(tx: Transaction, lane: Lane, nonce: number): Promise<void> {
  const known = await findNextNonce(tx, lane)
  if (known === undefined || known >= nonce) await putNextNonce(tx, lane, Math.max(known ?? 0, nonce + 1))
}

/** Whether a transaction does what a send asks for, so that both would be the same payment twice. */
export function paysAs({ request }: Pick<SendRow, 'request'>, foreign: Payment): boolean {
  const asked = readSendRequest(request)
  switch (asked.kind) {
    case undefined:
      return asked.to === foreign.receiver && asked.value === foreign.value && asked.data === foreign.data
    case 'execution':
      // Its signature, nonce and deadline are others each time; each call is in there with its receiver and value.
      return asked.calls.every(({ to, value, data }) =>
        [to.slice(2), BigInt(value).toString(16).padStart(64, '0'), data.slice(2)].every((part) =>
          foreign.data.includes(part),
        ),
      )
    // It pays nobody, or its signer has fixed the nonce.
    case 'undelegate':
    case 'raw':
      return false
    default:
      return asked satisfies never
  }
}

/** What a transaction does: lower case, decimal, hex with `0x`. */
export type Payment = Pick<ForeignTransactionRow, 'receiver' | 'value' | 'data'>

/** What is kept of a transaction that no send here was signed as. */
export function toForeign(
  { caip2, sender }: Lane,
  used: {
    readonly nonce: number
    readonly hash: string
    readonly blockNumber: bigint
    readonly payment: Payment
  },
) {
  const { nonce, hash, blockNumber, payment } = used
  return { caip2, sender, nonce, hash, block: Number(blockNumber), ...payment }
}

function unknownReason({ sender }: Lane, { from, end }: UnknownNonces): string {
  const which = end - from === 1 ? `nonce ${from} of ${sender} was` : `nonces ${from} to ${end - 1} of ${sender} were`
  return `${which} used by what is not in the records here: nothing is signed until \`quorate sends reconcile\` has identified it`
}

function sameReason({ hash, sender, nonce }: ForeignTransactionRow): string {
  return `transaction ${hash} of ${sender} with nonce ${nonce}, which was sent from elsewhere, does the same: \`quorate sends reconcile\` says whether it is this send`
}
