import { formatAddress } from '../address.ts'
import type { Resource, Value } from '../model.ts'
import { listOf } from '../value.ts'
import { takeText, type WireRecord } from './record.ts'

/** How an authenticator may be reached (docs/protocol/organizations.md#passkey-registration), by the words of definitions. */
export const TRANSPORTS = ['ble', 'internal', 'nfc', 'usb', 'hybrid'] as const

/** A passkey out of its user's record. */
export function fromWire(record: WireRecord, user: Resource): Resource {
  const name = takeText(record, 'authenticatorName', 'authenticator')
  const { publicKey } = (record['credential'] ?? {}) as { readonly publicKey?: string }
  return {
    address: formatAddress('authenticator', user.name, name),
    kind: 'authenticator',
    name,
    parent: user.address,
    ...(user.id === undefined ? {} : { parentId: user.id }),
    id: takeText(record, 'authenticatorId', 'authenticator'),
    fields: { credentialId: normalCredentialId(takeText(record, 'credentialId', 'authenticator')) },
    ...(publicKey === undefined ? {} : { known: { publicKey } }),
  }
}

/** One entry of `authenticators` in `create_users` and `create_authenticators` (V2). */
export function toIntent(authenticator: Resource): Value {
  const { credentialId, challenge, attestation } = authenticator.fields
  const { clientDataJson, attestationObject, transports } = attestation as Readonly<Record<string, Value>>
  return {
    authenticatorName: authenticator.name,
    challenge: challenge!,
    attestation: {
      credentialId: credentialId!,
      clientDataJson: clientDataJson!,
      attestationObject: attestationObject!,
      transports: listOf(transports).map((one) => `AUTHENTICATOR_TRANSPORT_${String(one).toUpperCase()}`),
    },
  }
}

/** Base64url without padding; other clients write standard base64 (docs/protocol/organizations.md#passkey-registration). */
function normalCredentialId(id: string): string {
  return id.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}
