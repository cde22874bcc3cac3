import { formatAddress, walletAccountName } from '../address.ts'
import type { Resource, Value } from '../model.ts'
import { takeOptionalText, takeText, type WireRecord } from './record.ts'

const CURVE = /^CURVE_/
const FORMAT = /^ADDRESS_FORMAT_/

/** A wallet account out of the list of accounts of its wallet. */
export function fromWire(record: WireRecord, wallet: Resource): Resource {
  const path = takeText(record, 'path', 'wallet account')
  const format = takeText(record, 'addressFormat', 'wallet account').replace(FORMAT, '').toLowerCase()
  const label = takeOptionalText(record, 'name', 'wallet account')
  const name = walletAccountName(path, format)
  return {
    address: formatAddress('walletAccount', wallet.name, name),
    kind: 'walletAccount',
    name,
    parent: wallet.address,
    ...(wallet.id === undefined ? {} : { parentId: wallet.id }),
    id: takeText(record, 'walletAccountId', 'wallet account'),
    fields: {
      path,
      curve: takeText(record, 'curve', 'wallet account').replace(CURVE, '').toLowerCase(),
      format,
      ...(label === undefined ? {} : { name: label }),
    },
  }
}

/** One entry of `accounts` in `create_wallet` and `create_wallet_accounts`. */
export function toIntent(account: Resource): Value {
  const { path, curve, format, name } = account.fields
  return {
    curve: `CURVE_${String(curve).toUpperCase()}`,
    pathFormat: 'PATH_FORMAT_BIP32',
    path: path!,
    addressFormat: `ADDRESS_FORMAT_${String(format).toUpperCase()}`,
    ...(name === undefined ? {} : { name }),
  }
}
