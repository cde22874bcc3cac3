import { formatAddress } from '../address.ts'
import type { Resource } from '../model.ts'
import { takeText, type WireRecord } from './record.ts'

/** A user tag out of the list of user tags. */
export function fromWire(record: WireRecord): Resource {
  const name = takeText(record, 'tagName', 'tag')
  return {
    address: formatAddress('tag', name),
    kind: 'tag',
    name,
    id: takeText(record, 'tagId', 'tag'),
    fields: { name },
  }
}
