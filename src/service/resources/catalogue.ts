/**
 * What this service does with every activity type and every query of the API: who carries it out or answers it, or why nobody
 * does. The compiler asks for a row for each.
 */

import {
  type ActivityFamily,
  type ActivityRow,
  type ActivityType,
  activities,
  type QueryName,
} from '../../protocol/index.ts'
import type { Handler, NotExecuted, QueryHandler } from '../engine/index.ts'
import { getActivity, getPolicyEvaluations, listActivities } from './activities/queries.ts'
import { apiKeyHandlers } from './api-keys/handlers.ts'
import { apiKeyList } from './api-keys/store.ts'
import { appProofQueries } from './app-proofs/queries.ts'
import { authProxyHandlers } from './auth-proxy/handlers.ts'
import { authenticatorHandlers } from './authenticators/handlers.ts'
import { authenticatorQueries } from './authenticators/queries.ts'
import { authenticatorList } from './authenticators/store.ts'
import { assetQueries } from './balances/queries.ts'
import { billingHandlers } from './billing/handlers.ts'
import { emailAuthHandlers } from './email-auth/handlers.ts'
import { exportHandlers } from './exports/handlers.ts'
import { fiatOnRampHandlers } from './fiat-on-ramp/handlers.ts'
import { fiatOnRampQueries } from './fiat-on-ramp/queries.ts'
import { fiatOnRampCredentialList } from './fiat-on-ramp/store.ts'
import { gasUsageHandlers } from './gas-usage/handlers.ts'
import { gasUsageQueries } from './gas-usage/queries.ts'
import type { FamilyOf, HandlerRows } from './handler-table.ts'
import { historyQueries } from './history/queries.ts'
import { importHandlers } from './imports/handlers.ts'
import { invitationHandlers } from './invitations/handlers.ts'
import { invitationList } from './invitations/store.ts'
import { ipAllowlistHandlers } from './ip-allowlists/handlers.ts'
import { messageQueries } from './messages/queries.ts'
import { mfaPolicyHandlers } from './mfa-policies/handlers.ts'
import { mfaPolicyQueries } from './mfa-policies/queries.ts'
import { mfaPolicyList } from './mfa-policies/store.ts'
import { oauthLoginHandlers } from './oauth-login/handlers.ts'
import { oauth2AuthenticateHandlers } from './oauth-login/oauth2-authenticate.ts'
import { oauthProviderHandlers } from './oauth-providers/handlers.ts'
import { oauthProviderQueries } from './oauth-providers/queries.ts'
import { oauthProviderList } from './oauth-providers/store.ts'
import { oauth2CredentialHandlers } from './oauth2-credentials/handlers.ts'
import { oauth2CredentialQueries } from './oauth2-credentials/queries.ts'
import { oauth2CredentialList } from './oauth2-credentials/store.ts'
import { initOtpHandlers } from './one-time-passcodes/init-otp.ts'
import { otpAuthHandlers } from './one-time-passcodes/otp-auth.ts'
import { otpLoginHandlers } from './one-time-passcodes/otp-login.ts'
import { verifyOtpHandlers } from './one-time-passcodes/verify-otp.ts'
import { parentHandlers } from './organizations/create.ts'
import { featureList } from './organizations/features-store.ts'
import { organizationHandlers } from './organizations/handlers.ts'
import { organizationQueries } from './organizations/queries.ts'
import { policyHandlers } from './policies/handlers.ts'
import { policyQueries } from './policies/queries.ts'
import { policyList } from './policies/store.ts'
import { privateKeyHandlers } from './private-keys/handlers.ts'
import { privateKeyQueries } from './private-keys/queries.ts'
import { privateKeyList } from './private-keys/store.ts'
import type { QueryRows } from './query-table.ts'
import { secretHandlers } from './secrets/handlers.ts'
import { secretQueries } from './secrets/queries.ts'
import { ethSendHandlers } from './sends/eth-send.ts'
import { ethSendRawHandlers } from './sends/eth-send-raw.ts'
import { sendQueries } from './sends/queries.ts'
import { solSendHandlers } from './sends/sol-send.ts'
import { sessionProfileHandlers } from './session-profiles/handlers.ts'
import { sessionProfileQueries } from './session-profiles/queries.ts'
import { sessionProfileList } from './session-profiles/store.ts'
import { sessionHandlers } from './sessions/handlers.ts'
import { signRawPayloadHandlers } from './signatures/sign-raw-payload.ts'
import { signTransactionHandlers } from './signatures/sign-transaction.ts'
import { sparkHandlers } from './signatures/spark.ts'
import { smartContractInterfaceHandlers } from './smart-contract-interfaces/handlers.ts'
import { smartContractInterfaceQueries } from './smart-contract-interfaces/queries.ts'
import { interfaceList } from './smart-contract-interfaces/store.ts'
import { boundLists, type GrownLists } from './stored.ts'
import { subOrganizationHandlers } from './sub-organizations/handlers.ts'
import { subOrganizationQueries } from './sub-organizations/queries.ts'
import { privateKeyTagHandlers } from './tags/private-key-tags.ts'
import { tagList } from './tags/store.ts'
import { userTagHandlers } from './tags/user-tags.ts'
import { tvcAppHandlers } from './tvc-apps/handlers.ts'
import { tvcAppQueries } from './tvc-apps/queries.ts'
import { tvcDeploymentHandlers } from './tvc-deployments/handlers.ts'
import { tvcDeploymentQueries } from './tvc-deployments/queries.ts'
import { tvcDeploymentList } from './tvc-deployments/store.ts'
import { tvcOperatorHandlers } from './tvc-operators/handlers.ts'
import { tvcQuorumKeyHandlers } from './tvc-quorum-keys/handlers.ts'
import { createUserHandlers } from './users/create-users.ts'
import { userHandlers } from './users/handlers.ts'
import { userQueries } from './users/queries.ts'
import { userList } from './users/store.ts'
import { walletAccountHandlers } from './wallets/account-handlers.ts'
import { walletHandlers } from './wallets/handlers.ts'
import { walletQueries } from './wallets/queries.ts'
import { walletList } from './wallets/store.ts'
import { webhookEndpointHandlers } from './webhook-endpoints/handlers.ts'
import { webhookEndpointQueries } from './webhook-endpoints/queries.ts'
import { webhookEndpointList } from './webhook-endpoints/store.ts'

