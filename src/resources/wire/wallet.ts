import { formatAddress } from '../address.ts'
import type { Resource, Value } from '../model.ts'
import { takeText, type WireRecord } from './record.ts'
import * as walletAccount from './wallet-account.ts'

/** A wallet out of the list of wallets; its accounts are resources of their own. */
export function fromWire(record: WireRecord): Resource {
  const name = takeText(record, 'walletName', 'wallet')
  return {
    address: formatAddress('wallet', name),
    kind: 'wallet',
    name,
    id: takeText(record, 'walletId', 'wallet'),
    fields: { name },
  }
}

/** The parameters of `create_wallet`, accounts included. */
export function toIntent(wallet: Resource, accounts: readonly Resource[]): Value {
  const { mnemonicLength } = wallet.fields
  return {
    walletName: wallet.name,
    accounts: accounts.map(walletAccount.toIntent),
    ...(mnemonicLength === undefined ? {} : { mnemonicLength }),
  }
}
