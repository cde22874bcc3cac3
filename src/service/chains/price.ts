import { parseDecimal } from '../../encoding/index.ts'
import { currencyOf } from './currency.ts'

/** Dollars are counted in millionths. */
export const USD_PLACES = 6

/**
 * Says what an amount of a chain's currency is worth, in millionths of a dollar, by the price that is set for it.
 * Undefined without a price, and where the chain has no currency.
 */
export function valueInUsd(
  { caip2, usdPrice }: { readonly caip2: string; readonly usdPrice?: string },
  amount: bigint,
  rounded: 'up' | 'down',
): bigint | undefined {
  const currency = currencyOf(caip2)
  const price = usdPrice === undefined ? undefined : parseDecimal(usdPrice, USD_PLACES)
  if (currency === undefined || price === undefined) return undefined
  const unit = 10n ** BigInt(currency.decimals)
  return (amount * price + (rounded === 'up' ? unit - 1n : 0n)) / unit
}
