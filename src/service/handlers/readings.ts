/**
 * What the sources leave open about carrying activities out, and the reading that this service takes. The texts of
 * refusals that have no published form stand here and nowhere else.
 */
import { ApiError, apiError, GRPC } from '../../protocol/index.ts'

/** Unstated: the refusal of a public key that a credential of the organization has already. */
export function publicKeyTaken(publicKey: string): ApiError {
  return new ApiError(GRPC.AlreadyExists, `api key with public key ${publicKey} already exists in this organization`)
}

/** Unstated: the refusal to delete a member of the root quorum (facts: policy-language §12). */
export function userInQuorum(userId: string): ApiError {
  return apiError('requestInvalid', `user ${userId} is in the root quorum and must leave it before being deleted`)
}

/** Unstated: the refusal of a threshold that the quorum could never reach. */
export function thresholdTooHigh(threshold: number, members: number): ApiError {
  return apiError('requestInvalid', `quorum threshold ${threshold} exceeds the number of quorum users ${members}`)
}

/** Unstated: an id or a key that stands twice in a list of one request. Refused: a second mention can only be a slip. */
export function mentionedTwice(field: string, value: string): ApiError {
  return apiError('invalidField', field, `must not mention \`${value}\` twice`)
}

/**
 * `time` needs an early-access feature, and no published feature name stands for it (facts: policy-language §1): no
 * organization can have it, so a policy with a `time` is refused. An empty one means "always" and is taken as absent.
 */
export function timeNotEnabled(): ApiError {
  return apiError('invalidPolicyTime', 'the feature is not enabled for this organization')
}

/** Unstated: the text for an OAuth 2.0 credential that is not there; its code is published (facts: auth §5). */
export function oauth2CredentialNotFound(id: string): ApiError {
  const code = 'OAUTH2_CREDENTIAL_NOT_FOUND'
  return new ApiError(GRPC.NotFound, `oauth2 credential not found: ${id}`, { code })
}

/** A feature with two names is one feature; it is listed under the name that it was last set by (facts: protocol §15). */
export const FEATURE_NAMES: readonly (readonly string[])[] = [
  ['FEATURE_NAME_EMAIL_RECOVERY', 'FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY'],
]

/** The features by which a contact is a way in (facts: protocol §15). Recovering an account is no login. */
export const LOGIN_FEATURES = {
  email: ['FEATURE_NAME_EMAIL_AUTH', 'FEATURE_NAME_OTP_EMAIL_AUTH'],
  phone_number: ['FEATURE_NAME_SMS_AUTH'],
} as const

/** Unstated: how long a mnemonic is that nobody asked to be longer (facts: chain §1). */
export const DEFAULT_WORD_COUNT = 12
