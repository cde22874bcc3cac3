/** What a person is written to, and proves: an e-mail address or a phone number. */
import { type ApiError, apiError } from '../../protocol/index.ts'

/** The row of a type of passcode. */
interface OtpTypeRow {
  /** In the record of a user. */
  readonly column: 'email' | 'phone_number'
  /** In the record of a verified contact. */
  readonly proof: 'EMAIL' | 'PHONE_NUMBER'
  /** The feature by which such a passcode logs its user in. */
  readonly feature: string
}

/** Where a passcode may be sent (docs/protocol/one-time-passcodes.md#verification-tokens). */
export const OTP_TYPES = {
  OTP_TYPE_EMAIL: { column: 'email', proof: 'EMAIL', feature: 'FEATURE_NAME_OTP_EMAIL_AUTH' },
  OTP_TYPE_SMS: { column: 'phone_number', proof: 'PHONE_NUMBER', feature: 'FEATURE_NAME_SMS_AUTH' },
} as const satisfies Readonly<Record<string, OtpTypeRow>>
export type OtpType = keyof typeof OTP_TYPES

/** Whether a text is the name of a type of passcode. */
export function isOtpType(text: unknown): text is OtpType {
  return typeof text === 'string' && Object.hasOwn(OTP_TYPES, text)
}

const EMAIL = /^[^\s@"(),:;<>[\\\]]{1,64}@(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/
const PHONE_NUMBER = /^\+[1-9][0-9]{6,14}$/

/**
 * Brings a contact into its one form: an address in lower case, a number without what people write between its digits.
 * Throws the refusal of what is neither.
 */
export function normalizeContact(type: OtpType, contact: string): string {
  const text = toContactForm(type, contact)
  if (OTP_TYPES[type].column === 'email' ? EMAIL.test(text) : PHONE_NUMBER.test(text)) return text
  throw notAContact(type)
}

/** Whether two texts name one contact. */
export function isSameContact(type: OtpType, a: string | null | undefined, b: string): boolean {
  return a != null && a !== '' && toContactForm(type, a) === toContactForm(type, b)
}

function toContactForm(type: OtpType, contact: string): string {
  return OTP_TYPES[type].column === 'email' ? contact.toLowerCase() : contact.replaceAll(/[ ().-]/g, '')
}

function notAContact(type: OtpType): ApiError {
  return OTP_TYPES[type].column === 'email'
    ? apiError('invalidEmail')
    : apiError('invalidField', 'contact', 'must be a phone number in E.164 form')
}
