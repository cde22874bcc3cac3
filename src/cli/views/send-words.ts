/** The parties and the bound of the fee of a send in words: the same before it is asked for and before it is approved. */
import type { FeeCeiling } from '../../../activities/index.ts'
import { printable } from '../../diagnostics/index.ts'
import { printDecimal } from '../../encoding/index.ts'
import { type LamportFee, printAmount, type SendDescription } from '../../sending/index.ts'

/** The bound of a fee in one line: before a send is asked for, and before it is approved. */
export function feeForSender(fee: SendDescription['fee']): string {
  if ('signatureLamports' in fee) return renderLamports(fee)
  const { maxFeePerGas, gasLimit, atMostWei, ceiling } = fee
  const why = whyOf(ceiling)
  const price =
    maxFeePerGas === undefined ? undefined : `${printDecimal(BigInt(maxFeePerGas), 9)} gwei a unit of gas${why}`
  if (atMostWei !== undefined) return `at most ${printDecimal(BigInt(atMostWei), 18)} ETH: ${price}, ${gasLimit} units`
  if (price !== undefined) return `at most ${price}; the service chooses how many units, --gas bounds them`
  if (gasLimit !== undefined)
    return `at most ${gasLimit} units of gas; the service chooses the price, --max-fee bounds it`
  return 'the service chooses; --max-fee and --gas bound it'
}

/** What a fee that nobody said follows from. */
function whyOf(ceiling: FeeCeiling | undefined): string {
  return ceiling === undefined ? '' : ` (${ceilingText(ceiling)}; --max-fee sets another)`
}

function ceilingText({ by, times, capWei, capLamports }: FeeCeiling): string {
  if (by === 'cap') return 'the cap of the chain'
  const cap =
    capLamports === undefined
      ? `${printDecimal(BigInt(capWei ?? 0), 9)} gwei`
      : printAmount(BigInt(capLamports), 'solana')
  // Orders from before the multiple could be set do not say it.
  return times === undefined ? 'by what recent blocks took' : `${times} times what recent blocks took, cap ${cap}`
}

/** What is offered to be preferred is paid in any case: it is no mere bound. */
function renderLamports({ signatureLamports, atMostLamports, ceiling }: LamportFee): string {
  if (atMostLamports === undefined) return 'the service chooses; --max-fee bounds it'
  const [own, most] = [BigInt(signatureLamports), BigInt(atMostLamports)]
  const why = whyOf(ceiling)
  if (most === own) return `${printAmount(own, 'solana')} for the signature${why}`
  const parts = `${printAmount(own, 'solana')} for the signature, ${printAmount(most - own, 'solana')} to be preferred`
  return `${printAmount(most, 'solana')}, all of which is paid: ${parts}${why}`
}

const SERVICE_CHOOSES = 'no ceiling: the service chooses the price of a compute unit'

/** The same for an approver, who can set no other bound. */
export function feeForApprover(fee: SendDescription['fee']): string {
  if ('signatureLamports' in fee) {
    return fee.atMostLamports === undefined ? SERVICE_CHOOSES : renderLamports(fee)
  }
  const { maxFeePerGas, gasLimit, atMostWei, yours } = fee
  const own =
    yours === undefined
      ? ''
      : `; your settings: at most ${printDecimal(BigInt(yours.wei), 9)} gwei, ${ceilingText(yours)}`
  if (maxFeePerGas === undefined) return `no ceiling: the service chooses the price of a unit of gas${own}`
  const price = `${printDecimal(BigInt(maxFeePerGas), 9)} gwei a unit of gas`
  if (atMostWei === undefined) return `at most ${price}${own}`
  return `at most ${printDecimal(BigInt(atMostWei), 18)} ETH: ${price}, ${gasLimit} units${own}`
}

/** An amount in its unit and in its smallest: `1.5 ETH (1500000000000000000 wei)`. */
export function paidText({ text, atomic, atomicUnit }: SendDescription['amount']): string {
  return `${printable(text)} (${atomic} ${atomicUnit})`
}

/** A name with its address, or the address alone. */
export function named({ name, address }: { readonly name?: string; readonly address: string }): string {
  if (name === undefined || name.toLowerCase() === address.toLowerCase()) return address
  return `${printable(name)} (${address})`
}
