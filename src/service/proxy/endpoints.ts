/** The endpoints of the authentication proxy, one row each (docs/protocol/auth-proxy.md#endpoints). */
import { apiError, type JsonObject, type ProxyEndpointName, type Wire } from '../../protocol/index.ts'
import { authProxyRefusals, oauth2CredentialNotFound } from '../readings.ts'
import { isOtpType, isSameContact, OTP_TYPES } from '../verification/index.ts'
import {
  accountOf,
  emailIn,
  findAccount,
  findAccountOfToken,
  METHOD_OF_OTP,
  type ProxyCall,
  requireMethod,
  requireProvider,
} from './call.ts'
import { signUp } from './sign-up.ts'

/** What an endpoint answers, from a request in its one form. */
export interface Endpoint {
  readonly answer: (call: ProxyCall, request: never) => Promise<JsonObject>
  /** Whether it takes a captcha, where the settings ask for one. */
  readonly captcha?: (request: JsonObject) => boolean
}

const ACCOUNT_FILTERS = [
  ...['CREDENTIAL_ID', 'NAME', 'USERNAME', 'EMAIL', 'PHONE_NUMBER'],
  ...['OIDC_TOKEN', 'OIDC_CLAIMS', 'PUBLIC_KEY'],
]
/** Filters by a contact, and the type of code that proves it. */
const CONTACTS = { EMAIL: 'OTP_TYPE_EMAIL', PHONE_NUMBER: 'OTP_TYPE_SMS' } as const

async function account(call: ProxyCall, request: Wire.GetAccountRequest): Promise<Wire.GetAccountResponse> {
  const { filterType, filterValue } = request
  if (!ACCOUNT_FILTERS.includes(filterType)) {
    throw apiError('invalidField', 'filterType', `must be one of ${ACCOUNT_FILTERS.join(', ')}`)
  }
  const isContact = filterType === 'EMAIL' || filterType === 'PHONE_NUMBER'
  if (isContact && call.settings.verificationTokenRequiredForGetAccountPii) await checkProof(call, filterType, request)
  const organizationId = await (isContact
    ? call.findByContact(CONTACTS[filterType], filterValue)
    : filterType === 'OIDC_TOKEN'
      ? findAccountOfToken(call, filterValue)
      : findAccount(call, filterType, filterValue))
  return organizationId === undefined ? {} : { organizationId }
}

/** Throws the refusal of a caller who has not shown that the contact is theirs. */
async function checkProof(
  call: ProxyCall,
  filterType: keyof typeof CONTACTS,
  { filterValue, verificationToken, oidcToken }: Wire.GetAccountRequest,
): Promise<void> {
  if (verificationToken) {
    const { verificationType, contact } = await call.verifyToken(verificationToken)
    if (verificationType === CONTACTS[filterType] && isSameContact(verificationType, filterValue, contact)) return
  } else if (oidcToken && filterType === 'EMAIL' && emailIn(call, oidcToken) === filterValue.toLowerCase()) {
    // Looking for it has the service verify it.
    await call.query('list_suborgs', { filterType: 'OIDC_TOKEN', filterValue: oidcToken })
    return
  }
  throw authProxyRefusals.noTokenForContact()
}

async function initOtp<Type extends 'ACTIVITY_TYPE_INIT_OTP_V2' | 'ACTIVITY_TYPE_INIT_OTP_V3'>(
  call: ProxyCall,
  type: Type,
  { otpType, contact, emailCustomization = {} }: Wire.InitOtpRequest,
) {
  if (!isOtpType(otpType)) {
    throw apiError('invalidField', 'otpType', `must be one of ${Object.keys(OTP_TYPES).join(', ')}`)
  }
  requireMethod(call, METHOD_OF_OTP[otpType])
  call.countCode()
  const { settings } = call
  const { appName = call.organizationName, ...email } = settings.emailCustomizationParams ?? {}
  const templateId = emailCustomization.templateId || settings.otpTemplateId
  const intent: Wire.InitOtpIntentV3 = {
    otpType,
    contact,
    appName,
    userIdentifier: call.userIdentifier,
    emailCustomization: { ...email, ...(templateId ? { templateId } : {}) },
    ...(settings.smsCustomizationParams ? { smsCustomization: settings.smsCustomizationParams } : {}),
    ...(settings.otpLength === undefined ? {} : { otpLength: settings.otpLength }),
    ...(settings.otpAlphanumeric === undefined ? {} : { alphanumeric: settings.otpAlphanumeric }),
    ...(settings.otpExpirationSeconds ? { expirationSeconds: String(settings.otpExpirationSeconds) } : {}),
    ...(settings.sendFromEmailAddress ? { sendFromEmailAddress: settings.sendFromEmailAddress } : {}),
    ...(settings.sendFromEmailSenderName ? { sendFromEmailSenderName: settings.sendFromEmailSenderName } : {}),
    ...(settings.replyToEmailAddress ? { replyToEmailAddress: settings.replyToEmailAddress } : {}),
  }
  return (await call.submit(type, intent)).result
}

/** How long what it proves holds. */
function tokenTime({ settings }: ProxyCall) {
  const { verificationTokenExpirationSeconds: seconds } = settings
  return seconds ? { expirationSeconds: String(seconds) } : {}
}

