import type { Transaction } from '../../store/index.ts'
import type { PrivateKeyAddressRow, PrivateKeyRow } from '../private-keys/store.ts'
import type { WalletAccountRow } from './accounts-store.ts'

/** Reads the oldest wallet account that has one of these addresses. */
export async function findAccountByAddress(
  tx: Transaction,
  organizationId: string,
  addresses: readonly string[],
): Promise<WalletAccountRow | undefined> {
  return tx
    .selectFrom('wallet_accounts')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('address', 'in', addresses)
    .orderBy('position')
    .executeTakeFirst()
}

/** Reads the oldest wallet account with one of these public keys (hex as the rows have it). */
export async function findAccountByPublicKey(
  tx: Transaction,
  organizationId: string,
  publicKeys: readonly string[],
): Promise<WalletAccountRow | undefined> {
  return tx
    .selectFrom('wallet_accounts')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('public_key', 'in', publicKeys)
    .orderBy('position')
    .executeTakeFirst()
}

/** Reads an address that a private key has, if it is one of these. */
export async function findPrivateKeyAddress(
  tx: Transaction,
  organizationId: string,
  addresses: readonly string[],
): Promise<PrivateKeyAddressRow | undefined> {
  return tx
    .selectFrom('private_key_addresses')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('address', 'in', addresses)
    .orderBy('private_key_id')
    .orderBy('position')
    .executeTakeFirst()
}

/** Reads the id of a private key with one of these public keys. */
export async function findPrivateKeyByPublicKey(
  tx: Transaction,
  organizationId: string,
  publicKeys: readonly string[],
): Promise<string | undefined> {
  const row = await tx
    .selectFrom('private_keys')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('public_key', 'in', publicKeys)
    .orderBy('created_at')
    .orderBy('id')
    .executeTakeFirst()
  return row?.id
}

/** Reads a private key, still sealed. */
export async function readSealedPrivateKey(
  tx: Transaction,
  organizationId: string,
  keyId: string,
): Promise<PrivateKeyRow['sealed_private_key']> {
  const row = await tx
    .selectFrom('private_keys')
    .select('sealed_private_key')
    .where('organization_id', '=', organizationId)
    .where('id', '=', keyId)
    .executeTakeFirstOrThrow()
  return row.sealed_private_key
}
