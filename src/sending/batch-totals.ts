import { namespaceOf } from '../chain/index.ts'
import type { QueryClient } from '../client/index.ts'
import { printDecimal } from '../encoding/index.ts'
import type { Wire } from '../protocol/index.ts'
import { printAmount } from './amount.ts'
import type { OrderedRow } from './batch-orders.ts'
import { caip19Of, isAsset } from './caip19.ts'
import { chainOf, type Directory, senderOf } from './order.ts'

/** The sum that one sender pays in one asset on one chain, over all rows. */
export interface BatchTotal {
  readonly from: string
  readonly address: string
  readonly chain: string
  readonly rows: number
  /** In its unit, and in its smallest. */
  readonly amount: { readonly text: string; readonly atomic: string }
  /** The sender's balance now; absent where the API does not tell it. Fees come on top. */
  readonly funds?: { readonly text: string; readonly atomic: string }
}

/** Sums up what is paid, by sender, chain and token. */
export function sumUp(rows: readonly OrderedRow[], { assets }: Pick<Directory, 'assets'>): readonly TotalOf[] {
  const groups = Map.groupBy(rows, ({ order, description }) =>
    JSON.stringify([senderOf(order), chainOf(order), description.token?.address ?? '']),
  )
  return [...groups.values()].map((group) => {
    const { order, description } = group[0]!
    const token = description.token?.name === undefined ? undefined : assets[description.token.name]
    const print = (atomic: bigint) => ({
      text: token
        ? `${printDecimal(atomic, token.decimals)} ${token.symbol}`
        : printAmount(atomic, namespaceOf(chainOf(order))!),
      atomic: atomic.toString(),
    })
    const amount = print(group.reduce((sum, one) => sum + BigInt(one.description.amount.atomic), 0n))
    const address = senderOf(order)
    const total = { from: order.from, address, chain: chainOf(order), rows: group.length, amount }
    return { total, caip19: caip19Of(chainOf(order), token?.address), print }
  })
}

/** A total, and what its funds are looked up by. */
interface TotalOf {
  readonly total: BatchTotal
  readonly caip19: string
  readonly print: (atomic: bigint) => { readonly text: string; readonly atomic: string }
}

/** From so many on, what everybody has is too many questions for what it tells. */
const MOST_ASKED = 20

/** Adds what each sender has, as far as the API tells: it is a service, and no condition. */
export async function withFunds(totals: readonly TotalOf[], client: QueryClient): Promise<readonly BatchTotal[]> {
  const asked = new Map<string, Promise<readonly Wire.AssetBalance[] | undefined>>()
  const ask = ({ address, chain }: BatchTotal) => {
    const key = JSON.stringify([address, chain])
    const known = asked.get(key)
    if (known) return known
    if (asked.size >= MOST_ASKED) return undefined
    const asking = client.query('get_wallet_address_balances', { address, caip2: chain as never }).then(
      ({ balances = [] }) => balances,
      () => undefined,
    )
    asked.set(key, asking)
    return asking
  }
  return Promise.all(
    totals.map(async ({ total, caip19, print }) => {
      const balances = await ask(total)
      if (balances === undefined) return total
      const held = balances.find((one) => isAsset(caip19, one.caip19))?.balance
      // Of a currency all is told; of tokens only those that the API knows.
      if (held === undefined && !caip19.includes('slip44')) return total
      return { ...total, funds: print(BigInt(held ?? 0)) }
    }),
  )
}
