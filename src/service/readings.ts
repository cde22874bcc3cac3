/**
 * Readings: points about carrying activities out that the API's sources leave open, and what this service does, with the texts of
 * refusals that have no published text. Readings about votes are in `src/service/engine/readings.ts`. The text of a refusal that only one
 * check uses stands beside that check.
 */
import { ApiError, apiError, apiErrorAt, GRPC, type RefusalReason, type Wire } from '../protocol/index.ts'

/** Unstated: the refusal of a public key that a credential of the organization has already. */
export function publicKeyTaken(publicKey: string): ApiError {
  return new ApiError(GRPC.AlreadyExists, `api key with public key ${publicKey} already exists in this organization`)
}

/** Unstated: the refusal of a passkey that the organization has already. */
export function authenticatorTaken(credentialId: string): ApiError {
  return new ApiError(
    GRPC.AlreadyExists,
    `authenticator with credential ID ${credentialId} already exists in this organization`,
  )
}

/** Unstated: the text and the number of the refusal of an OAuth identity that the organization has already. */
export function oauthProviderTaken({
  issuer,
  audience,
}: {
  readonly issuer: string
  readonly audience: string
}): ApiError {
  const message = `oauth provider with issuer ${issuer} and audience ${audience} already exists for this subject in this organization`
  return new ApiError(GRPC.AlreadyExists, message, { code: 'OAUTH_PROVIDER_ALREADY_EXISTS' })
}

/**
 * Unstated: how many secrets there may be, and how large (docs/protocol/bundles.md#secrets). The number of one activity is
 * published for exports.
 */
export const SECRET_LIMITS = {
  secrets: 1_000,
  perActivity: 32,
  bytes: 65_536,
  properties: 32,
  characters: 256,
} as const

/** Unstated: the refusal of a name that a secret of the organization has already. */
export function secretNameTaken(name: string): ApiError {
  return new ApiError(GRPC.AlreadyExists, `secret with name ${name} already exists in this organization`)
}

/** Unstated: how many seconds the key of an invitation is good for (docs/protocol/organizations.md#invitations). */
export const INVITATION_S = 7 * 86_400

/** Unstated: the refusal to make an organization under an id that one has, or has had. */
export function organizationTaken(organizationId: string): ApiError {
  return new ApiError(GRPC.AlreadyExists, `organization with ID ${organizationId} already exists`)
}

/** Unstated: the refusal to delete a parent that others belong to. */
export function organizationHasChildren(): ApiError {
  return apiError('requestInvalid', 'the organization has sub-organizations, which must be deleted before it')
}

/** Unstated: the refusal to delete a parent whose secrets would be lost. */
export function secretNotExported(): ApiError {
  return apiError('requestInvalid', 'a secret of the organization has not been exported')
}

/** Unstated: the refusal to delete a parent that has apps, whose quorum keys cannot be exported. */
export function organizationHasApps(): ApiError {
  return apiError('requestInvalid', 'the organization has TVC apps, which must be deleted before it')
}

/** The refusal to delete the organization of `bootstrap.json`, which is the operator's and ends with the data folder. */
export function firstOrganizationStays(): ApiError {
  return apiError(
    'requestInvalid',
    'the first organization of a service cannot be deleted, delete its data folder instead',
  )
}

/** Unstated: the refusal to delete a parent as if it were a sub-organization. */
export function notASubOrganization(organizationId: string): ApiError {
  return apiError('requestInvalid', `organization ${organizationId} is not a sub-organization`)
}

/** Unstated: the refusal to delete a member of the root quorum (docs/protocol/policies.md#root-only-activities). */
export function userInQuorum(userId: string): ApiError {
  return apiError('requestInvalid', `user ${userId} is in the root quorum and must leave it before being deleted`)
}

/** Unstated: the refusal of a threshold that the quorum could never reach. */
export function thresholdTooHigh(field: string, threshold: number, members: number): ApiError {
  return apiErrorAt(
    field,
    'requestInvalid',
    `quorum threshold ${threshold} exceeds the number of quorum users ${members}`,
  )
}

/** Unstated: the refusal of an id or a key that is twice in one list of a request: it can only be a mistake. */
export function mentionedTwice(field: string, value: string): ApiError {
  return apiError('invalidField', field, `must not mention \`${value}\` twice`)
}

