/** The parties and the bound of the fee of a send in words: the same before it is asked for and before it is approved. */
import type { FeeCeiling } from '../../../activities/index.ts'
import { printable } from '../../diagnostics/index.ts'
import { printDecimal } from '../../encoding/index.ts'
import { type LamportFee, printAmount, type SendDescription } from '../../sending/index.ts'

/** The bound of a fee in one line: before a send is asked for, and before it is approved. */
export function feeForSender(fee: SendDescription['fee']): string {
  if ('signatureLamports' in fee) return renderLamports(fee)
  const { maxFeePerGas, gasLimit, atMostWei, by } = fee
  const why = by === undefined ? '' : BY[by]
  const price =
    maxFeePerGas === undefined ? undefined : `${printDecimal(BigInt(maxFeePerGas), 9)} gwei a unit of gas${why}`
  if (atMostWei !== undefined) return `at most ${printDecimal(BigInt(atMostWei), 18)} eth: ${price}, ${gasLimit} units`
  if (price !== undefined) return `at most ${price}; the service chooses how many units, --gas bounds them`
  if (gasLimit !== undefined)
    return `at most ${gasLimit} units of gas; the service chooses the price, --max-fee bounds it`
  return 'the service chooses; --max-fee and --gas bound it'
}

const BY: Readonly<Record<FeeCeiling['by'], string>> = {
  blocks: ' (by what recent blocks took; --max-fee sets another)',
  cap: ' (the cap of the chain; --max-fee sets another)',
}

/** What is offered to be preferred is paid in any case: it is no mere bound. */
function renderLamports({ signatureLamports, atMostLamports }: LamportFee): string {
  if (atMostLamports === undefined) return 'the service chooses; --max-fee bounds it'
  const [own, most] = [BigInt(signatureLamports), BigInt(atMostLamports)]
  if (most === own) return `${printAmount(own, 'solana')} for the signature`
  const parts = `${printAmount(own, 'solana')} for the signature, ${printAmount(most - own, 'solana')} to be preferred`
  return `${printAmount(most, 'solana')}, all of which is paid: ${parts}`
}

/** The same for an approver, who can set no other bound. */
export function feeForApprover(fee: SendDescription['fee']): string {
  if ('signatureLamports' in fee) return renderLamports(fee)
  const { maxFeePerGas, gasLimit, atMostWei } = fee
  if (maxFeePerGas === undefined) return 'no ceiling: the service chooses the price of a unit of gas'
  const price = `${printDecimal(BigInt(maxFeePerGas), 9)} gwei a unit of gas`
  if (atMostWei === undefined) return `at most ${price}`
  return `at most ${printDecimal(BigInt(atMostWei), 18)} eth: ${price}, ${gasLimit} units`
}

/** A name with its address, or the address alone. */
export function named({ name, address }: { readonly name?: string; readonly address: string }): string {
  if (name === undefined || name.toLowerCase() === address.toLowerCase()) return address
  return `${printable(name)} (${address})`
}
