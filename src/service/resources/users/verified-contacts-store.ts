import type { Transaction } from '../../store/index.ts'

/** A contact that a user has proved to have; it says nothing of another one that the user has taken since. */
export interface VerifiedContactRow {
  organization_id: string
  user_id: string
  /** EMAIL or PHONE_NUMBER. */
  type: string
  /** E-mail addresses in lower case. */
  contact: string
}

declare module '../../store/schema.ts' {
  interface Schema {
    verified_contacts: VerifiedContactRow
  }
}

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