/**
 * Unstated: the name of the early-access feature that `time` needs (docs/protocol/policies.md#a-policy). No published
 * one stands for it, so this service has one of its own. Policies that have a `time` keep it when the feature is taken
 * away.
 */
export const POLICY_TIME_FEATURE = 'FEATURE_NAME_POLICY_TIME' satisfies Wire.FeatureName

/** The refusal of a policy with a `time` without the feature. An empty one means "always" and is taken as absent. */
export function timeNotEnabled(): ApiError {
  return apiError('invalidPolicyTime', 'the feature is not enabled for this organization')
}

/**
 * Unstated: the text for an OAuth 2.0 credential that is not there; its code is published
 * (docs/protocol/organizations.md#oauth-20-credentials).
 */
export function oauth2CredentialNotFound(id: string): ApiError {
  const code = 'OAUTH2_CREDENTIAL_NOT_FOUND'
  return new ApiError(GRPC.NotFound, `oauth2 credential not found: ${id}`, { code })
}

/** Unstated: the refusal to log in an identity that no user of the organization has registered. */
export function oauthIdentityNotFound(issuer: string): ApiError {
  const why = `no user of this organization is registered for the bearer of this token of ${issuer}`
  return new ApiError(GRPC.NotFound, `oauth provider not found: ${why}`)
}

/** Unstated: the name of an identity that a login has linked (docs/protocol/oauth.md#social-linking). */
export const LINKED_PROVIDER_NAME = 'Google'

/** Unstated: the refusal to log in by a token for several clients that several users have registered, one each. */
export function oauthIdentityAmbiguous(issuer: string): ApiError {
  return apiError('requestInvalid', `more than one user is registered for the bearer of the OIDC token of ${issuer}`)
}

/**
 * Unstated: how a client secret that does not open is refused; its code, OAUTH2_PROVIDER_NOT_CONFIGURED, is published
 * (docs/protocol/oauth.md#codes-of-x-and-discord).
 */
export function oauth2ProviderNotConfigured(id: string): ApiError {
  const message = `oauth2 provider not configured: the client secret of oauth2 credential ${id} is not encrypted to the key of this service`
  return new ApiError(GRPC.InvalidArgument, message, { code: 'OAUTH2_PROVIDER_NOT_CONFIGURED' })
}

/** Unstated: the text for an unknown provider; its code, INVALID_OAUTH2_PROVIDER, is published. */
export function unknownOauth2Provider(provider: string): ApiError {
  return new ApiError(GRPC.InvalidArgument, `invalid oauth2 provider: ${provider}`, { code: 'INVALID_OAUTH2_PROVIDER' })
}

/** Unstated: the refusal of a code that the provider refuses: it was used, has expired, or is of another verifier or redirect URI. */
export function authCodeRefused(provider: string): ApiError {
  return new ApiError(GRPC.InvalidArgument, `auth code refused by the oauth2 provider ${provider}`, {
    code: 'REQUEST_INVALID',
    reason: 'AUTH_CODE_REFUSED',
  })
}

/** Unstated: the answer while a provider does not answer; the same request may be sent again. */
export function oauth2ProviderNotAnswering(provider: string): ApiError {
  const message = `the oauth2 provider ${provider} did not answer, nothing was issued`
  return new ApiError(GRPC.Unavailable, message, { code: 'RPC_CALL_ERROR' })
}

/** Unstated: how many seconds a token is good for that the service issues (docs/protocol/oauth.md#the-services-own-issuer). */
export const OWN_TOKEN_S = 600

/** Unstated: the limits of webhooks (docs/protocol/webhooks.md#limits). */
export const WEBHOOK_LIMITS = { endpoints: 20, subscriptions: 10, filterBytes: 8_000 } as const

/** An event type that never fires is refused (docs/protocol/webhooks.md#event-types). */
export function unsupportedEventType(eventType: string): ApiError {
  return apiError('requestInvalid', `unsupported webhook event type: ${eventType}`)
}

/** Unstated: the refusal to give a sub-organization something that only a parent may have. */
export function eventsOfParentsAlone(eventType: string): ApiError {
  const message = `request not authorized: ${eventType} can be had by a parent organization alone`
  return new ApiError(GRPC.PermissionDenied, message, { code: 'REQUEST_NOT_AUTHORIZED' })
}

