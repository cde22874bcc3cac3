import type { Transaction } from '../../store/index.ts'

/**
 * A contact that a user has proved to have, or that the parent has given to them; it says nothing of another one that the user has
 * taken since.
 */
export interface VerifiedContactRow {
  organization_id: string
  user_id: string
  /** EMAIL or PHONE_NUMBER. */
  type: string
  /** E-mail addresses in lower case. */
  contact: string
  /** 1: its user has proved it; 0: the parent has given it to them. */
  proved: number
}

type Contact = Omit<VerifiedContactRow, 'proved'>

declare module '../../store/schema.ts' {
  interface Schema {
    verified_contacts: VerifiedContactRow
  }
}

/** Keeps that a user has proved a contact, in the place of another one of its type. */
export async function upsertVerifiedContact(tx: Transaction, contact: Contact): Promise<void> {
  await tx
    .insertInto('verified_contacts')
    .values({ ...contact, proved: 1 })
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'user_id', 'type']).doUpdateSet({ contact: contact.contact, proved: 1 }),
    )
    .execute()
}

/** Keeps that the parent has given a user a contact. What this user has proved stays proved. */
export async function insertGivenContact(tx: Transaction, contact: Contact): Promise<void> {
  await tx
    .insertInto('verified_contacts')
    .values({ ...contact, proved: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
