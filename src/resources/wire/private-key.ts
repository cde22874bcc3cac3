import {
  addressFormatByName,
  addressFormats,
  curveByName,
  curves,
  isAddressFormat,
  isCurve,
} from '../../chain/index.ts'
import { formatAddress } from '../address.ts'
import type { Resource, Value } from '../model.ts'
import { listOf } from '../value.ts'
import { takeList, takeRecord, takeText, takeTexts, type WireRecord } from './record.ts'

/** A private key out of the list of private keys. */
export function fromWire(record: WireRecord): Resource {
  const name = takeText(record, 'privateKeyName', 'private key')
  const curve = takeText(record, 'curve', 'private key')
  // A word that is not known yet is kept as it is: enumerations of the API only grow (docs/protocol/requests.md#versions).
  const formats = takeList(record, 'addresses', 'private key').map((one) => {
    const format = takeText(takeRecord(one, 'an address of a private key'), 'format', 'address')
    return isAddressFormat(format) ? addressFormats[format].name : format
  })
  return {
    address: formatAddress('privateKey', name),
    kind: 'privateKey',
    name,
    id: takeText(record, 'privateKeyId', 'private key'),
    fields: {
      name,
      curve: isCurve(curve) ? curves[curve].name : curve,
      formats,
      tags: takeTexts(record, 'privateKeyTags', 'private key'),
    },
  }
}

/** One entry of `create_private_keys` (V2). */
export function toIntent(privateKey: Resource): Value {
  const { curve, formats, tags } = privateKey.fields
  return {
    privateKeyName: privateKey.name,
    curve: curveByName(String(curve))!,
    privateKeyTags: tags ?? [],
    addressFormats: listOf(formats).map((format) => addressFormatByName(String(format))!),
  }
}
