import {
  addressFormatByName,
  addressFormats,
  curveByName,
  curves,
  isAddressFormat,
  isCurve,
  normalizePath,
} from '../../chain/index.ts'
import { formatAddress, walletAccountName } from '../address.ts'
import type { Resource, Value } from '../model.ts'
import { takeOptionalText, takeText, type WireRecord } from './record.ts'

/** A wallet account out of the list of accounts of its wallet. */
export function fromWire(record: WireRecord, wallet: Resource): Resource {
  const path = normalizePath(takeText(record, 'path', 'wallet account'))
  const wireFormat = takeText(record, 'addressFormat', 'wallet account')
  const wireCurve = takeText(record, 'curve', 'wallet account')
  // A word that is not known yet is kept as it is: enumerations of the API only grow (docs/protocol/requests.md#versions).
  const format = isAddressFormat(wireFormat) ? addressFormats[wireFormat].name : wireFormat
  const label = takeOptionalText(record, 'name', 'wallet account')
  const name = walletAccountName(path, format)
  const address = takeOptionalText(record, 'address', 'wallet account')
  return {
    address: formatAddress('walletAccount', wallet.name, name),
    kind: 'walletAccount',
    name,
    parent: wallet.address,
    ...(wallet.id === undefined ? {} : { parentId: wallet.id }),
    id: takeText(record, 'walletAccountId', 'wallet account'),
    fields: {
      path,
      curve: isCurve(wireCurve) ? curves[wireCurve].name : wireCurve,
      format,
      ...(label === undefined ? {} : { name: label }),
    },
    ...(address === undefined ? {} : { known: { address } }),
  }
}

/** One entry of `accounts` in `create_wallet` and `create_wallet_accounts`. */
export function toIntent(account: Resource): Value {
  const { path, curve, format, name } = account.fields
  return {
    curve: curveByName(String(curve))!,
    pathFormat: 'PATH_FORMAT_BIP32',
    path: path!,
    addressFormat: addressFormatByName(String(format))!,
    ...(name === undefined ? {} : { name }),
  }
}
