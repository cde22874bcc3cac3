import { toTimestamp, type Wire } from '../../../protocol/index.ts'
import type { AuthenticatorRow } from '../../store/index.ts'

/** Writes a passkey as the API does. */
export function toWireAuthenticator(row: AuthenticatorRow): Wire.Authenticator {
  return {
    transports: JSON.parse(row.transports) as Wire.AuthenticatorTransport[],
    attestationType: row.attestation_type,
    aaguid: row.aaguid,
    credentialId: row.credential_id,
    model: row.model,
    credential: { publicKey: row.public_key, type: 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR' },
    authenticatorId: row.id,
    authenticatorName: row.name,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  }
}