/** Unstated: the refusal of an IP allow-list in a sub-organization (docs/protocol/organizations.md#ip-allow-lists). */
export function ofParentsAlone(): ApiError {
  return apiError('requestInvalid', 'IP allowlists are for parent organizations alone')
}

/** Unstated: the refusal of a payment method in a sub-organization, for which its parent pays. */
export function billingOfParentsAlone(): ApiError {
  const message = 'request not authorized: payment methods and billing tiers can be had by a parent organization alone'
  return new ApiError(GRPC.PermissionDenied, message, { code: 'REQUEST_NOT_AUTHORIZED' })
}

/** Unstated: the refusal of a purchase for which there is no account at the provider. */
export function onRampNotFound(provider: string, isSandbox: boolean): ApiError {
  const what = isSandbox ? `${provider} in sandbox mode` : provider
  return new ApiError(
    GRPC.NotFound,
    `fiat on-ramp credential not found: none of this organization or its parent is for ${what}`,
  )
}

/** Unstated: the refusal if the keys of an account at the provider cannot be decrypted, or the provider refuses them. */
export function onRampNotConfigured(id: string, why: string): ApiError {
  return apiError('requestInvalid', `on-ramp provider not configured: of fiat on-ramp credential ${id}, ${why}`)
}

/** Unstated: the answer while a provider does not answer; the same request may be sent again. */
export function onRampNotAnswering(provider: string): ApiError {
  const message = `the on-ramp provider ${provider} did not answer, nothing was begun`
  return new ApiError(GRPC.Unavailable, message, { code: 'RPC_CALL_ERROR' })
}

/** Unstated: the refusal of a gas usage config in a sub-organization (docs/protocol/sends.md#sponsorship-limits). */
export function gasUsageOfParentsAlone(): ApiError {
  const message = 'request not authorized: a gas usage config can be had by a parent organization alone'
  return new ApiError(GRPC.PermissionDenied, message, { code: 'REQUEST_NOT_AUTHORIZED' })
}

/**
 * Unstated: the text about a rule of an IP allow-list; that it names index and value is published
 * (docs/protocol/organizations.md#ip-allow-lists).
 */
export function invalidAllowlistRule(index: number, cidr: string, why: string): ApiError {
  return apiErrorAt(
    `rules[${index}].cidr`,
    'requestInvalid',
    `invalid IP allowlist rule at index ${index}: \`${cidr}\`, ${why}`,
  )
}

/**
 * A feature with two names is one feature; it is listed under the name that it was last set by
 * (docs/protocol/organizations.md#features).
 */
export const FEATURE_NAMES: readonly (readonly string[])[] = [
  ['FEATURE_NAME_EMAIL_RECOVERY', 'FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY'],
]

/**
 * The features by which a contact is a way in (docs/protocol/organizations.md#ways-in). Recovering an account is no
 * login.
 */
export const LOGIN_FEATURES = {
  email: ['FEATURE_NAME_EMAIL_AUTH', 'FEATURE_NAME_OTP_EMAIL_AUTH'],
  phone_number: ['FEATURE_NAME_SMS_AUTH'],
} as const

/**
 * The login features that a sub-organization is made with, each unless its switch is given
 * (docs/protocol/organizations.md#sub-organizations).
 */
export const LOGIN_SWITCHES = [
  { feature: 'FEATURE_NAME_EMAIL_RECOVERY', disabledBy: 'disableEmailRecovery' },
  { feature: 'FEATURE_NAME_EMAIL_AUTH', disabledBy: 'disableEmailAuth' },
  { feature: 'FEATURE_NAME_OTP_EMAIL_AUTH', disabledBy: 'disableOtpEmailAuth' },
  { feature: 'FEATURE_NAME_SMS_AUTH', disabledBy: 'disableSmsAuth' },
] as const

/** Unstated: the name of the root user that the first version of `create_sub_organization` makes from a passkey alone. */
export const FIRST_ROOT_USER_NAME = 'Root user'

/** Unstated: the default length of a mnemonic (docs/protocol/keys.md#wallets). */
export const DEFAULT_WORD_COUNT = 12

