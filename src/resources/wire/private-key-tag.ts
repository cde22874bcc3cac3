import { formatAddress } from '../address.ts'
import type { Resource } from '../model.ts'
import { takeText, type WireRecord } from './record.ts'

/** A private key tag out of the list of private key tags. */
export function fromWire(record: WireRecord): Resource {
  const name = takeText(record, 'tagName', 'tag')
  return {
    address: formatAddress('privateKeyTag', name),
    kind: 'privateKeyTag',
    name,
    id: takeText(record, 'tagId', 'tag'),
    fields: { name },
  }
}
