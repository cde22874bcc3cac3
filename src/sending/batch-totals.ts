import { namespaceOf } from '../chain/index.ts'
import { printAmount, printToken, type SaidAmount } from './amount.ts'
import type { HeldByApi } from './api-balances.ts'
import type { OrderedRow } from './batch-orders.ts'
import { chainOf, type Directory, senderOf } from './order.ts'

/** The sum that one sender pays in one asset on one chain, over all rows. */
export interface BatchTotal {
  readonly from: string
  readonly address: string
  readonly chain: string
  readonly rows: number
  /** In its unit, and in its smallest. */
  readonly amount: SaidAmount
  /** The sender's balance now; absent where the API does not tell it. Fees come on top. */
  readonly funds?: SaidAmount
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
      text: token ? printToken(atomic, token) : printAmount(atomic, namespaceOf(chainOf(order))!),
      atomic: atomic.toString(),
    })
    const amount = print(group.reduce((sum, one) => sum + BigInt(one.description.amount.atomic), 0n))
    const address = senderOf(order)
    const total = { from: order.from, address, chain: chainOf(order), rows: group.length, amount }
    return { total, token: token?.address, print }
  })
}

/** A total, and what its funds are looked up by. */
interface TotalOf {
  readonly total: BatchTotal
  /** Address of its contract or mint. @default the currency of the chain */
  readonly token: string | undefined
  readonly print: (atomic: bigint) => SaidAmount
}

/** Adds what each sender has, as far as the API tells: it is a service, and no condition. */
export async function withFunds(totals: readonly TotalOf[], heldByApi: HeldByApi): Promise<readonly BatchTotal[]> {
  return Promise.all(
    totals.map(async ({ total, token, print }) => {
      const held = await heldByApi(total.address, total.chain, token)
      return held === undefined ? total : { ...total, funds: print(held) }
    }),
  )
}
