import type { Transaction, VerifiedContactRow } from '../../store/index.ts'

/** Keeps that a user has proved a contact, in the place of another one of its type. */
export async function upsertVerifiedContact(tx: Transaction, contact: VerifiedContactRow): Promise<void> {
  await tx
    .insertInto('verified_contacts')
    .values(contact)
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'user_id', 'type']).doUpdateSet({ contact: contact.contact }),
    )
    .execute()
}
