import { addressFormatRow, isAddressFormat } from '../../../chain/index.ts'
import { toTimestamp, type Wire } from '../../../protocol/index.ts'
import type { WalletAccountRow } from './accounts-store.ts'
import type { WalletFacts } from './store.ts'

/** Writes a wallet as the API does. */
export function toWireWallet(row: WalletFacts): Wire.Wallet {
  return {
    walletId: row.id,
    walletName: row.name,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
    exported: row.exported === 1,
    imported: row.imported === 1,
  }
}

/** Writes an account as the API does, with its wallet where that is asked for. */
export function toWireWalletAccount(row: WalletAccountRow, wallet?: WalletFacts): Wire.WalletAccount {
  const format = row.address_format
  const caip2Prefix = isAddressFormat(format) ? addressFormatRow(format).caip2Prefix : undefined
  return {
    walletAccountId: row.id,
    organizationId: row.organization_id,
    walletId: row.wallet_id,
    curve: row.curve as Wire.Curve,
    pathFormat: row.path_format as Wire.PathFormat,
    path: row.path,
    addressFormat: format as Wire.AddressFormat,
    address: row.address,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
    publicKey: row.public_key,
    ...(wallet === undefined ? {} : { walletDetails: toWireWallet(wallet) }),
    ...(row.name === null ? {} : { name: row.name }),
    ...(caip2Prefix === undefined ? {} : { caip2Prefix }),
  }
}