// Activities

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
  ...parentHandlers,
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
  ...fiatOnRampHandlers,
  ...billingHandlers,
  ...oauth2AuthenticateHandlers,
  ...oauthLoginHandlers,
  ...webhookEndpointHandlers,
  ...ipAllowlistHandlers,
  ...tvcOperatorHandlers,
  ...tvcAppHandlers,
  ...tvcDeploymentHandlers,
  ...tvcQuorumKeyHandlers,
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

const MARKETS = 'there is no market or yield provider behind this service'
const VOTE = 'votes are counted by the engine'

const notExecuted = {
  APPROVE_ACTIVITY: VOTE,
  REJECT_ACTIVITY: VOTE,
  CREATE_SWAP_QUOTE: MARKETS,
  EXECUTE_SWAP: MARKETS,
  UPSERT_SWAP_CONFIG: MARKETS,
  CLAIM_SWAP_FEES: MARKETS,
  EARN_DEPLOY_WRAPPER: MARKETS,
  EARN_DEPOSIT: MARKETS,
  EARN_WITHDRAW: MARKETS,
  EARN_SET_WRAPPER_STATE: MARKETS,
  CLAIM_EARN_FEES: MARKETS,
} as const satisfies Partial<Record<ActivityFamily, string>>

const LISTS_OF_USERS = [userList, apiKeyList, authenticatorList, oauthProviderList]

