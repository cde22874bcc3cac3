/**
 * The lane of an address: its nonces on one chain. INVARIANT: a nonce is chosen only if the store knows the transactions of all lower
 * nonces. If the store was restored from a backup, or the key signs elsewhere too, the chain is ahead of the store, and a send that the
 * store has as unsent may be paid already. Then nothing is signed until an operator has had the transactions with those nonces
 * identified (`lane-desk.ts`).
 */
import { RECONCILE_COMMAND } from '../../protocol/index.ts'
import {
  type ForeignTransactionRow,
  findNextNonce,
  type Lane,
  listUnclaimed,
  putNextNonce,
  readLaneRestoredAt,
  readOrganizationsRestoredAt,
} from '../resources/sends/lanes-store.ts'
import { putKnownSince } from '../resources/sends/solana-lanes-store.ts'
import type { SendRow } from '../resources/sends/store.ts'
import type { Transaction } from '../store/index.ts'
import type { EthereumTools } from './ethereum-tools.ts'
import { readSendRequest } from './request.ts'

/** Why a send is not signed. `later`: the sends after it in the lane wait too; `waits`: it waits alone. */
export interface Hold {
  readonly as: 'later' | 'waits'
  readonly reason: string
}

/** The nonces of a lane that the chain has used and no send of this store was signed with: `from` to the one before `end`. */
export interface UnknownNonces {
  readonly from: number
  readonly end: number
}

/** Finds the unknown nonces of a lane. Without any record a lane begins at the chain's next nonce, or at 0 if its records were restored. */
export async function findUnknown(
  tx: Transaction,
  { chain, lane, next }: Pick<EthereumTools, 'chain'> & { readonly lane: Lane; readonly next: bigint },
): Promise<UnknownNonces | undefined> {
  if (chain.unknownNonces === 'follow') return undefined
  const known =
    (await findNextNonce(tx, lane)) ?? ((await readLaneRestoredAt(tx, lane)) === undefined ? Number(next) : 0)
  return next > BigInt(known) ? { from: known, end: Number(next) } : undefined
}

/** Says why the service chooses no nonce for a send; undefined if it may. @param next the next nonce by the chain */
export async function holdOf(tools: EthereumTools, row: SendRow, next: bigint): Promise<Hold | undefined> {
  const { chain, database } = tools
  return database.read(async (tx): Promise<Hold | undefined> => {
    const unknown = await findUnknown(tx, { chain, lane: row, next })
    if (unknown !== undefined) return { as: 'later', reason: unknownReason(row, unknown) }
    const same = (await listUnclaimed(tx, row)).find((foreign) => paysAs(row, foreign))
    if (same !== undefined) return { as: 'waits', reason: sameReason(same) }
    const isHeld = row.held_by_restore === 1 && chain.unknownNonces !== 'follow'
    return isHeld ? { as: 'waits', reason: heldReason(row) } : undefined
  })
}

/** Notes that a send was signed with a nonce, and what it authorizes of an account with another (EIP-7702). */
export async function noteSigned(
  tx: Transaction,
  { caip2, sender, account, organization_id }: SendRow,
  signed: { readonly nonce: number; readonly authorizes?: { readonly account: string; readonly nonce: bigint } },
): Promise<void> {
  const { nonce, authorizes } = signed
  // The key of one that only pays is no organization's.
  await raise(tx, { caip2, sender }, { nonce, tenants: account === null ? [organization_id] : [] })
  if (authorizes === undefined) return
  const lane = { caip2, sender: authorizes.account }
  await raise(tx, lane, { nonce: Number(authorizes.nonce), tenants: [organization_id] })
}

/** Raises the lane's next known nonce past this one, unless lower nonces are unknown. */
async function raise(
  tx: Transaction,
  lane: Lane,
  { nonce, tenants }: { readonly nonce: number; readonly tenants: readonly string[] },
): Promise<void> {
  const known = await findNextNonce(tx, lane)
  if (known !== undefined && known < nonce) return
  await putNextNonce(tx, lane, Math.max(known ?? 0, nonce + 1))
  const restoredAt = await readOrganizationsRestoredAt(tx, () => tenants)
  if (restoredAt !== undefined) await putKnownSince(tx, lane, restoredAt)
}

/** Whether a transaction does what a send asks for, so that both would be the same payment twice. */
export function paysAs({ request }: Pick<SendRow, 'request'>, foreign: Payment): boolean {
  const asked = readSendRequest(request)
  switch (asked.kind) {
    case undefined:
      return asked.to === foreign.receiver && asked.value === foreign.value && asked.data === foreign.data
    case 'execution':
      // The signature, nonce and deadline of an execution differ each time, so its calls are looked for in the data.
      return asked.calls.every(({ to, value, data }) =>
        [to.slice(2), BigInt(value).toString(16).padStart(64, '0'), data.slice(2)].every((part) =>
          foreign.data.includes(part),
        ),
      )
    // An `undelegate` pays nobody, and the signer of a `raw` one has set its nonce.
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

/** Why a send that was open in a snapshot is not signed once it is known what else the chain has. */
export function heldReason({ id }: Pick<SendRow, 'id'>): string {
  return `the records here were put back, or found behind the chain, while it was open, and the chain does not say whether it was given up, cancelled or replaced since: ${RECONCILE_COMMAND} with \`--pay ${id}\` has it signed, with \`--give-up ${id}\` ended`
}

function unknownReason({ sender }: Lane, { from, end }: UnknownNonces): string {
  const which = end - from === 1 ? `nonce ${from} of ${sender} was` : `nonces ${from} to ${end - 1} of ${sender} were`
  return `${which} used by what is not in the records here: nothing is signed until ${RECONCILE_COMMAND} has identified it`
}

function sameReason({ hash, sender, nonce }: ForeignTransactionRow): string {
  return `transaction ${hash} of ${sender} with nonce ${nonce}, which was sent from elsewhere, does the same: ${RECONCILE_COMMAND} says whether it is this send`
}
