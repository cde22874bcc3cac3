import { createTable, type InOrder, piecesOf, storedList, type Transaction } from '../../store/index.ts'

/** A key of its own, in no wallet. */
export interface PrivateKeyRow {
  id: string
  organization_id: string
  name: string
  curve: string
  /** Hex; compressed for secp256k1 and P-256, 32 bytes for Ed25519. */
  public_key: string
  /** 32 bytes, sealed under the master key for this very row. */
  sealed_private_key: Uint8Array
  exported: number
  imported: number
  /** Set by the obsolete `disable_private_key`: nothing may be signed with it any more. */
  disabled: number
  created_at: number
  updated_at: number
}

export interface PrivateKeyAddressRow {
  organization_id: string
  private_key_id: string
  /** Order of the request. */
  position: number
  format: string
  address: string
}

declare module '../../store/schema.ts' {
  interface Schema {
    private_keys: InOrder<PrivateKeyRow>
    private_key_addresses: PrivateKeyAddressRow
  }
}

export const privateKeyTable = createTable('private_keys')
export const privateKeyList = storedList('private_keys', ['name'])

/** A private key without what is secret about it. */
export type PrivateKeyFacts = Omit<PrivateKeyRow, 'sealed_private_key'>

const FACTS = [
  'id',
  'organization_id',
  'name',
  'curve',
  'public_key',
  'exported',
  'imported',
  'disabled',
  'created_at',
  'updated_at',
] as const

/** Adds private keys, each with its addresses in the order given. */
export async function insertPrivateKeys(
  tx: Transaction,
  added: readonly {
    readonly row: PrivateKeyRow
    readonly addresses: readonly { readonly format: string; readonly address: string }[]
  }[],
): Promise<void> {
  await privateKeyTable.insert(
    tx,
    added.map(({ row }) => row),
  )
  const addresses = added.flatMap(({ row: { organization_id, id: private_key_id }, addresses }) =>
    addresses.map((address, position) => ({ organization_id, private_key_id, ...address, position })),
  )
  for (const some of piecesOf(addresses)) await tx.insertInto('private_key_addresses').values(some).execute()
}

/** Reads the private keys of the organization, all or those among `keyIds`, in the order of their creation. */
export async function listPrivateKeys(
  tx: Transaction,
  organizationId: string,
  keyIds?: readonly string[],
): Promise<PrivateKeyFacts[]> {
  if (keyIds?.length === 0) return []
  let query = tx.selectFrom('private_keys').select(FACTS).where('organization_id', '=', organizationId)
  if (keyIds) query = query.where('id', 'in', keyIds)
  return query.orderBy('private_keys.position').execute()
}

/** Reads the addresses of all private keys of the organization, or of one, each key's in the order of its request. */
export async function listPrivateKeyAddresses(
  tx: Transaction,
  organizationId: string,
  keyId?: string,
): Promise<PrivateKeyAddressRow[]> {
  let query = tx.selectFrom('private_key_addresses').selectAll().where('organization_id', '=', organizationId)
  if (keyId !== undefined) query = query.where('private_key_id', '=', keyId)
  return query.orderBy('position').execute()
}

/** Marks a private key as one that nothing may be signed with. */
export async function disablePrivateKey(
  tx: Transaction,
  organizationId: string,
  keyId: string,
  now: number,
): Promise<void> {
  await privateKeyTable.update(tx, organizationId, keyId, { disabled: 1, now })
}

/** Deletes private keys, with their addresses and tags. */
export async function deletePrivateKeys(
  tx: Transaction,
  organizationId: string,
  keyIds: readonly string[],
): Promise<void> {
  for (const [table, column] of [
    ['tag_members', 'member_id'],
    ['private_key_addresses', 'private_key_id'],
    ['private_keys', 'id'],
  ] as const) {
    // A key may have any tag: few keys at a time.
    for (const some of piecesOf(keyIds, 25))
      await tx.deleteFrom(table).where('organization_id', '=', organizationId).where(column, 'in', some).execute()
  }
}