/** Unstated: the text for a verification token that does not serve (docs/protocol/one-time-passcodes.md#verification-tokens). */
export function invalidVerificationToken(why: string): ApiError {
  return apiErrorAt('verificationToken', 'requestInvalid', `invalid verification token: ${why}`)
}

/** Unstated: the text for a client signature that does not serve (docs/protocol/one-time-passcodes.md#client-signatures). */
export function invalidClientSignature(why: string): ApiError {
  return apiErrorAt('clientSignature', 'requestInvalid', `invalid client signature: ${why}`)
}

/** Unstated: the refusal of an authentication proxy in a sub-organization (docs/protocol/auth-proxy.md#administration). */
export function authProxyOfParentsAlone(): ApiError {
  const message = 'request not authorized: an authentication proxy can be had by a parent organization alone'
  return new ApiError(GRPC.PermissionDenied, message, { code: 'REQUEST_NOT_AUTHORIZED' })
}

/** Unstated: how many session profiles an organization may have: as many as policies. They cannot be deleted. */
export const MAX_SESSION_PROFILES = 100

/** Unstated: that names of session profiles are unique: the token of a session says the name. */
export function sessionProfileTaken(name: string): ApiError {
  return new ApiError(GRPC.AlreadyExists, `session profile with name ${name} already exists in this organization`)
}
const forbidden = (message: string, reason?: RefusalReason) =>
  new ApiError(GRPC.PermissionDenied, message, reason && { reason })

/** Unstated: the refusals of the authentication proxy itself (docs/protocol/auth-proxy.md#refusals). */
export const authProxyRefusals = {
  noConfigId: () => apiError('requestInvalid', 'X-Auth-Proxy-Config-Id header is required'),
  unknownConfigId: () =>
    new ApiError(GRPC.NotFound, 'auth proxy configuration not found', { reason: 'AUTH_PROXY_NOT_FOUND' }),
  disabled: () => forbidden('auth proxy is disabled', 'AUTH_PROXY_DISABLED'),
  originNotAllowed: () => forbidden('origin not allowed'),
  methodNotEnabled: () => forbidden('auth method not enabled', 'AUTH_METHOD_NOT_ENABLED'),
  oauthNotEnabled: () => forbidden('OAUTH disallowed', 'AUTH_METHOD_NOT_ENABLED'),
  needsOthers: (status: string) =>
    forbidden(`the activity waits (${status}), which an authentication proxy cannot do anything about`),
  noAccount: () => new ApiError(GRPC.NotFound, 'no account found'),
  unprovenContact: (field: string) =>
    apiError(
      'invalidField',
      field,
      'needs a `verificationToken` for it, or an OIDC token that has it as verified e-mail and was issued to a client id in `walletKitSettings.oauthClientIds` or `socialLinkingClientIds`',
    ),
  noTokenForContact: () =>
    apiError('requestInvalid', 'a verification token is required to look up an account by contact'),
  userTag: () => apiError('invalidField', 'userTag', 'cannot be given: a new sub-organization has no tags'),
  captchaMissing: () =>
    new ApiError(GRPC.InvalidArgument, 'X-Captcha-Token header is required when captcha is enabled', {
      code: 'REQUEST_INVALID',
      reason: 'CAPTCHA_REQUIRED',
    }),
  captchaFailed: () => apiError('requestInvalid', 'captcha verification failed'),
  captchaNotSet: () =>
    new ApiError(GRPC.FailedPrecondition, 'captcha is enabled, and this proxy has no captcha secret'),
} as const

/** How many codes one contact or one source address may ask for, in which time (docs/protocol/auth-proxy.md#limits). */
export const AUTH_PROXY_CODES = { most: 3, inMs: 180_000 } as const

/**
 * Unstated but for the first: how often a code may be asked for (docs/protocol/one-time-passcodes.md#limits). Codes and links
 * to one contact count together.
 */
export const OTP_LIMITS = {
  identifier: { count: 3, ms: 180_000 },
  contact: { count: 10, ms: 600_000 },
  /** Codes of one contact, or of one identifier, that work beside each other. */
  live: 3,
  /** Wrong codes, after which the right one does not work either. */
  tries: 3,
} as const

/** The default form of a code (docs/protocol/one-time-passcodes.md#codes). */
export const OTP_DEFAULTS = { length: 9, alphanumeric: true, seconds: 300, mostSeconds: 600 } as const

