/** SOL and the tokens of the SPL token programs on a Solana cluster, as confirmed blocks have them (Solana's JSON-RPC methods). */
import { isSolanaAddress } from '../../chain/index.ts'
import { NodeRefusal } from '../nodes/index.ts'
import type { Holdings } from './holdings.ts'
import { NoToken } from './no-token.ts'

const CONFIRMED = { commitment: 'confirmed' } as const

interface TokenAmount {
  /** In the smallest unit. */
  readonly amount: string
  readonly decimals: number
}

interface TokenAccount {
  readonly account: { readonly data: { readonly parsed: { readonly info: { readonly tokenAmount: TokenAmount } } } }
}

export const solanaHoldings: Holdings = {
  namespace: 'token',
  isAddress: isSolanaAddress,
  async ofCurrency(node, address) {
    const { value } = await node.request<{ readonly value: number }>('getBalance', [address, CONFIRMED])
    return BigInt(value)
  },
  async describe(node, mint) {
    try {
      const { value } = await node.request<{ readonly value: TokenAmount }>('getTokenSupply', [mint, CONFIRMED])
      return { decimals: value.decimals }
    } catch (error) {
      if (error instanceof NodeRefusal) throw new NoToken(mint, error.message, error)
      throw error
    }
  },
  /** An owner may have several accounts of one mint. */
  async ofToken(node, mint, address) {
    const { value } = await node.request<{ readonly value: readonly TokenAccount[] }>('getTokenAccountsByOwner', [
      address,
      { mint },
      { ...CONFIRMED, encoding: 'jsonParsed' },
    ])
    const amounts = value.map(({ account }) => BigInt(account.data.parsed.info.tokenAmount.amount))
    return amounts.reduce((sum, amount) => sum + amount, 0n)
  },
}
