import { type InOrder, insertInOrder, prepare, type Transaction } from '../../store/index.ts'

/** A code that was sent, or was: it is kept as long as it counts against the limits. */
export interface OneTimePasscodeRow {
  id: string
  organization_id: string
  /** The protocol that it was asked for by: PLAIN, ENCRYPTED or AUTH. */
  flow: string
  otp_type: string
  /** In its one form. */
  contact: string
  /** Hex of a hash of what the client calls its end user; null where it does not. */
  user_identifier: string | null
  /** The user who logs in by it, where one was found when it was asked for. */
  user_id: string | null
  /** Hex of the code's keyed hash; null once it is dead: used, locked, or pushed out by newer ones. */
  code_hash: string | null
  /** The key of the hash, then the private key that a client encrypts the code to, if there is one; null once it is dead. */
  sealed_keys: Uint8Array | null
  failed_attempts: number
  created_at: number
  expires_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    one_time_passcodes: InOrder<OneTimePasscodeRow>
  }
}

const find = prepare((tx, of: { organizationId: string; id: string }) =>
  tx
    .selectFrom('one_time_passcodes')
    .selectAll()
    .where('organization_id', '=', of.organizationId)
    .where('id', '=', of.id),
)

/** Adds a code behind those of its organization. */
export async function insertPasscode(tx: Transaction, row: OneTimePasscodeRow): Promise<void> {
  await insertInOrder(tx, 'one_time_passcodes', [row])
}

/** Reads a code by its id. */
export async function findPasscode(
  tx: Transaction,
  organizationId: string,
  id: string,
): Promise<OneTimePasscodeRow | undefined> {
  return (await find(tx, { organizationId, id }))[0]
}

/** By what codes are counted: the contact, or what the client calls its end user. */
export type PasscodeOwner = { readonly contact: string } | { readonly user_identifier: string }

/** Reads the codes that were asked for since a time, oldest first. */
export async function listPasscodes(
  tx: Transaction,
  organizationId: string,
  owner: PasscodeOwner,
  since: number,
): Promise<OneTimePasscodeRow[]> {
  const [column, value] =
    'contact' in owner ? (['contact', owner.contact] as const) : (['user_identifier', owner.user_identifier] as const)
  return (
    tx
      .selectFrom('one_time_passcodes')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where(column, '=', value)
      .where('created_at', '>', since)
      .orderBy('created_at')
      // As they came: several may be asked for in one millisecond.
      .orderBy('position')
      .execute()
  )
}

/** Counts a wrong code; `isDead` locks it. */
export async function countFailedAttempt(
  tx: Transaction,
  organizationId: string,
  id: string,
  isDead: boolean,
): Promise<void> {
  await tx
    .updateTable('one_time_passcodes')
    .set(({ eb }) => ({
      failed_attempts: eb('failed_attempts', '+', 1),
      ...(isDead ? { code_hash: null, sealed_keys: null } : {}),
    }))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute()
}

/** Ends codes: their hashes and keys are wiped; that they were asked for still counts towards the limits. */
export async function endPasscodes(tx: Transaction, organizationId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx
    .updateTable('one_time_passcodes')
    .set({ code_hash: null, sealed_keys: null })
    .where('organization_id', '=', organizationId)
    .where('id', 'in', ids)
    .execute()
}

/** Deletes the codes of an organization that have expired and count no more. */
export async function deleteOldPasscodes(
  tx: Transaction,
  organizationId: string,
  { expiredAt, createdAt }: { readonly expiredAt: number; readonly createdAt: number },
): Promise<void> {
  await tx
    .deleteFrom('one_time_passcodes')
    .where('organization_id', '=', organizationId)
    .where('expires_at', '<=', expiredAt)
    .where('created_at', '<=', createdAt)
    .execute()
}
