/**
 * A send that takes the place of another, for people to ask for: with the same nonce, so that of the two at most one is ever
 * in the chain, and offering more, so that nodes prefer it.
 */
import type { SendOrder } from '../../activities/index.ts'
import { printDecimal } from '../encoding/index.ts'
import type { JsonObject } from '../protocol/index.ts'
import { parseAmount } from './amount.ts'
import type { SignedTransaction } from './signed-transaction.ts'
import { usage } from './usage.ts'

export type Replacement = 'replace' | 'cancel'

/** A transfer of ether between accounts takes exactly this much gas (Yellow Paper, appendix G). */
const TRANSFER_GAS = '21000'

/** The reference of a replacement follows from the old one and the price, so that asking twice is one replacement. */
export function replacementReference(
  reference: string,
  { kind, maxFee }: { kind: Replacement; maxFee: string },
): string {
  return `${reference}/${kind}-${printDecimal(parseAmount(maxFee).atomic, 9)}gwei`
}

/** Makes the send that takes the place of one that is under way. Throws `cli/usage` when it offers too little. */
export function makeReplacement(
  old: SendOrder,
  {
    kind,
    maxFee,
    signed,
    now,
  }: {
    readonly kind: Replacement
    /** With its unit. */
    readonly maxFee: string
    readonly signed: SignedTransaction
    readonly now: number
  },
): SendOrder {
  const { from, caip2, ...call } = old.parameters as JsonObject & { readonly from: string; readonly caip2: string }
  const { atomic: price } = parseAmount(maxFee)
  const least = raised(signed.maxFeePerGas)
  if (price < least) {
    throw usage(
      `${printDecimal(price, 9)} gwei is too little: the transaction that waits offers ${printDecimal(signed.maxFeePerGas, 9)} gwei`,
      `nodes take a replacement for an eighth more: give --max-fee ${printDecimal(least, 9)}gwei or above`,
    )
  }
  const offer = {
    nonce: signed.nonce.toString(),
    maxFeePerGas: price.toString(),
    // Never above the price: before it was not either, and both are raised alike.
    maxPriorityFeePerGas: raised(signed.maxPriorityFeePerGas).toString(),
  }
  const parameters =
    kind === 'replace'
      ? { from, caip2, ...call, ...offer, gasLimit: signed.gas.toString() }
      : { from, caip2, to: from, value: '0', ...offer, gasLimit: TRANSFER_GAS }
  // It is under another reference, whose body has another time, and its fee is said.
  const { bodyTimeMs: _, feeCeiling: __, ...rest } = old
  return {
    ...rest,
    reference: replacementReference(old.reference, { kind, maxFee }),
    replaces: old.reference,
    parameters,
    ...(kind === 'cancel' ? { to: old.from, amount: '0 ETH' } : {}),
    orderedAt: new Date(now).toISOString(),
  }
}

/** geth wants a tenth more of both prices, other nodes an eighth. */
function raised(price: bigint): bigint {
  return (price * 9n + 7n) / 8n + 1n
}
