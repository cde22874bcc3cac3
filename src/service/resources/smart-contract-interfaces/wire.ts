import { sha256 } from '../../../crypto/index.ts'
import { encodeHex, encodeUtf8 } from '../../../encoding/index.ts'
import { toTimestamp, type Wire } from '../../../protocol/index.ts'
import type { SmartContractInterfaceRow } from './store.ts'

/** Writes a contract interface as the API does: its JSON text exactly as it was sent. */
export function toWireInterface(row: SmartContractInterfaceRow): Wire.SmartContractInterface {
  return {
    organizationId: row.organization_id,
    smartContractInterfaceId: row.id,
    smartContractAddress: row.address,
    smartContractInterface: row.interface,
    type: row.type,
    label: row.label,
    notes: row.notes,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  }
}

/** Writes what `get_organization` says of one. Unstated: what the digest is of; SHA-256 of the text, in hex. */
export function toWireInterfaceReference(row: SmartContractInterfaceRow): Wire.SmartContractInterfaceReference {
  const digest = encodeHex(sha256(encodeUtf8(row.interface)))
  return { smartContractInterfaceId: row.id, smartContractAddress: row.address, digest }
}