/** The families that are asked which lists they add to; others may say so. */
type Adding = Extract<
  FamilyOf<ExecutedType>,
  `${'CREATE' | 'IMPORT' | 'SET' | 'UPDATE'}_${string}` | 'ACCEPT_INVITATION' | 'RECOVER_USER'
>

const NEW_ORGANIZATION = 'the lists of a new organization have room for any request'
const FEW_KEYS = 'users have few expiring keys, of names of 255 characters'
const PAGED = 'what it adds to is read by pages, and its names have at most 255 characters'
const REPLACED = 'it replaces what was there, and a request is bounded'
const SHORT = 'what it replaces is bounded by the checks of its fields'

/** The lists that an activity may add texts to, which are bounded; or why nothing that it adds needs to be. */
const grown: GrownLists & Readonly<Record<Adding, NonNullable<GrownLists[Adding]>>> = {
  CREATE_POLICY: [policyList],
  CREATE_POLICIES: [policyList],
  UPDATE_POLICY: [policyList],
  CREATE_MFA_POLICY: [mfaPolicyList],
  UPDATE_MFA_POLICY: [mfaPolicyList],
  CREATE_SESSION_PROFILE: [sessionProfileList],
  CREATE_SMART_CONTRACT_INTERFACE: [interfaceList],
  CREATE_WALLET: [walletList],
  IMPORT_WALLET: [walletList],
  UPDATE_WALLET: [walletList],
  CREATE_PRIVATE_KEYS: [privateKeyList],
  IMPORT_PRIVATE_KEY: [privateKeyList],
  CREATE_USERS: LISTS_OF_USERS,
  CREATE_API_ONLY_USERS: LISTS_OF_USERS,
  UPDATE_USER: [userList],
  UPDATE_USER_NAME: [userList],
  CREATE_API_KEYS: [apiKeyList],
  CREATE_AUTHENTICATORS: [authenticatorList],
  CREATE_OAUTH_PROVIDERS: [oauthProviderList],
  CREATE_USER_TAG: [tagList],
  UPDATE_USER_TAG: [tagList],
  CREATE_PRIVATE_KEY_TAG: [tagList],
  UPDATE_PRIVATE_KEY_TAG: [tagList],
  SET_ORGANIZATION_FEATURE: [featureList],
  CREATE_INVITATIONS: [invitationList],
  CREATE_OAUTH2_CREDENTIAL: [oauth2CredentialList],
  UPDATE_OAUTH2_CREDENTIAL: [oauth2CredentialList],
  CREATE_FIAT_ON_RAMP_CREDENTIAL: [fiatOnRampCredentialList],
  UPDATE_FIAT_ON_RAMP_CREDENTIAL: [fiatOnRampCredentialList],
  ACCEPT_INVITATION: [userList, authenticatorList],
  RECOVER_USER: [authenticatorList],
  CREATE_TVC_OPERATOR: [walletList],
  CREATE_TVC_APP: 'an organization has few apps, sets and operators, with names of at most 255 characters',
  CREATE_TVC_DEPLOYMENT: [tvcDeploymentList],
  CREATE_WEBHOOK_ENDPOINT: [webhookEndpointList],
  UPDATE_WEBHOOK_ENDPOINT: [webhookEndpointList],
  CREATE_ORGANIZATION: NEW_ORGANIZATION,
  CREATE_READ_ONLY_SESSION: 'no answer lists such sessions',
  CREATE_READ_WRITE_SESSION: FEW_KEYS,
  CREATE_SUB_ORGANIZATION: NEW_ORGANIZATION,
  CREATE_TVC_MANIFEST_APPROVALS: 'an operator approves a manifest once, by a signature of 64 bytes',
  CREATE_TVC_QUORUM_KEY: 'no answer lists such keys or their shares',
  CREATE_WALLET_ACCOUNTS: PAGED,
  IMPORT_SECRETS: 'an organization has few secrets, and they are read by pages',
  SET_IP_ALLOWLIST: 'an organization and each of its keys have at most 10 ranges of each kind',
  SET_PAYMENT_METHOD: SHORT,
  UPDATE_ALLOWED_ORIGINS: REPLACED,
  UPDATE_AUTH_PROXY_CONFIG: REPLACED,
  UPDATE_ORGANIZATION_NAME: SHORT,
  UPDATE_ROOT_QUORUM: 'it names users, of whom there are few',
  UPDATE_TVC_APP_LIVE_DEPLOYMENT: SHORT,
  UPDATE_USER_EMAIL: SHORT,
  UPDATE_USER_PHONE_NUMBER: SHORT,
  UPDATE_WALLET_ACCOUNT_NAME: PAGED,
}

