import type { ActivityFamily, ActivityType } from '../../protocol/index.ts'
import type { Handler, NotExecuted } from '../engine/index.ts'
import { apiKeyHandlers } from './api-keys/handlers.ts'
import { authProxyHandlers } from './auth-proxy/handlers.ts'
import { authenticatorHandlers } from './authenticators/handlers.ts'
import { emailAuthHandlers } from './email-auth/handlers.ts'
import { exportHandlers } from './exports/handlers.ts'
import { gasUsageHandlers } from './gas-usage/handlers.ts'
import type { FamilyOf, HandlerRows } from './handler-table.ts'
import { importHandlers } from './imports/handlers.ts'
import { invitationHandlers } from './invitations/handlers.ts'
import { ipAllowlistHandlers } from './ip-allowlists/handlers.ts'
import { mfaPolicyHandlers } from './mfa-policies/handlers.ts'
import { notExecutedReasons, notExecutedRows } from './not-executed.ts'
import { oauthLoginHandlers } from './oauth-login/handlers.ts'
import { oauth2AuthenticateHandlers } from './oauth-login/oauth2-authenticate.ts'
import { oauthProviderHandlers } from './oauth-providers/handlers.ts'
import { oauth2CredentialHandlers } from './oauth2-credentials/handlers.ts'
import { initOtpHandlers } from './one-time-passcodes/init-otp.ts'
import { otpAuthHandlers } from './one-time-passcodes/otp-auth.ts'
import { otpLoginHandlers } from './one-time-passcodes/otp-login.ts'
import { verifyOtpHandlers } from './one-time-passcodes/verify-otp.ts'
import { organizationHandlers } from './organizations/handlers.ts'
import { policyHandlers } from './policies/handlers.ts'
import { privateKeyHandlers } from './private-keys/handlers.ts'
import { secretHandlers } from './secrets/handlers.ts'
import { ethSendHandlers } from './sends/eth-send.ts'
import { ethSendRawHandlers } from './sends/eth-send-raw.ts'
import { solSendHandlers } from './sends/sol-send.ts'
import { sessionProfileHandlers } from './session-profiles/handlers.ts'
import { sessionHandlers } from './sessions/handlers.ts'
import { signRawPayloadHandlers } from './signatures/sign-raw-payload.ts'
import { signTransactionHandlers } from './signatures/sign-transaction.ts'
import { sparkHandlers } from './signatures/spark.ts'
import { smartContractInterfaceHandlers } from './smart-contract-interfaces/handlers.ts'
import { boundLists } from './stored.ts'
import { subOrganizationHandlers } from './sub-organizations/handlers.ts'
import { privateKeyTagHandlers } from './tags/private-key-tags.ts'
import { userTagHandlers } from './tags/user-tags.ts'
import { createUserHandlers } from './users/create-users.ts'
import { userHandlers } from './users/handlers.ts'
import { walletAccountHandlers } from './wallets/account-handlers.ts'
import { walletHandlers } from './wallets/handlers.ts'
import { webhookEndpointHandlers } from './webhook-endpoints/handlers.ts'

const executed = {
  ...createUserHandlers,
  ...userHandlers,
  ...userTagHandlers,
  ...apiKeyHandlers,
  ...authenticatorHandlers,
  ...oauthProviderHandlers,
  ...subOrganizationHandlers,
  ...sessionHandlers,
  ...sessionProfileHandlers,
  ...mfaPolicyHandlers,
  ...policyHandlers,
  ...organizationHandlers,
  ...walletHandlers,
  ...walletAccountHandlers,
  ...privateKeyHandlers,
  ...privateKeyTagHandlers,
  ...importHandlers,
  ...exportHandlers,
  ...secretHandlers,
  ...signRawPayloadHandlers,
  ...signTransactionHandlers,
  ...smartContractInterfaceHandlers,
  ...invitationHandlers,
  ...oauth2CredentialHandlers,
  ...oauth2AuthenticateHandlers,
  ...oauthLoginHandlers,
  ...webhookEndpointHandlers,
  ...ipAllowlistHandlers,
  ...sparkHandlers,
  ...ethSendHandlers,
  ...ethSendRawHandlers,
  ...solSendHandlers,
  ...gasUsageHandlers,
  ...authProxyHandlers,
  ...initOtpHandlers,
  ...verifyOtpHandlers,
  ...otpLoginHandlers,
  ...otpAuthHandlers,
  ...emailAuthHandlers,
} satisfies HandlerRows
type ExecutedType = keyof typeof executed
type OtherType = Exclude<ActivityType, ExecutedType>

/** Does not compile unless every family that has a type left over says why. */
const reasons: Readonly<Record<FamilyOf<OtherType>, string>> & Partial<Record<ActivityFamily, string>> =
  notExecutedReasons

/**
 * INVARIANT: the decoder has checked an intent against its type before a handler sees it. So a handler of the typed
 * intent is one of the JSON, which the one cast below says.
 */
export const handlers: Readonly<Record<ActivityType, Handler | NotExecuted>> = {
  ...notExecutedRows<OtherType>(reasons),
  ...boundLists(executed as unknown as Readonly<Record<ExecutedType, Handler | NotExecuted>>),
}
