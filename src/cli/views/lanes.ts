import { printable } from '../../diagnostics/index.ts'
import { printDecimal } from '../../encoding/index.ts'
import type { SeenHeldSend, SeenLanes, SeenNonce } from '../../service/operator/index.ts'
import { view } from '../screen.ts'

/** A nonce, and the reference of the send of the ledger that its transaction has paid. */
type NamedNonce = SeenNonce & { readonly reference?: string }
type NamedSend = SeenHeldSend & { readonly reference?: string }
type SeenLane = SeenLanes['lanes'][number]
export interface NamedLanes extends Omit<SeenLanes, 'lanes'> {
  readonly lanes: readonly (Omit<SeenLane, 'nonces' | 'sends'> & {
    readonly nonces: readonly NamedNonce[]
    readonly sends: readonly NamedSend[]
  })[]
}

/** What each nonce was used by. A missing row does not compile. */
const WORDS: Readonly<Record<SeenNonce['is'], (one: NamedNonce) => string>> = {
  waits: () => 'not in a block yet: look again later',
  unsettled: () => 'in a block that is not settled yet, or the same as what is still under way here: look again later',
  untold: () => 'the node does not tell by what: serve the chain with a node that keeps old states',
  send: ({ sendId = '', activityId = '' }) =>
    `is send ${sendId} of activity ${activityId}, which is not paid again; where it is another payment, --other says so`,
  authorization: () => 'an authorization of the address, which pays nobody (EIP-7702)',
  foreign: ({ reference }) =>
    reference === undefined
      ? 'sent from elsewhere: no send here asks for it'
      : `has paid \`${printable(reference)}\` of the ledger here, and no send of the service asks for it`,
  other: ({ reference }) =>
    reference === undefined
      ? 'another payment, as you say'
      : `another payment: it has paid \`${printable(reference)}\` of the ledger here`,
}

/** The nonces of each lane that holds still, each with its transaction. */
export const renderLanes = view(
  (
    seen: NamedLanes,
    {
      isWritten = false,
      isAsked = false,
    }: {
      readonly isWritten?: boolean
      /** A question comes next. */
      readonly isAsked?: boolean
    } = {},
  ): string => {
    const unread = seen.unread.map(
      ({ caip2, address, reason }) =>
        `${printable(address)} on ${caip2} could not be looked at: ${printable(reason)}\n`,
    )
    if (seen.lanes.length === 0 && unread.length === 0) return 'No address has sent what is not in the records.\n'
    const lanes = seen.lanes.map(({ caip2, address, nonces, sends, isHeld, reason }) => {
      const why = reason ?? (isWritten ? 'not all of it is identified' : undefined)
      const held = isHeld && why !== undefined ? `; it holds still: ${printable(why)}` : ''
      const rows = nonces.map((one) => `  ${nonceOf(one)}${transaction(one)}${WORDS[one.is](one)}\n`)
      return `${printable(address)} on ${caip2}${held}\n${rows.join('')}${sends.map((one) => heldSend(caip2, one)).join('')}`
    })
    return `${unread.join('')}${lanes.join('')}${isAsked && unread.length === 0 ? '' : endOf(seen, isWritten)}`
  },
)

/** Whether something of a lane is not signed before this command is given again. */
export const isOpen = ({ isHeld, sends }: Pick<SeenLane, 'isHeld' | 'sends'>) =>
  isHeld || sends.some(({ word }) => word === undefined)

/** A send of before a restore that the chain does not have, and what is to become of it. */
function heldSend(caip2: string, one: NamedSend): string {
  const { sendId, activityId, reference, word } = one
  const words = {
    pay: 'is signed',
    'give-up': 'is given up',
    none: 'held back: --pay has it signed, --give-up ended',
  }
  const pays = caip2.startsWith('solana:') ? solanaPayment(one) : ethereumPayment(one)
  const name = reference === undefined ? '' : `, \`${printable(reference)}\` of the ledger here`
  return `  send ${sendId} of activity ${activityId}${name}, open in the snapshot and not in the chain: ${pays}; ${words[word ?? 'none']}\n`
}

/** What was written, what was not, and what to do next. */
function endOf({ lanes, unread }: NamedLanes, isWritten: boolean): string {
  const open = unread.length + lanes.filter(isOpen).length
  const rest =
    unread.length === 0
      ? ''
      : 'Of an address that could not be looked at nothing is known, and nothing of it was written: give the command again when its node answers.\n'
  if (!isWritten) return `${rest}Nothing was written.\n`
  if (open === 0) return 'Written. Sends that waited for this go on.\n'
  return `${rest}Written as far as it is identified; of ${open === 1 ? '1 address' : `${open} addresses`} something is held back, and is not signed: give the command again, later or with the options that are named.\n`
}

/** Transactions of Solana have none. */
const nonceOf = ({ nonce }: SeenNonce) => (nonce === undefined ? '' : `nonce ${nonce}  `)

function transaction(one: SeenNonce): string {
  const { nonce, hash, block } = one
  if (hash === undefined) return ''
  if (nonce === undefined) return `${printable(hash)} in slot ${block}: ${solanaPayment(one)}; `
  return `${printable(hash)} in block ${block}: ${ethereumPayment(one)}; `
}

function ethereumPayment({
  receiver,
  value = '0',
  data = '0x',
}: Pick<SeenNonce, 'receiver' | 'value' | 'data'>): string {
  const pays = receiver ? `${printDecimal(BigInt(value), 18)} ETH to ${printable(receiver)}` : 'creates a contract'
  return data === '0x' ? pays : `${pays}, calling ${printable(data.slice(0, 10))}`
}

function solanaPayment({ receiver, value = '0', token }: Pick<SeenNonce, 'receiver' | 'value' | 'token'>): string {
  if (receiver === undefined) return 'no plain payment'
  const amount =
    token === undefined
      ? `${printDecimal(BigInt(value), 9)} SOL`
      : `${value} of the smallest unit of ${printable(token)}`
  return `${amount} to ${printable(receiver)}`
}