async function otpLogin(
  call: ProxyCall,
  type: 'ACTIVITY_TYPE_OTP_LOGIN' | 'ACTIVITY_TYPE_OTP_LOGIN_V2',
  { organizationId: named, ...request }: Wire.OtpLoginRequest | Wire.OtpLoginV2Request,
): Promise<JsonObject> {
  const { verificationType, contact } = await call.readToken(request.verificationToken)
  requireMethod(call, METHOD_OF_OTP[verificationType])
  const organizationId = await accountOf(call, named, () => call.findByContact(verificationType, contact))
  const intent = { ...request, expirationSeconds: String(call.settings.sessionExpirationSeconds) }
  const { result } = await call.submit(type, intent as Wire.OtpLoginIntentV2, { organizationId })
  return { session: result.session }
}

async function oauthLogin(call: ProxyCall, request: Wire.OAuthLoginRequest): Promise<JsonObject> {
  const { organizationId: named, ...intent } = request
  requireProvider(call, intent.oidcToken)
  const organizationId = await accountOf(call, named, () => findAccountOfToken(call, intent.oidcToken))
  const expirationSeconds = String(call.settings.sessionExpirationSeconds)
  const { result } = await call.submit(
    'ACTIVITY_TYPE_OAUTH_LOGIN',
    { ...intent, expirationSeconds },
    { organizationId },
  )
  return { session: result.session }
}

async function oauth2Authenticate(call: ProxyCall, request: Wire.OAuth2AuthenticateRequest): Promise<JsonObject> {
  const { provider, clientId, ...intent } = request
  const method = provider === 'OAUTH2_PROVIDER_X' ? 'x' : 'discord'
  if (!call.settings.methods.includes(method)) throw authProxyRefusals.oauthNotEnabled()
  const { oauth2Credentials } = await call.query('list_oauth2_credentials', {})
  const credential = oauth2Credentials.find((each) => each.provider === provider && each.clientId === clientId)
  if (!credential) throw oauth2CredentialNotFound(clientId)
  const { oauth2CredentialId } = credential
  const { result } = await call.submit('ACTIVITY_TYPE_OAUTH2_AUTHENTICATE', { ...intent, oauth2CredentialId })
  return { oidcToken: result.oidcToken }
}

async function walletKitConfig({ settings, organizationId }: ProxyCall): Promise<JsonObject> {
  const { oauthClientIds, oauthRedirectUrl } = settings.walletKitSettings ?? {}
  return {
    // The kit has no word for issuers that have none.
    enabledProviders: settings.methods.filter((method) => method !== 'oauth'),
    sessionExpirationSeconds: String(settings.sessionExpirationSeconds),
    organizationId,
    ...(oauthClientIds ? { oauthClientIds } : {}),
    ...(oauthRedirectUrl ? { oauthRedirectUrl } : {}),
    ...(settings.otpAlphanumeric === undefined ? {} : { otpAlphanumeric: settings.otpAlphanumeric }),
    ...(settings.otpLength ? { otpLength: String(settings.otpLength) } : {}),
  }
}

const always = () => true
/** A contact that was proved has cost more than a captcha does. */
const unlessProved = ({ verificationToken }: JsonObject) => !verificationToken

export const endpoints: Readonly<Record<ProxyEndpointName, Endpoint>> = {
  account: { answer: account as Endpoint['answer'] },
  otp_init: {
    captcha: always,
    answer: async (call, request) => ({ otpId: (await initOtp(call, 'ACTIVITY_TYPE_INIT_OTP_V2', request)).otpId }),
  },
  otp_init_v2: {
    captcha: always,
    async answer(call, request) {
      const { otpId, otpEncryptionTargetBundle } = await initOtp(call, 'ACTIVITY_TYPE_INIT_OTP_V3', request)
      return { otpId, otpEncryptionTargetBundle }
    },
  },
  otp_verify: {
    async answer(call, request: Wire.VerifyOtpRequest) {
      const { result } = await call.submit('ACTIVITY_TYPE_VERIFY_OTP', { ...request, ...tokenTime(call) })
      return { verificationToken: result.verificationToken }
    },
  },
  otp_verify_v2: {
    async answer(call, request: Wire.VerifyOtpV2Request) {
      const { result } = await call.submit('ACTIVITY_TYPE_VERIFY_OTP_V2', { ...request, ...tokenTime(call) })
      return { verificationToken: result.verificationToken }
    },
  },
  otp_login: { answer: (call, request) => otpLogin(call, 'ACTIVITY_TYPE_OTP_LOGIN', request) },
  otp_login_v2: { answer: (call, request) => otpLogin(call, 'ACTIVITY_TYPE_OTP_LOGIN_V2', request) },
  oauth2_authenticate: { answer: oauth2Authenticate },
  oauth_login: { answer: oauthLogin },
  signup: {
    captcha: unlessProved,
    answer: (call, request) => signUp(call, request, 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7'),
  },
  signup_v2: {
    captcha: unlessProved,
    answer: (call, request) => signUp(call, request, 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8'),
  },
  wallet_kit_config: { answer: walletKitConfig },
  wallet_kit_client_params: {
    answer: async ({ turnstileSiteKey }) => (turnstileSiteKey === undefined ? {} : { turnstileSiteKey }),
  },
}
