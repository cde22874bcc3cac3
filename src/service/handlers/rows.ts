import type { ActivityFamily, ActivityType } from '../../protocol/index.ts'
import type { Handler, NotExecuted } from '../engine/handler.ts'
import { apiKeyHandlers } from './api-keys.ts'
import { authenticatorHandlers } from './authenticators.ts'
import { createUserHandlers } from './create-users.ts'
import { ethSendHandlers } from './eth-send.ts'
import { ethSendRawHandlers } from './eth-send-raw.ts'
import { exportHandlers } from './exports.ts'
import { gasUsageHandlers } from './gas-usage.ts'
import { importHandlers } from './imports.ts'
import { invitationHandlers } from './invitations.ts'
import { ipAllowlistHandlers } from './ip-allowlist.ts'
import { notExecutedReasons, notExecutedRows } from './not-executed.ts'
import { oauthProviderHandlers } from './oauth-providers.ts'
import { oauth2CredentialHandlers } from './oauth2-credentials.ts'
import { organizationHandlers } from './organization.ts'
import { policyHandlers } from './policies.ts'
import { privateKeyTagHandlers } from './private-key-tags.ts'
import { privateKeyHandlers } from './private-keys.ts'
import { signRawPayloadHandlers } from './sign-raw-payload.ts'
import { signTransactionHandlers } from './sign-transaction.ts'
import { smartContractInterfaceHandlers } from './smart-contract-interfaces.ts'
import { solSendHandlers } from './sol-send.ts'
import { sparkHandlers } from './spark.ts'
import { subOrganizationHandlers } from './sub-organizations.ts'
import type { FamilyOf, HandlerRows } from './table.ts'
import { userTagHandlers } from './user-tags.ts'
import { userHandlers } from './users.ts'
import { walletAccountHandlers } from './wallet-accounts.ts'
import { walletHandlers } from './wallets.ts'
import { webhookEndpointHandlers } from './webhook-endpoints.ts'

const executed = {
  ...createUserHandlers,
  ...userHandlers,
  ...userTagHandlers,
  ...apiKeyHandlers,
  ...authenticatorHandlers,
  ...oauthProviderHandlers,
  ...subOrganizationHandlers,
  ...policyHandlers,
  ...organizationHandlers,
  ...walletHandlers,
  ...walletAccountHandlers,
  ...privateKeyHandlers,
  ...privateKeyTagHandlers,
  ...importHandlers,
  ...exportHandlers,
  ...signRawPayloadHandlers,
  ...signTransactionHandlers,
  ...smartContractInterfaceHandlers,
  ...invitationHandlers,
  ...oauth2CredentialHandlers,
  ...webhookEndpointHandlers,
  ...ipAllowlistHandlers,
  ...sparkHandlers,
  ...ethSendHandlers,
  ...ethSendRawHandlers,
  ...solSendHandlers,
  ...gasUsageHandlers,
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
  ...(executed as unknown as Readonly<Record<ExecutedType, Handler | NotExecuted>>),
}
