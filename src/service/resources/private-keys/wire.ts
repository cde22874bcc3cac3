import { toTimestamp, type Wire } from '../../../protocol/index.ts'
import type { Transaction } from '../../store/index.ts'
import { listTagMembers } from '../tags/store.ts'
import { listPrivateKeyAddresses, type PrivateKeyFacts } from './store.ts'

/** Writes private keys of one organization, in the order given, with two reads however many they are. */
export async function toWirePrivateKeys(
  tx: Transaction,
  organizationId: string,
  keys: readonly PrivateKeyFacts[],
): Promise<Wire.PrivateKey[]> {
  const memberIds = keys.map(({ id }) => id)
  if (memberIds.length === 0) return []
  const rows = await listPrivateKeyAddresses(tx, organizationId, memberIds.length === 1 ? memberIds[0] : undefined)
  const addresses = Map.groupBy(rows, (row) => row.private_key_id)
  const tags = Map.groupBy(await listTagMembers(tx, organizationId, { memberIds }), ({ memberId }) => memberId)
  return keys.map((key) => ({
    privateKeyId: key.id,
    publicKey: key.public_key,
    privateKeyName: key.name,
    curve: key.curve as Wire.Curve,
    addresses: (addresses.get(key.id) ?? []).map(({ format, address }) => ({
      format: format as Wire.AddressFormat,
      address,
    })),
    privateKeyTags: (tags.get(key.id) ?? []).map(({ tagId }) => tagId),
    createdAt: toTimestamp(key.created_at),
    updatedAt: toTimestamp(key.updated_at),
    exported: key.exported === 1,
    imported: key.imported === 1,
  }))
}
