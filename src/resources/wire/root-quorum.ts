import { formatAddress } from '../address.ts'
import type { Resource } from '../model.ts'
import { takeInteger, takeTexts, type WireRecord } from './record.ts'

/** The quorum out of the organization's configuration. */
export function fromWire(record: WireRecord): Resource {
  return {
    address: formatAddress('rootQuorum'),
    kind: 'rootQuorum',
    name: 'rootQuorum',
    id: 'rootQuorum',
    fields: {
      threshold: takeInteger(record, 'threshold', 'root quorum'),
      users: takeTexts(record, 'userIds', 'root quorum'),
    },
  }
}
