/** Amounts in the conditions of policies, which are in wei and lamports, also in ether and SOL. */
import { parse, readsOf } from '../policy/index.ts'

/** Of each field that holds an amount, how it is told. */
const AMOUNTS: ReadonlyMap<string, (atomic: bigint) => string | undefined> = new Map([
  ['eth.tx.value', (wei) => inCoins(wei, { decimals: 18, coin: 'ETH' })],
  ['solana.tx.transfers.amount', (lamports) => inCoins(lamports, { decimals: 9, coin: 'SOL' })],
])
/** Below so many decimals of a coin, the atomic unit is the shorter of the two. */
const DECIMALS_SHOWN = 6

/** `0.5 ETH`, exactly; of little `5 wei`. */
export function etherText(wei: bigint): string {
  return inCoins(wei, { decimals: 18, coin: 'ETH' }) ?? `${wei} wei`
}

/** ` (0.5 ETH)` of a text that compares `eth.tx.value` with 500000000000000000; empty where nothing of the kind is compared. */
export function amountNote(text: string): string {
  return amountNotes(text)(text)
}

/** The same for each line of an expression: a line alone does not say what its numbers are compared with. */
export function amountNotes(expression: string): (line: string) => string {
  const { tree } = parse(expression)
  if (!tree) return () => ''
  const { numbers } = readsOf(tree)
  const known = new Map(
    [...AMOUNTS].flatMap(([chain, told]) =>
      [...(numbers.get(chain) ?? [])].flatMap((atomic) => {
        const said = told(atomic)
        return said === undefined ? [] : [[String(atomic), said] as const]
      }),
    ),
  )
  return (line) => {
    const said = new Set((line.match(/\d+/g) ?? []).flatMap((digits) => known.get(digits) ?? []))
    return said.size === 0 ? '' : ` (${[...said].join(', ')})`
  }
}

function inCoins(atomic: bigint, { decimals, coin }: { readonly decimals: number; readonly coin: string }) {
  if (atomic < 10n ** BigInt(decimals - DECIMALS_SHOWN)) return undefined
  const one = 10n ** BigInt(decimals)
  const rest = (atomic % one).toString().padStart(decimals, '0').replace(/0+$/, '')
  return `${atomic / one}${rest === '' ? '' : `.${rest}`} ${coin}`
}
