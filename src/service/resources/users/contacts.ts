/** Contacts of users: whose one is, whether it logs them in, and that it was proved. */
import { apiError } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { FEATURE_NAMES, featureNotEnabled, noUserWithContact, severalUsersWithContact } from '../../readings.ts'
import type { UserRow } from '../../store/index.ts'
import { isSameContact, OTP_TYPES, type OtpType, type VerificationClaims } from '../../verification/index.ts'
import { listUsersWithContact } from './contacts-store.ts'
import { insertGivenContact, upsertVerifiedContact } from './verified-contacts-store.ts'
import { readFeatureNames } from './ways-in.ts'

type Where = Pick<HandlerContext, 'tx' | 'organizationId'>

/** Throws the refusal of a login whose feature is off. */
export async function requireFeature(context: HandlerContext, name: string): Promise<void> {
  const on = await readFeatureNames(context)
  const names = FEATURE_NAMES.find((each) => each.includes(name)) ?? [name]
  if (!names.some((each) => on.has(each))) throw featureNotEnabled(name)
}

/** Finds the one user with a contact. Throws the refusal where there is none, or where there are several. */
export async function requireUserWithContact(
  { tx, organizationId }: Where,
  type: OtpType,
  contact: string,
): Promise<UserRow> {
  const { column } = OTP_TYPES[type]
  const [user, another] = await listUsersWithContact(tx, organizationId, column, contact)
  const what = column === 'email' ? 'email' : 'phone number'
  if (!user) throw noUserWithContact(what, contact)
  if (another) throw severalUsersWithContact(what, contact)
  return user
}

/** Keeps that a user has proved the contact of a token. */
export async function keepVerifiedContact(
  { tx, organizationId }: Where,
  userId: string,
  { verificationType, contact }: VerificationClaims,
): Promise<void> {
  const { proof: type } = OTP_TYPES[verificationType]
  await upsertVerifiedContact(tx, { organization_id: organizationId, user_id: userId, type, contact })
}

/** Keeps which contacts a parent has given to new users. */
export async function keepGivenContacts(
  { tx, organizationId }: Where,
  userIds: readonly string[],
  users: readonly Pick<UserRow, 'email' | 'phone_number'>[],
): Promise<void> {
  for (const [index, user] of users.entries()) {
    for (const { column, proof: type } of Object.values(OTP_TYPES)) {
      const contact = column === 'email' ? user.email?.toLowerCase() : user.phone_number
      if (contact)
        await insertGivenContact(tx, { organization_id: organizationId, user_id: userIds[index]!, type, contact })
    }
  }
}

/** Throws unless a token proves this contact of a user. */
export function checkProves(
  { verificationType, contact }: VerificationClaims,
  change: { readonly column: 'email' | 'phone_number'; readonly value: string },
): void {
  const isOfColumn = OTP_TYPES[verificationType].column === change.column
  if (isOfColumn && isSameContact(verificationType, change.value, contact)) return
  throw apiError('requestInvalid', 'invalid verification token: it is for another contact')
}
