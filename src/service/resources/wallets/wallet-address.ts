import { addressSpellings } from '../../../chain/index.ts'
import { apiError } from '../../../protocol/index.ts'
import type { QueryContext } from '../../engine/index.ts'
import { findAccountByAddress } from './signers-store.ts'

/** Throws unless an address is one of the organization's wallets: private keys have no balances and no history in this API. */
export async function requireWalletAddress({ tx, organizationId }: QueryContext, address: string): Promise<void> {
  const account = await findAccountByAddress(tx, organizationId, addressSpellings(address))
  if (!account) throw apiError('walletAccountNotFound', address)
}
