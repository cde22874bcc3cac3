/** What a transaction on Ethereum does: it pays ether, pays a token, or calls a contract. */
import { encodeTransfer } from '../chain/index.ts'
import { parseAmount, parseAssetAmount } from './amount.ts'
import type { NamedAsset, Target, TargetRequest } from './target.ts'
import { inField, usage } from './usage.ts'

/** The wanted call, as a person asks for it. */
export interface CallRequest extends TargetRequest {
  /** With its unit; may be absent where `data` is given. */
  readonly amount?: string
  /** Bytes for a contract, hex with `0x`. */
  readonly data?: string
}

/** A call as it goes into the parameters of a send, and its amount for people. */
interface Call {
  readonly caip2: string
  readonly to: string
  readonly value: string
  readonly data?: string
  readonly amount: string
}

/** The receiver, with the name that was asked for. */
export interface Receiver {
  readonly name: string
  readonly address: string
}

/** Makes the call that a request asks for. Throws `cli/usage`. */
export function makeCall(
  { amount, data }: CallRequest,
  { receiver, target: { caip2, token } }: { readonly receiver: Receiver; readonly target: Target },
): Call {
  if (amount === undefined && data === undefined) throw expectedAmount()
  if (token !== undefined) return makeTransfer(amount!, { token, receiver })
  const { text, atomic } = inField('amount', () => parseAmount(amount ?? '0ETH'))
  if (data === undefined) assertPays({ atomic, text, receiver })
  const call = { caip2, to: receiver.address, value: atomic.toString(), amount: text }
  if (data === undefined) return call
  if (!/^0x(?:[0-9a-fA-F]{2})+$/.test(data)) {
    throw usage(
      `expected --data to be hex of whole bytes with 0x, got \`${data.slice(0, 40)}\``,
      'see `quorate send --help`',
      'data',
    )
  }
  return { ...call, data: data.toLowerCase() }
}

/** The error of a payment without an amount. */
export function expectedAmount(): Error {
  return usage('expected --amount', 'see `quorate send --help`', 'amount')
}

/** The error of a payment to a token itself. `what` is what holds the token's place on its chain. */
export function paysToken(what: 'contract' | 'mint', { name }: NamedAsset, receiver: Receiver): Error {
  return usage(
    `\`${receiver.name}\` is the ${what} of \`${name}\` itself`,
    'what is paid to it is lost; name who is to have it',
    'to',
  )
}

function makeTransfer(
  written: string,
  { token, receiver }: { readonly token: NamedAsset; readonly receiver: Receiver },
): Call {
  const { chain, address } = token.asset
  if (receiver.address.toLowerCase() === address.toLowerCase()) throw paysToken('contract', token, receiver)
  const { text, atomic } = inField('amount', () => parseAssetAmount(written, token))
  assertPays({ atomic, text, receiver })
  const data = encodeTransfer(receiver.address, atomic)
  return { caip2: chain, to: address, value: '0', data, amount: text }
}

/** Refuses the zero address as receiver and an amount of 0: nobody means these. Throws `cli/usage`. */
export function assertPays({
  atomic,
  text,
  receiver,
}: {
  readonly atomic: bigint
  readonly text: string
  readonly receiver: Receiver
}): void {
  if (atomic === 0n) throw usage(`--amount \`${text}\` pays nothing`, 'say how much is to be paid', 'amount')
  if (/^0x0+$/.test(receiver.address)) {
    throw usage(
      `\`${receiver.address}\` is nobody's address`,
      'what is paid to it is lost; name who is to have it',
      'to',
    )
  }
}
