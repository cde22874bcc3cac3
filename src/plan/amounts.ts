/** Amounts in the conditions of policies, which are in wei, also in ether. */

/** Below it, wei are the shorter of the two. */
const LEAST_WEI = 10n ** 12n
const WEI = 10n ** 18n
const COMPARED = /\beth\.tx\.value\s*(?:[<>]=?|[=!]=)\s*(\d+)\b/g

/** `0.5 ETH`, exactly; of little `5 wei`. */
export function etherText(wei: bigint): string {
  if (wei < LEAST_WEI) return `${wei} wei`
  const rest = (wei % WEI).toString().padStart(18, '0').replace(/0+$/, '')
  return `${wei / WEI}${rest === '' ? '' : `.${rest}`} ETH`
}

/** ` (0.5 ETH)` of a text that compares `eth.tx.value` with 500000000000000000; empty where nothing of the kind is compared. */
export function amountNote(text: string): string {
  const amounts = [...text.matchAll(COMPARED)].map(([, wei]) => BigInt(wei!)).filter((wei) => wei >= LEAST_WEI)
  return amounts.length === 0 ? '' : ` (${[...new Set(amounts)].map(etherText).join(', ')})`
}
