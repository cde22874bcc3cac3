/**
 * What an organization pays with, and its tier: records, which charge nobody (docs/protocol/organizations.md#billing). A card's
 * number and code are gone before anything of a request is kept: `src/service/engine/card-requests.ts`.
 */
import { apiError, type Wire } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { billingOfParentsAlone } from '../../readings.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { findOrganization } from '../organizations/store.ts'
import { deletePaymentMethod, findPaymentMethod, replaceBillingTier, replacePaymentMethod } from './store.ts'

/** Unstated: the id of a card that was sent by itself. It is the activity's, which its sender knows. */
const setCard: TypedHandler<Wire.SetPaymentMethodIntent, Wire.SetPaymentMethodResult> = {
  async validate(context, { number, cvv, expiryMonth, expiryYear }) {
    await requireParent(context)
    // The engine leaves the last four digits of what is a number, and of the code its length.
    if (!/\d{4}$/.test(number)) throw apiError('invalidField', 'number', 'must be the number of a card')
    if (cvv.length < 3) throw apiError('invalidField', 'cvv', 'must have 3 or 4 digits')
    checkExpiry(context.now, expiryMonth, expiryYear)
  },
  async execute({ tx, organizationId, activityId, now }, intent) {
    const { expiryMonth, expiryYear, cardHolderEmail, cardHolderName } = intent
    const lastFour = intent.number.slice(-4)
    await replacePaymentMethod(tx, {
      organization_id: organizationId,
      id: activityId,
      last_four: lastFour,
      expiry_month: expiryMonth,
      expiry_year: expiryYear,
      card_holder_name: cardHolderName,
      card_holder_email: cardHolderEmail,
      created_at: now,
    })
    return { lastFour, cardHolderName, cardHolderEmail }
  },
}

/** Unstated: the last digits of what a payment provider knows and this service does not. None. */
const setMethod: TypedHandler<Wire.SetPaymentMethodIntentV2, Wire.SetPaymentMethodResult> = {
  validate: (context) => requireParent(context),
  async execute({ tx, organizationId, now }, { paymentMethodId, cardHolderEmail, cardHolderName }) {
    await replacePaymentMethod(tx, {
      organization_id: organizationId,
      id: paymentMethodId,
      last_four: '',
      expiry_month: null,
      expiry_year: null,
      card_holder_name: cardHolderName,
      card_holder_email: cardHolderEmail,
      created_at: now,
    })
    return { lastFour: '', cardHolderName, cardHolderEmail }
  },
}

const remove: TypedHandler<Wire.DeletePaymentMethodIntent, Wire.DeletePaymentMethodResult> = {
  async validate({ tx, organizationId }, { paymentMethodId }) {
    const present = await findPaymentMethod(tx, organizationId)
    if (present?.id !== paymentMethodId) throw apiError('notFound', 'payment method', paymentMethodId)
  },
  async execute({ tx, organizationId }, { paymentMethodId }) {
    await deletePaymentMethod(tx, organizationId)
    return { paymentMethodId }
  },
}

const activateTier: TypedHandler<Wire.ActivateBillingTierIntent, Wire.ActivateBillingTierResult> = {
  validate: (context) => requireParent(context),
  async execute({ tx, organizationId, now }, { productId, orbPlanId }) {
    await replaceBillingTier(tx, {
      organization_id: organizationId,
      product_id: productId,
      orb_plan_id: orbPlanId || null,
      activated_at: now,
    })
    return { productId }
  },
}

export const billingHandlers = {
  ACTIVITY_TYPE_SET_PAYMENT_METHOD: setCard,
  ACTIVITY_TYPE_SET_PAYMENT_METHOD_V2: setMethod,
  ACTIVITY_TYPE_DELETE_PAYMENT_METHOD: remove,
  ACTIVITY_TYPE_ACTIVATE_BILLING_TIER: activateTier,
} satisfies HandlerRows

async function requireParent({ tx, organizationId }: HandlerContext): Promise<void> {
  const organization = await findOrganization(tx, organizationId)
  if (organization?.parent_id != null) throw billingOfParentsAlone()
}

/** A card is good until the end of its month, wherever that ends last: twelve hours after it does in Greenwich. */
function checkExpiry(now: number, month: string, year: string): void {
  if (!/^(?:0[1-9]|1[0-2])$/.test(month)) throw apiError('invalidField', 'expiryMonth', 'must be from 01 to 12')
  const end = Date.UTC(Number(year), Number(month)) + 12 * 3_600_000
  if (!(now < end)) throw apiError('invalidField', 'expiryYear', 'must be of a card that has not expired')
}
