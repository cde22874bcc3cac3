/**
 * The refusals that this service answers with, by name, with their literal texts (docs/protocol/errors.md#texts). Clients match these
 * texts: each is sent exactly as it is written here, with values in the places of the parameters. Search `src` for a row's name to find
 * the checks that refuse with it.
 */
import type { GrpcCode, TurnkeyErrorCode } from './grpc.ts'

export interface RefusalRow {
  readonly grpc: GrpcCode
  readonly code: TurnkeyErrorCode
  readonly message: (...values: never[]) => string
  /** @default that of the gRPC code */
  readonly http?: number
  /** The field that it blames, where it is always the same or the first value. */
  readonly field?: (...values: never[]) => string
}

const invalid = (message: string) => refused(3, 'REQUEST_INVALID', () => message)
const missing = (message: string) => refused(5, '', () => message)
const exhausted = (message: string) => refused(8, '', () => message)
const unsigned = (message: string) => refused(16, 'SIGNATURE_INVALID', () => message)

function refused<Values extends unknown[]>(
  grpc: GrpcCode,
  code: TurnkeyErrorCode,
  message: (...values: Values) => string,
) {
  return { grpc, code, message } as const
}

export const refusals = {
  // The request's form.
  badRequestBody: refused(3, 'REQUEST_INVALID', (reason: string) => `bad request body: ${reason}`),
  missingField: {
    ...refused(3, 'REQUEST_INVALID', (field: string) => `invalid request body: missing field \`${field}\``),
    field: (field: string) => field,
  },
  /** Refusals with an HTTP status of their own. Unstated: the texts. */
  bodyTooLarge: { ...refused(3, 'REQUEST_INVALID', () => 'bad request body: larger than 1 MiB'), http: 413 },
  headTooLarge: { ...refused(3, 'REQUEST_INVALID', () => 'the headers of the request are too large'), http: 431 },
  expectationFailed: {
    ...refused(3, 'REQUEST_INVALID', () => 'the expectation of the request is not known'),
    http: 417,
  },
  requestTimeout: { ...refused(14, '', () => 'the request came too slowly'), http: 408 },
  methodNotAllowed: { ...refused(12, '', (method: string) => `method not allowed: ${method}`), http: 405 },
  invalidField: {
    ...refused(
      3,
      'REQUEST_INVALID',
      (field: string, rule: string) => `invalid request body: field \`${field}\` ${rule}`,
    ),
    field: (field: string) => field,
  },
  unknownActivityType: refused(
    3,
    'REQUEST_INVALID',
    (type: string) => `invalid request body: field \`type\` is no activity type: \`${type}\``,
  ),
  activityTypeNotOfPath: refused(
    3,
    'REQUEST_INVALID',
    (type: string, path: string) => `invalid request body: activity type \`${type}\` does not belong to \`${path}\``,
  ),
  requestInvalid: refused(3, 'REQUEST_INVALID', (message: string) => message),
  malformedOrganizationId: refused(3, 'INVALID_ORGANIZATION_ID', () => 'malformed organization ID provided'),
  invalidTime: refused(3, 'INVALID_TIME', () => 'request timestamp is outside the allowed window'),
  unknownCursor: refused(
    3,
    'REQUEST_INVALID',
    (cursor: string) => `invalid request body: field \`paginationOptions\` names no object of this list: \`${cursor}\``,
  ),
  organizationMismatch: refused(
    3,
    'ORGANIZATION_MISMATCH',
    (target: string, voters: string) =>
      `organization mismatch: request is targeting organization ("${target}"), but voters are in organization ("${voters}")`,
  ),

  // Policies and the quorum.
  policyLabelTaken: invalid('policy label must be unique'),
  invalidPolicyTime: refused(3, 'REQUEST_INVALID', (reason: string) => `invalid policy time: ${reason}`),
  quorumThresholdZero: invalid('quorum threshold must be non-zero integer'),
  quorumUsersMissing: invalid('quorum users missing'),

  // Credentials.
  invalidApiKeyExpiration: invalid('invalid api key expiration'),
  missingAttestation: invalid('missing parameter: user authenticator attestation'),
  invalidAttestation: invalid('invalid authenticator attestation'),
  missingAttestationData: invalid('missing parameter: user authenticator attestation auth data'),
  userWithoutCredential: refused(3, 'REQUEST_INVALID', (user: string) => `user missing valid credential: ${user}`),

  // Wallets and signing.
  invalidPathFormat: invalid('invalid path format'),
  invalidPath: invalid('invalid path'),
  invalidAddressFormat: invalid('invalid address format'),
  invalidCurve: invalid('invalid curve'),
  curveRequired: invalid('curve required'),
  invalidPayloadEncoding: invalid('invalid payload encoding'),
  invalidHashFunction: invalid('invalid hash function'),
  transactionNotParsed: refused(3, 'INVALID_TRANSACTION', () => 'failed to parse transaction'),
  invalidWalletAccountId: invalid('invalid wallet account UUID'),
  walletAccountElsewhere: invalid('wallet account not part of your organization'),
  walletAccountNotExported: refused(3, 'WALLET_ACCOUNT_NOT_EXPORTED', () => 'wallet account has not been exported'),

  // Mail, one-time codes, OAuth.
  invalidMagicLink: invalid('invalid magic link template'),
  mailTemplateContents: invalid('failed to get email template contents'),
  mailTemplateVariables: invalid('failed to unmarshal template variables'),
  invalidEmail: refused(3, 'INVALID_EMAIL', () => 'invalid email address'),
  maxOtpInitiated: refused(
    3,
    'MAX_OTP_INITIATED',
    () => 'Max number of OTPs have been initiated please wait and try again',
  ),
  invalidOtpCode: invalid('Invalid OTP code'),
  invalidOidcToken: refused(3, 'INVALID_OIDC_TOKEN', () => 'invalid OIDC token'),
  credentialIdMustBeSet: invalid('oauth2_credential_id must be set'),
  authCodeMustBeSet: invalid('auth_code must be set'),
  redirectUriMustBeSet: invalid('redirect_uri must be set'),
  codeVerifierMustBeSet: invalid('code_verifier must be set'),
  /** Unstated text: the published ones are those above, and one for `client_id`. */
  nonceMustBeSet: invalid('nonce must be set'),

  // Things that do not exist.
  organizationNotFound: refused(5, 'ORGANIZATION_NOT_FOUND', () => 'no organization found with the given ID'),
  activityNotFound: missing(
    'No activity found with fingerprint. Consensus activities must target an existing activity by fingerprint',
  ),
  authenticatorNotFound: refused(
    5,
    'CREDENTIAL_NOT_FOUND',
    () => 'webauthn authenticator not found in organization or parent organization',
  ),
  userNotFound: refused(
    5,
    '',
    (userId: string, organizationId: string) => `unable to find user ${userId} in organization ${organizationId}`,
  ),
  /** Unstated text for the kinds that have none of their own; `not found` is what clients test for. */
  notFound: refused(5, '', (what: string, id: string) => `${what} not found: ${id}`),
  nothingToSignWith: missing('Could not find any resource to sign with.'),
  walletAccountNotFound: refused(5, '', (address: string) => `Could not find wallet account with address: ${address}`),

  // Things that exist already.
  pathExists: refused(6, '', (walletId: string) => `path already exists in wallet account ${walletId}`),
  seedImported: refused(
    6,
    '',
    (walletId: string) => `seed for wallet ${walletId} already imported in this organization`,
  ),
  privateKeyImported: refused(
    6,
    '',
    (keyId: string) => `private key with ID ${keyId} has already been imported in this organization`,
  ),

  // Denials and refused callers.
  permissionDenied: refused(
    7,
    'REQUEST_NOT_AUTHORIZED',
    () =>
      "You don't have sufficient permissions to take this action. Please add a policy granting this user permissions. Learn more at https://docs.turnkey.com/concepts/policies/quickstart.",
  ),
  notAuthorized: refused(7, 'REQUEST_NOT_AUTHORIZED', () => 'request not authorized'),
  sourceAddressNotAllowed: refused(
    7,
    'REQUEST_NOT_AUTHORIZED',
    () => 'request not authorized: source IP is not allowed',
  ),
  authenticationFailed: refused(7, 'FORBIDDEN', () => 'authentication failed'),
  /** Unstated text. */
  readOnlySession: refused(7, 'FORBIDDEN', () => 'a read-only session submits nothing'),

  // Limits and rates.
  maxAuthenticators: exhausted('user has exceeded maximum authenticators'),
  maxLongLivedApiKeys: exhausted('user has exceeded maximum long-lived api keys'),
  maxShortLivedApiKeys: exhausted('user has exceeded maximum short-lived api keys'),
  /** Unstated text for the limits that have none of their own. */
  maxReached: refused(
    8,
    '',
    (owner: string, things: string, limit: number) => `${owner} has exceeded maximum ${things} (${limit})`,
  ),
  rateLimited: refused(8, 'RATE_LIMIT_EXCEEDED', () => 'Too many requests. Please wait and try again in a few seconds'),

  // The service itself.
  notImplemented: refused(12, '', (what: string) => `${what} is not implemented by this service`),
  internal: refused(13, 'INTERNAL', (reference: string) => `internal server error (${reference})`),
  unavailable: refused(14, '', () => 'service unavailable'),

  // Stamps.
  noStamp: refused(
    16,
    'SIGNATURE_MISSING',
    () => 'cannot authenticate public API activity request without a stamp (X-Stamp/X-Stamp-Webauthn header)',
  ),
  publicKeyNotFound: refused(
    16,
    'PUBLIC_KEY_NOT_FOUND',
    (organizationId: string, publicKey: string) =>
      `could not find public key in organization or its parent organization organizationId=${organizationId} publicKey=${publicKey}`,
  ),
  credentialNotFound: refused(
    16,
    'CREDENTIAL_NOT_FOUND',
    (organizationId: string, credentialId: string) =>
      `credential ID could not be found in organization or its parent organization organizationId=${organizationId} credentialId=${credentialId}`,
  ),
  credentialConflict: refused(16, 'CREDENTIAL_CONFLICT', () => 'more than one suborg associated with a credential ID'),
  publicKeyConflict: refused(16, 'CREDENTIAL_CONFLICT', () => 'more than one suborg associated with a public key'),
  webauthnNotVerified: unsigned('could not verify WebAuthN signature'),
  apiKeyNotVerified: unsigned('could not verify api key signature'),
  expiredApiKey: refused(
    16,
    'API_KEY_EXPIRED',
    (publicKey: string, organizationId: string) =>
      `expired api key: rpc error: code = Unauthenticated desc = expired api key publicKey=${publicKey} organizationId=${organizationId}`,
  ),
  malformedStamp: unsigned('malformed activity stamp'),
  webauthnStampNotRead: unsigned('could not extract webauthn stamp'),
  apiKeyStampNotRead: unsigned('could not extract api key stamp'),
  /** Unstated texts, of attested stamps and of read-only sessions. */
  attestedStampNotRead: unsigned('could not extract attested stamp'),
  attestedNotVerified: refused(16, 'SIGNATURE_INVALID', (why: string) => `could not verify attested stamp: ${why}`),
  attestedUserNotFound: refused(
    16,
    'CREDENTIAL_NOT_FOUND',
    (organizationId: string) =>
      `attested identity could not be found in organization or its parent organization organizationId=${organizationId}`,
  ),
  sessionNotVerified: unsigned('could not verify read-only session: it has ended, or never was'),
  /** Unstated text. */
  twoStamps: refused(3, 'REQUEST_INVALID', () => 'request carries more than one stamp'),
} as const satisfies Readonly<Record<string, RefusalRow>>

export type RefusalName = keyof typeof refusals