/** Does not compile unless every family that has a type left over says why. */
const reasons: Readonly<Record<FamilyOf<OtherType>, string>> & Partial<Record<ActivityFamily, string>> = notExecuted

/**
 * INVARIANT: the decoder has checked an intent against its type before a handler sees it. So a handler of the typed
 * intent is one of the JSON, which the one cast below says.
 */
export const handlers: Readonly<Record<ActivityType, Handler | NotExecuted>> = {
  ...refuseOthers(),
  ...boundLists(executed as unknown as Readonly<Record<ExecutedType, Handler | NotExecuted>>, grown),
}

function refuseOthers(): Record<OtherType, NotExecuted> {
  const rows = Object.values(activities).flatMap(({ type, family }: ActivityRow) => {
    const reason = reasons[family]
    return reason === undefined ? [] : [[type, { notExecuted: reason }] as const]
  })
  return Object.fromEntries(rows) as Record<OtherType, NotExecuted>
}

// Queries

const answered = {
  ...organizationQueries,
  ...userQueries,
  ...policyQueries,
  ...sessionProfileQueries,
  ...mfaPolicyQueries,
  ...walletQueries,
  ...privateKeyQueries,
  ...secretQueries,
  ...smartContractInterfaceQueries,
  ...messageQueries,
  ...oauth2CredentialQueries,
  ...fiatOnRampQueries,
  ...authenticatorQueries,
  ...oauthProviderQueries,
  ...subOrganizationQueries,
  ...webhookEndpointQueries,
  ...sendQueries,
  ...gasUsageQueries,
  ...assetQueries,
  ...appProofQueries,
  ...historyQueries,
  ...tvcAppQueries,
  ...tvcDeploymentQueries,
} satisfies QueryRows

/** The queries that are not answered, and why: the reason is part of the refusal. */
const notAnswered = {
  get_swap_status: MARKETS,
  get_claim_earn_fees_status: MARKETS,
  get_earn_deploy_status: MARKETS,
  get_earn_deposit_status: MARKETS,
  get_earn_withdraw_status: MARKETS,
  list_earn_enabled_vaults: MARKETS,
  list_earn_positions: MARKETS,
  list_earn_vaults: MARKETS,
} as const satisfies Partial<Record<QueryName, string>>

/**
 * INVARIANT: the decoder has checked a request against its type before it is answered. So a query over the typed request
 * is one over the JSON, which the first cast below says.
 */
export const queryHandlers = {
  ...(answered as unknown as Readonly<Record<keyof typeof answered, QueryHandler>>),
  get_activity: getActivity,
  list_activities: listActivities,
  get_policy_evaluations: getPolicyEvaluations,
  ...refuseQueries(),
} satisfies Readonly<Record<QueryName, QueryHandler | NotExecuted>>

function refuseQueries(): Readonly<Record<keyof typeof notAnswered, NotExecuted>> {
  const rows = Object.entries(notAnswered).map(([name, reason]) => [name, { notExecuted: reason }])
  return Object.fromEntries(rows) // every row of the table, by its name
}