/** The contacts of the sandbox, and the code that works for them (docs/protocol/one-time-passcodes.md#the-sandbox). */
export const OTP_SANDBOX = { contacts: ['user@example.com', '+19999999999'], code: '000000' } as const

/** Unstated: the text for a login whose feature is off (docs/protocol/one-time-passcodes.md#features). */
export function featureNotEnabled(name: string): ApiError {
  const message = `request not authorized: ${name} is not enabled for this organization`
  return new ApiError(GRPC.PermissionDenied, message, { code: 'REQUEST_NOT_AUTHORIZED' })
}

/** Unstated: the text for a contact that no user has (docs/protocol/one-time-passcodes.md#logging-in). */
export function noUserWithContact(what: string, contact: string): ApiError {
  return apiError('notFound', `user with the ${what}`, contact)
}

/** The same for a contact that several users have. */
export function severalUsersWithContact(what: string, contact: string): ApiError {
  return apiError('requestInvalid', `several users have the ${what} ${contact}, so it logs none of them in`)
}

/** Unstated: the text for a token of the older protocol where the newer one is asked for. */
export function plainToken(): ApiError {
  return invalidVerificationToken('its code was sent in clear (VERIFY_OTP), which this version does not take')
}

/** Unstated: how many MFA policies a user may have. */
export const MAX_MFA_POLICIES = 20

/** Unstated: the limits of apps for enclaves, in an organization unless the comment says otherwise (docs/protocol/tvc.md#limits). */
export const TVC_LIMITS = {
  operators: 1_000,
  sets: 500,
  apps: 100,
  quorumKeys: 100,
  /** In an app; deployments that are marked for deletion do not count. */
  deployments: 50,
  /** In a set of operators. */
  members: 32,
  /** In a deployment. */
  replicas: 100,
  /** In a deployment: provisioning shares. */
  shares: 1_000,
} as const

/** Unstated: the releases of QuorumOS that a client is offered, oldest first. A request may name any other: this service runs none. */
export const QOS_VERSIONS = ['0.12.1', 'v2026.2.6'] as const

const tvcRefused = (message: string) => apiError('requestInvalid', message)

/** Unstated: the refusal of an image; its code is published. */
export function tvcImageRefused(why: string): ApiError {
  const message = `TVC image validation failed: ${why}`
  return new ApiError(GRPC.InvalidArgument, message, { code: 'TVC_IMAGE_VALIDATION_FAILED' })
}

/** Unstated: the refusals of a step that a deployment in its present state does not allow (docs/protocol/tvc.md#deployments). */
export const tvcMarkedForDeletion = (id: string) => tvcRefused(`TVC deployment ${id} is marked for deletion`)
export const tvcNotMarked = (id: string) => tvcRefused(`TVC deployment ${id} is not marked for deletion`)
export const tvcDebugModeOff = (appId: string) => tvcRefused(`TVC app ${appId} has debug mode deployments disabled`)
export const tvcNotApproved = (id: string, { present, threshold }: { present: number; threshold: number }) =>
  tvcRefused(`the manifest of TVC deployment ${id} has ${present} of ${threshold} approvals`)

/** Unstated: the refusals of an approval or a share of an operator who may not give it, or has given it already. */
export const tvcNotOfSet = (set: 'manifest' | 'share', operatorId: string) =>
  tvcRefused(`TVC operator ${operatorId} is not in the ${set} set`)
export const tvcApprovedAlready = (operatorId: string) =>
  new ApiError(GRPC.AlreadyExists, `TVC operator ${operatorId} has approved this manifest already`)
export const tvcSharePosted = (operatorId: string) =>
  new ApiError(GRPC.AlreadyExists, `TVC operator ${operatorId} has posted a share for this enclave already`)
export const tvcOperatorElsewhere = (operatorId: string) =>
  tvcRefused(`the keys of TVC operator ${operatorId} are not held by this service`)
export const tvcAttestationRefused = (why: string) =>
  apiError('invalidField', 'attestationDocB64', `must be the attestation of an enclave that runs the manifest: ${why}`)

/** Published by the client: a quorum key has from 2 to 254 shares, and needs two at least. */
export const QUORUM_KEY_SHARES = { least: 2, most: 254 } as const
