import { formatAddress } from '../address.ts'
import type { Resource } from '../model.ts'
import { takeText, type WireRecord } from './record.ts'

/** The organization out of a `whoami` answer. */
export function fromWire(record: WireRecord): Resource {
  return {
    address: formatAddress('organization'),
    kind: 'organization',
    name: 'organization',
    id: takeText(record, 'organizationId', 'caller'),
    fields: { name: takeText(record, 'organizationName', 'caller') },
  }
}
