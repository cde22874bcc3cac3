import { printDecimal } from '../../../encoding/index.ts'
import { apiError, type Wire } from '../../../protocol/index.ts'
import { askChain, type Balance, type Chain, USD_PLACES, valueInUsd } from '../../chains/index.ts'
import type { QueryOf, QueryRows } from '../query-table.ts'
import { requireWalletAddress } from '../wallets/wallet-address.ts'

/**
 * What an address of a wallet has, as the chain's node says it now: the currency and the tokens that are set for the chain,
 * those of which there is some.
 */
const getBalances: QueryOf<'get_wallet_address_balances'> = async (context, { address, caip2 }) => {
  const chain = context.chains.requireSource(caip2)
  if (!chain.assets.isAddress(address)) throw apiError('invalidField', 'address', `must be an address of ${caip2}`)
  await requireWalletAddress(context, address)
  return async () => {
    const balances = await askChain(chain, () => chain.assets.balances(address))
    return { balances: balances.map((balance) => toWireBalance(chain, balance)) }
  }
}

const listAssets: QueryOf<'list_supported_assets'> = async ({ chains }, { caip2 }) => {
  const chain = chains.requireSource(caip2)
  return async () => ({ assets: [...(await askChain(chain, () => chain.assets.list()))] })
}

export const assetQueries = {
  get_wallet_address_balances: getBalances,
  list_supported_assets: listAssets,
} satisfies QueryRows

/** A price is set for a chain's currency alone: what tokens are worth is not told. */
function toWireBalance(chain: Chain, { asset, amount }: Balance): Wire.AssetBalance {
  const isCurrency = asset.caip19.includes('/slip44:')
  const usd = isCurrency ? valueInUsd(chain, amount, 'down') : undefined
  return {
    ...asset,
    balance: amount.toString(),
    display: {
      crypto: printDecimal(amount, asset.decimals),
      ...(usd === undefined ? {} : { usd: printDecimal(usd, USD_PLACES) }),
    },
  }
}
