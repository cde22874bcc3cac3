import { expiresAt } from '../../authority/index.ts'
import { formatAddress } from '../address.ts'
import type { Resource, Value } from '../model.ts'
import { takeInteger, takeOptionalTime, takeRecord, takeText, type WireRecord } from './record.ts'

const PREFIX = 'CREDENTIAL_TYPE_API_KEY_'

/**
 * An API key out of its user's record, or undefined for a session key (login, OTP, OAuth, recovery), which comes and
 * goes by itself and is nothing a definition could hold (docs/protocol/organizations.md#credentials).
 */
export function fromWire(record: WireRecord, user: Resource): Resource | undefined {
  const credential = takeRecord(record['credential'], '`credential` of an API key')
  const type = takeText(credential, 'type', 'credential')
  if (!type.startsWith(PREFIX)) return undefined
  const name = takeText(record, 'apiKeyName', 'API key')
  const expires = record['expirationSeconds'] ?? ''
  const expiresIn = expires === '' ? undefined : takeInteger(record, 'expirationSeconds', 'API key')
  const created = takeOptionalTime(record, 'createdAt', 'API key')
  const end = created === undefined ? undefined : expiresAt(created, expiresIn)
  return {
    address: formatAddress('apiKey', user.name, name),
    kind: 'apiKey',
    name,
    parent: user.address,
    ...(user.id === undefined ? {} : { parentId: user.id }),
    id: takeText(record, 'apiKeyId', 'API key'),
    fields: {
      curve: type.slice(PREFIX.length),
      publicKey: takeText(credential, 'publicKey', 'credential').toLowerCase(),
      ...(expiresIn === undefined ? {} : { expiresIn }),
    },
    ...(end === undefined ? {} : { known: { expiresAt: end } }),
  }
}

/** One entry of `apiKeys` in `create_users` and `create_api_keys` (V2). */
export function toIntent(apiKey: Resource): Value {
  const { curve, publicKey, expiresIn } = apiKey.fields
  return {
    apiKeyName: apiKey.name,
    publicKey: publicKey!,
    curveType: `API_KEY_CURVE_${String(curve)}`,
    ...(expiresIn === undefined ? {} : { expirationSeconds: String(expiresIn) }),
  }
}
