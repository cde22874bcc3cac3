/**
 * The most that a transaction on Solana may offer for a compute unit: a multiple of what recent slots took in the median, and never above
 * a cap for all of its fee (price × limit, and the signatures). What is offered is paid there, so the cap is what a send costs at most.
 */
import { encodeHex } from '../encoding/index.ts'
import { solanaSendBytes } from './transactions/send.ts'
import { encodeSolanaPayment, readSolanaPayment, solanaBudgetWithin } from './transactions/solana-payment.ts'
import { SOLANA_SIGNATURE_FEE } from './transactions/solana-sponsorship.ts'

/** Where nobody has offered anything of late: what is taken for usual is never less, in millionths of a lamport for a unit. */
const LEAST_USUAL_PRICE = 10_000n
const MILLIONTHS = 1_000_000n

/** The cap of a payment's whole fee where nobody says another: 0.00002 SOL, four times its signature. An own choice. */
export const SOLANA_PAYMENT_CAP = 20_000n

/** The median of what was paid for a unit of late; undefined where nothing is known. */
export function usualUnitPriceOf(recent: readonly number[]): bigint | undefined {
  const middle = recent.toSorted((one, other) => one - other)[Math.floor(recent.length / 2)]
  return middle === undefined ? undefined : BigInt(middle)
}

/** The most for a unit by what is usual. */
export function mostOfUnitPrice(usual: bigint, times: number): bigint {
  return BigInt(times) * (usual > LEAST_USUAL_PRICE ? usual : LEAST_USUAL_PRICE)
}

/** The highest price at which so many units cost no more than so many lamports. */
export function unitPriceWithin(lamports: bigint, units: number): bigint {
  return lamports <= 0n ? 0n : (lamports * MILLIONTHS) / BigInt(units)
}

/** The whole fee of a payment at a price for a unit, in lamports, as its signature and the units that it is given cost. */
export function solanaPaymentFee(transaction: string, unitPrice: bigint): bigint {
  const payment = readSolanaPayment(solanaSendBytes({ unsignedTransaction: transaction }))
  if (payment === undefined) throw new TypeError('the transaction is no payment')
  const { unitLimit } = solanaBudgetWithin(SOLANA_PAYMENT_CAP, payment)!
  return SOLANA_SIGNATURE_FEE + (BigInt(unitLimit) * unitPrice + MILLIONTHS - 1n) / MILLIONTHS
}

/** The same payment for a fee of so many lamports; without them it has no compute budget. Hex of its transaction, as is given. */
export function withSolanaFee(transaction: string, maxFee: bigint | undefined): string {
  const payment = readSolanaPayment(solanaSendBytes({ unsignedTransaction: transaction }))
  if (payment === undefined) return transaction
  return encodeHex(encodeSolanaPayment(payment, maxFee === undefined ? {} : solanaBudgetWithin(maxFee, payment)))
}
