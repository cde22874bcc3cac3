import type { Transaction } from '../../store/index.ts'

/** What an organization pays with. */
export interface PaymentMethodRow {
  organization_id: string
  id: string
  /** Of a card's number; empty where no card was sent. */
  last_four: string
  expiry_month: string | null
  expiry_year: string | null
  card_holder_name: string
  card_holder_email: string
  created_at: number
}

/** What an organization has subscribed to. */
export interface BillingTierRow {
  organization_id: string
  product_id: string
  orb_plan_id: string | null
  activated_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    payment_methods: PaymentMethodRow
    billing_tiers: BillingTierRow
  }
}

/** Sets what the organization pays with, in the place of what it had. */
export async function replacePaymentMethod(tx: Transaction, row: PaymentMethodRow): Promise<void> {
  const { organization_id: _, ...columns } = row
  await tx
    .insertInto('payment_methods')
    .values(row)
    .onConflict((conflict) => conflict.column('organization_id').doUpdateSet(columns))
    .execute()
}

/** Reads what the organization pays with. */
export async function findPaymentMethod(
  tx: Transaction,
  organizationId: string,
): Promise<PaymentMethodRow | undefined> {
  return tx.selectFrom('payment_methods').selectAll().where('organization_id', '=', organizationId).executeTakeFirst()
}

/** Deletes what the organization pays with. */
export async function deletePaymentMethod(tx: Transaction, organizationId: string): Promise<void> {
  await tx.deleteFrom('payment_methods').where('organization_id', '=', organizationId).execute()
}

/** Sets what the organization has subscribed to, in the place of what it had. */
export async function replaceBillingTier(tx: Transaction, row: BillingTierRow): Promise<void> {
  const { organization_id: _, ...columns } = row
  await tx
    .insertInto('billing_tiers')
    .values(row)
    .onConflict((conflict) => conflict.column('organization_id').doUpdateSet(columns))
    .execute()
}
