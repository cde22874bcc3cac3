import type { JsonObject, Wire } from '../../protocol/index.ts'
import { authProxyRefusals } from '../readings.ts'
import { isSameContact, OTP_TYPES } from '../verification/index.ts'
import { emailIn, METHOD_OF_OTP, type ProxyCall, requireMethod, requireProvider } from './call.ts'

type SignUpType = 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7' | 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8'

/** Curves of keys that wallets sign a login with; P-256 keys are the client's own. */
const WALLET_CURVES: ReadonlySet<string> = new Set(['API_KEY_CURVE_SECP256K1', 'API_KEY_CURVE_ED25519'])

/** Makes a sub-organization of one root user (docs/protocol/auth-proxy.md#sign-ups). */
export async function signUp(call: ProxyCall, request: Wire.SignupV2Request, type: SignUpType): Promise<JsonObject> {
  const { userEmail, userPhoneNumber, apiKeys, authenticators, oauthProviders } = request
  if (request.userTag) throw authProxyRefusals.userTag()
  if (authenticators.length > 0) requireMethod(call, 'passkey')
  if (apiKeys.some(({ curveType }) => WALLET_CURVES.has(curveType))) requireMethod(call, 'wallet')
  for (const { oidcToken } of oauthProviders) if (oidcToken) requireProvider(call, oidcToken)
  await checkContacts(call, request)
  const rootUser = {
    userName: request.userName || `user-${call.now}`,
    ...(userEmail ? { userEmail } : {}),
    ...(userPhoneNumber ? { userPhoneNumber } : {}),
    apiKeys,
    authenticators,
    oauthProviders,
  }
  const intent = {
    subOrganizationName: request.organizationName || `sub-org-${call.now}`,
    rootUsers: [rootUser],
    rootQuorumThreshold: 1,
    ...(request.wallet ? { wallet: request.wallet } : {}),
    ...(request.verificationToken ? { verificationToken: request.verificationToken } : {}),
    ...(request.clientSignature ? { clientSignature: request.clientSignature } : {}),
  }
  const options = { generateAppProofs: request.wallet !== undefined }
  const { result, appProofs } = await call.submit(type, intent as Wire.CreateSubOrganizationIntentV8, options)
  return {
    organizationId: result.subOrganizationId,
    ...(result.wallet ? { wallet: result.wallet } : {}),
    userId: result.rootUserIds?.[0] ?? '',
    ...(appProofs ? { appProofs } : {}),
  }
}

/**
 * Throws the refusal of a contact that its user has not proved. Unstated: also where neither e-mail nor SMS is offered, or
 * accounts could be taken in other people's names.
 */
async function checkContacts(call: ProxyCall, request: Wire.SignupV2Request): Promise<void> {
  const { verificationToken, oauthProviders } = request
  const proved = verificationToken ? await call.verifyToken(verificationToken) : undefined
  if (proved) requireMethod(call, METHOD_OF_OTP[proved.verificationType])
  const emails = oauthProviders.map(({ oidcToken }) => (oidcToken ? emailIn(call, oidcToken) : undefined))
  const isProved = (column: 'email' | 'phone_number', value: string) =>
    proved !== undefined &&
    OTP_TYPES[proved.verificationType].column === column &&
    isSameContact(proved.verificationType, value, proved.contact)
  const { userEmail: email, userPhoneNumber: phone } = request
  if (email && !isProved('email', email) && !emails.includes(email.toLowerCase())) {
    throw authProxyRefusals.unprovenContact('userEmail')
  }
  if (phone && !isProved('phone_number', phone)) throw authProxyRefusals.unprovenContact('userPhoneNumber')
}
