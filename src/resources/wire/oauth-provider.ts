import { formatAddress } from '../address.ts'
import type { Resource } from '../model.ts'
import { takeText, type WireRecord } from './record.ts'

/** An OAuth provider out of its user's record. */
export function fromWire(record: WireRecord, user: Resource): Resource {
  const name = takeText(record, 'providerName', 'OAuth provider')
  return {
    address: formatAddress('oauthProvider', user.name, name),
    kind: 'oauthProvider',
    name,
    parent: user.address,
    ...(user.id === undefined ? {} : { parentId: user.id }),
    id: takeText(record, 'providerId', 'OAuth provider'),
    fields: {
      issuer: takeText(record, 'issuer', 'OAuth provider'),
      audience: takeText(record, 'audience', 'OAuth provider'),
      subject: takeText(record, 'subject', 'OAuth provider'),
    },
  }
}
