/**
 * The typed schema of the service's database. Times are milliseconds since the epoch; JSON columns hold text;
 * booleans are 0 or 1. Every row carries the organization it belongs to, and every query names it: an id of another
 * organization must look like an id that does not exist. Column names are the wire's words in snake case.
 */
import type { Generated } from 'kysely'
import type { WebhookEventType } from '../../webhook/index.ts'

/** A row with its place in the order of creation: within its organization, an organization's within its parent. */
type InOrder<Row> = Row & { position: number }

export interface Schema {
  organizations: InOrder<OrganizationRow>
  quorum_members: QuorumMemberRow
  features: FeatureRow
  users: InOrder<UserRow>
  tags: InOrder<TagRow>
  tag_members: TagMemberRow
  api_keys: InOrder<ApiKeyRow>
  session_profiles: InOrder<SessionProfileRow>
  mfa_policies: InOrder<MfaPolicyRow>
  read_only_sessions: ReadOnlySessionRow
  policies: InOrder<PolicyRow>
  sends: Omit<SendRow, 'position'> & { position: Generated<number> }
  send_attempts: SendAttemptRow
  wallets: InOrder<WalletRow>
  wallet_accounts: WalletAccountRow
  wallet_account_keys: WalletAccountKeyRow
  private_keys: InOrder<PrivateKeyRow>
  private_key_addresses: PrivateKeyAddressRow
  smart_contract_interfaces: InOrder<SmartContractInterfaceRow>
  webhook_endpoints: InOrder<WebhookEndpointRow>
  webhook_deliveries: WebhookDeliveryRow
  webhook_failures: WebhookFailureRow
  invitations: InOrder<InvitationRow>
  oauth2_credentials: InOrder<Oauth2CredentialRow>
  ip_allowlists: IpAllowlistRow
  api_key_ip_allowlists: ApiKeyIpAllowlistRow
  activities: ActivityRecordRow
  votes: VoteRow
  policy_evaluations: PolicyEvaluationRow
  denials: DenialsRow
  policy_versions: PolicyVersionRow
  policy_sets: PolicySetRow
  service_keys: ServiceKeyRow
  settings: SettingRow
  authenticators: InOrder<AuthenticatorRow>
  oauth_providers: InOrder<OauthProviderRow>
  verified_contacts: VerifiedContactRow
  used_verification_tokens: UsedVerificationTokenRow
  one_time_passcodes: OneTimePasscodeRow
  messages: MessageRow
  email_events: Omit<EmailEventRow, 'position'> & { position: Generated<number> }
  import_targets: ImportTargetRow
  app_proofs: AppProofsRow
  gas_usage_configs: GasUsageConfigRow
  gas_usages: GasUsageRow
  auth_proxies: AuthProxyRow
}

/** The tables whose rows have a place in the order of creation (`in-order.ts`). */
export type OrderedTable =
  | 'users'
  | 'tags'
  | 'api_keys'
  | 'authenticators'
  | 'oauth_providers'
  | 'oauth2_credentials'
  | 'invitations'
  | 'session_profiles'
  | 'mfa_policies'
  | 'policies'
  | 'wallets'
  | 'private_keys'
  | 'smart_contract_interfaces'
  | 'webhook_endpoints'
  | 'organizations'

export interface OrganizationRow {
  id: string
  /** Null for a parent. */
  parent_id: string | null
  name: string
  quorum_threshold: number
  created_at: number
  updated_at: number
  /** Null while it stands; of a deleted one only the row and its activities stay, for audit. */
  deleted_at: number | null
}

export interface QuorumMemberRow {
  organization_id: string
  user_id: string
  position: number
}

export interface FeatureRow {
  organization_id: string
  name: string
  value: string
}

export interface UserRow {
  id: string
  organization_id: string
  name: string
  email: string | null
  phone_number: string | null
  created_at: number
  updated_at: number
}

export interface TagRow {
  id: string
  organization_id: string
  name: string
  /** TAG_TYPE_USER or TAG_TYPE_PRIVATE_KEY. */
  type: string
  created_at: number
  updated_at: number
}

export interface TagMemberRow {
  organization_id: string
  tag_id: string
  /** A user or a private key, by the tag's type. */
  member_id: string
}

export interface ApiKeyRow {
  id: string
  organization_id: string
  user_id: string
  name: string
  /** Lower-case hex, compressed. Unique in an organization. */
  public_key: string
  /** CREDENTIAL_TYPE_API_KEY_P256, … */
  credential_type: string
  /** Seconds of validity from `created_at`; null for a long-lived key. */
  expiration_seconds: number | null
  /** Of a login's key, the profile that limits what it may do; null or absent for none. */
  session_profile_id?: string | null | undefined
  created_at: number
  updated_at: number
}

/** What the keys of a login may do, in the policy language (docs/protocol/sessions.md#session-profiles). It never changes. */
export interface SessionProfileRow {
  id: string
  organization_id: string
  name: string
  scope: string
  expiration_seconds: number | null
  notes: string
  created_at: number
  updated_at: number
}

/** The further factors that a user's votes need (docs/protocol/mfa.md). */
export interface MfaPolicyRow {
  id: string
  organization_id: string
  user_id: string
  name: string
  condition: string
  /** JSON: a list of steps, each a list of `{type, id?}`. */
  steps: string
  evaluation_order: number
  notes: string
  created_at: number
  updated_at: number
}

/** A read-only session: its token is kept by its hash alone. */
export interface ReadOnlySessionRow {
  /** Hex of the SHA-256 of the token. */
  token_hash: string
  organization_id: string
  user_id: string
  created_at: number
  expires_at: number
}

export interface PolicyRow {
  id: string
  organization_id: string
  name: string
  effect: string
  /** Null when absent (holds). */
  consensus: string | null
  condition: string | null
  time: string | null
  notes: string
  created_at: number
  updated_at: number
}

export interface WalletRow {
  id: string
  organization_id: string
  name: string
  /** The mnemonic, sealed under the master key for this very row. */
  sealed_mnemonic: Uint8Array
  exported: number
  imported: number
  created_at: number
  updated_at: number
}

export interface WalletAccountRow {
  id: string
  organization_id: string
  wallet_id: string
  curve: string
  path_format: string
  path: string
  address_format: string
  address: string
  /** Hex; compressed for secp256k1 and P-256, 32 bytes for Ed25519. */
  public_key: string
  name: string | null
  /** 1 once the account alone was exported; its wallet has a mark of its own. */
  exported: number
  /** Creation order within the organization. */
  position: number
  created_at: number
  updated_at: number
}

/** The key of an account, so that nobody need open its wallet's words to sign. */
export interface WalletAccountKeyRow {
  account_id: string
  organization_id: string
  /** 32 bytes, sealed under the master key for this very row. */
  sealed_private_key: Uint8Array
}

/** A key of its own, in no wallet. */
export interface PrivateKeyRow {
  id: string
  organization_id: string
  name: string
  curve: string
  /** Hex; compressed for secp256k1 and P-256, 32 bytes for Ed25519. */
  public_key: string
  /** 32 bytes, sealed under the master key for this very row. */
  sealed_private_key: Uint8Array
  exported: number
  imported: number
  /** Set by the obsolete `disable_private_key`: nothing may be signed with it any more. */
  disabled: number
  created_at: number
  updated_at: number
}

export interface PrivateKeyAddressRow {
  organization_id: string
  private_key_id: string
  /** Order of the request. */
  position: number
  format: string
  address: string
}

export interface SmartContractInterfaceRow {
  id: string
  organization_id: string
  /** As it was sent: Ethereum compares it without regard to case, Solana exactly. */
  address: string
  /** The JSON text as it was sent. */
  interface: string
  /** SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM or _SOLANA. */
  type: string
  label: string
  notes: string
  created_at: number
  updated_at: number
}

export interface WebhookEndpointRow {
  id: string
  organization_id: string
  url: string
  name: string
  is_active: number
  /** JSON of `[{eventType, filtersJson?, isActive}]`: no activity changes them after the creation. */
  subscriptions: string
  created_at: number
  updated_at: number
}

/** An event that an endpoint is still to be told of: written with the change that it reports. */
export interface WebhookDeliveryRow {
  event_id: string
  /** The owner of the endpoint. */
  organization_id: string
  endpoint_id: string
  event_type: WebhookEventType
  /** JSON as it is sent, byte for byte at every attempt. */
  body: string
  /** How many were made and failed. */
  attempts: number
  next_attempt_at: number
  created_at: number
}

/** An event that an endpoint was not told of, and never will be. */
export interface WebhookFailureRow {
  /** In the order in which they were given up; the database gives it. */
  position: Generated<number>
  event_id: string
  organization_id: string
  endpoint_id: string
  event_type: WebhookEventType
  /** With its port; the rest of the URL may hold a secret of its owner. */
  host: string
  attempts: number
  reason: string
  failed_at: number
}

export interface InvitationRow {
  id: string
  organization_id: string
  receiver_user_name: string
  receiver_user_email: string
  /** JSON list of the ids of user tags. */
  receiver_user_tags: string
  access_type: string
  sender_user_id: string
  created_at: number
  updated_at: number
}

export interface Oauth2CredentialRow {
  id: string
  organization_id: string
  provider: string
  client_id: string
  /** As it was sent: sealed to the service's key by the client. */
  encrypted_client_secret: string
  created_at: number
  updated_at: number
}

/** The list that a parent organization judges the source of requests by. */
export interface IpAllowlistRow {
  organization_id: string
  enabled: number
  /** ALLOW, DENY, or null when nobody has said. */
  on_evaluation_error: string | null
  /** JSON of `[{cidr, label?, createdAt}]`, the blocks in their normal form. */
  rules: string
}

/** The list of one API key, which goes with the key. */
export interface ApiKeyIpAllowlistRow {
  organization_id: string
  /** Lower-case hex, as `api_keys` has it. */
  public_key: string
  on_evaluation_error: string | null
  rules: string
}

export interface ActivityRecordRow {
  id: string
  organization_id: string
  type: string
  status: string
  fingerprint: string
  /** JSON of `parameters` as checked, in wire spelling. */
  intent: string
  /** JSON of what the world outside answered when it was submitted, or null: it is judged by that until it ends. */
  answers: string | null
  /** JSON of the result object, or null. */
  result: string | null
  /** JSON of `{code, message, details}`, or null. */
  failure: string | null
  /** Creation order within the organization: clocks may stand still or step back, this does not. */
  position: number
  timestamp_ms: string
  generate_app_proofs: number
  /** Start of the 24-hour window in which approvals count (docs/protocol/activities.md#the-approval-window). */
  window_opened_at: number
  created_at: number
  updated_at: number
}

export interface VoteRow {
  id: string
  organization_id: string
  activity_id: string
  user_id: string
  credential_id: string
  /** JSON of the credential's facts when the vote was cast: a deleted key's vote must still be explained. */
  credential: string
  selection: string
  /** The raw body that was stamped. */
  message: string
  public_key: string
  signature: string
  scheme: string
  /** Order within the activity. */
  position: number
  /** The MFA policy of its user that applied to it, and whether it waits for further factors. */
  mfa_policy_id: string | null
  mfa_pending: number
  created_at: number
}

export interface PolicyEvaluationRow {
  /** In the order in which they were made; the database gives it. */
  position: Generated<number>
  id: string
  organization_id: string
  activity_id: string
  /** Of a vote that was denied, the id that it was given: no vote has it. */
  vote_id: string
  /** Of the policies that were asked; null when none was. */
  policy_version: string | null
  /** One letter for each policy of that version. */
  outcomes: string
  created_at: number
}

/** Changes whenever a policy of the organization does; kept by triggers, so that no writer can forget it. */
export interface PolicyVersionRow {
  organization_id: string
  /** Random, never used twice: a version that was rolled back cannot come again. */
  version: string
}

/** Which policies an organization had in one version, written when a vote is first judged by it. */
export interface PolicySetRow {
  organization_id: string
  version: string
  /** JSON of their ids, in the order in which their outcomes are told. */
  policy_ids: string
}

/** A key pair of the service itself, which clients pin (docs/protocol/bundles.md#service-keys). */
export interface ServiceKeyRow {
  name: string
  /** Hex, uncompressed. */
  public_key: string
  sealed_private_key: Uint8Array
  created_at: number
}

/** What the service has signed about one activity. */
export interface AppProofsRow {
  activity_id: string
  organization_id: string
  /** JSON list, as it is answered. */
  proofs: string
}

/** A key pair that one user may encrypt one import to (docs/protocol/bundles.md#import-targets). */
export interface ImportTargetRow {
  /** Hex, uncompressed. */
  public_key: string
  organization_id: string
  user_id: string
  /** wallet or private-key. */
  kind: string
  sealed_private_key: Uint8Array
  created_at: number
}

/** Facts about this installation. */
export interface SettingRow {
  name: string
  value: string
}

/** A passkey, as its registration showed it (docs/protocol/organizations.md#passkey-registration). */
export interface AuthenticatorRow {
  id: string
  organization_id: string
  user_id: string
  name: string
  /** Base64url without padding. Unique in an organization. */
  credential_id: string
  /** The COSE key, base64url. */
  public_key: string
  /** JSON list of AUTHENTICATOR_TRANSPORT_…. */
  transports: string
  /** The format of the attestation statement: none, packed, …. */
  attestation_type: string
  /** Base64url of 16 bytes. */
  aaguid: string
  model: string
  /** Base64url; the same in every assertion. */
  rp_id_hash: string
  backup_eligible: number
  /** As last told; it refuses nothing. */
  sign_count: number
  created_at: number
  updated_at: number
}

/** The identity of a user at an OIDC issuer. Issuer, audience and subject together are unique in an organization. */
export interface OauthProviderRow {
  id: string
  organization_id: string
  user_id: string
  name: string
  issuer: string
  audience: string
  subject: string
  created_at: number
  updated_at: number
}

/** A contact that a user has proved to have; it says nothing of another one that the user has taken since. */
/** A code that was sent, or was: it is kept as long as it counts against the limits. */
export interface OneTimePasscodeRow {
  id: string
  organization_id: string
  /** The protocol that it was asked for by: PLAIN, ENCRYPTED or AUTH. */
  flow: string
  otp_type: string
  /** In its one form. */
  contact: string
  /** Hex of a hash of what the client calls its end user; null where it does not. */
  user_identifier: string | null
  /** The user who logs in by it, where one was found when it was asked for. */
  user_id: string | null
  /** Hex of the code's keyed hash; null once it is dead: used, locked, or pushed out by newer ones. */
  code_hash: string | null
  /** The key of the hash, then the private key that a client encrypts the code to, if there is one; null once it is dead. */
  sealed_keys: Uint8Array | null
  failed_attempts: number
  created_at: number
  expires_at: number
}

/** What is to be sent to a person, until it was. */
export interface MessageRow {
  id: string
  organization_id: string
  sealed_content: Uint8Array
  attempts: number
  next_attempt_at: number
  expires_at: number
  created_at: number
}

/** What came of an e-mail. */
export interface EmailEventRow {
  position: number
  id: string
  organization_id: string
  message_id: string
  event_type: string
  from_address: string
  to_address: string
  /** JSON. */
  details: string
  occurred_at: number
}

export interface UsedVerificationTokenRow {
  token_id: string
  /** The organization that issued it. */
  organization_id: string
  /** The organization that it signed up, whose user it has not logged in since; null once it has no use. */
  signed_up_id: string | null
  /** It is forgotten then. */
  expires_at: number
}

export interface VerifiedContactRow {
  organization_id: string
  user_id: string
  /** EMAIL or PHONE_NUMBER. */
  type: string
  /** E-mail addresses in lower case. */
  contact: string
}

/** A transaction that the service completes, signs, broadcasts and watches (docs/protocol/sends.md). */
export interface SendRow {
  id: string
  organization_id: string
  activity_id: string
  caip2: string
  /** The address that the chain has it from, and whose nonce it has; lower case for Ethereum. */
  sender: string
  /** The address that it is sent for where the sender only pays, or null. */
  account: string | null
  /** JSON of what was asked for: the call, and the fields that the caller has set. */
  request: string
  /** INITIALIZED, BROADCASTING, INCLUDED or FAILED; the last two never change. */
  status: 'INITIALIZED' | 'BROADCASTING' | 'INCLUDED' | 'FAILED'
  /** Null until it is signed, and again when no node has taken it. */
  nonce: number | null
  /** Of the form that was included, or of the newest that was broadcast. */
  hash: string | null
  /** JSON of the error as the API has it, or null. */
  failure: string | null
  /** Order of acceptance, of all organizations; the database gives it. */
  position: number
  created_at: number
  updated_at: number
}

/** One signed form of a send: the first, or one with higher fees. All of them have the same nonce. */
export interface SendAttemptRow {
  send_id: string
  organization_id: string
  number: number
  hash: string
  /** Ethereum's in hex with `0x`, Solana's in base64; kept before it is broadcast: what a node may have is never forgotten. */
  signed_transaction: string
  /** JSON of what its bytes do not say: of Solana's until when it may be included; null of Ethereum's. */
  terms: string | null
  created_at: number
}

/** How much of its own and its sub-organizations' sends a parent pays for (docs/protocol/sends.md#sponsorship-limits). */
export interface GasUsageConfigRow {
  organization_id: string
  id: string
  /** Decimal, as it was sent: for the parent and all its sub-organizations together. */
  org_window_limit_usd: string
  /** Decimal, as it was sent: for each sub-organization. */
  sub_org_window_limit_usd: string
  window_duration_minutes: number
  enabled: number
  /** JSON of `{rentPrefundEnabled?}`, or null. */
  solana_config: string | null
  created_at: number
  updated_at: number
}

/** The cost of one sponsored send: an estimate until it is included. */
export interface GasUsageRow {
  send_id: string
  /** The sender's organization. */
  organization_id: string
  /** The parent whose limits it counts towards; the sender's own organization where that is the parent. */
  paying_organization_id: string
  /** Millionths of a dollar, rounded up. */
  micro_usd: number
  /** When the send was accepted: the moment that places it in the window. */
  created_at: number
}

/** Denied requests of a user on one day since the epoch. */
export interface DenialsRow {
  readonly organization_id: string
  readonly user_id: string
  readonly day: number
  readonly kept: number
  /** Repetitions, and what was more than is kept of a day. */
  readonly not_kept: number
}

/** The authentication proxy of a parent (docs/protocol/auth-proxy.md). */
export interface AuthProxyRow {
  organization_id: string
  /** Names the configuration in `X-Auth-Proxy-Config-Id`; stays while the proxy is switched off. */
  config_id: string
  enabled: number
  /** The user whom the proxy acts as, and the policy that lets it; null while it is off, as are the halves of its key. */
  user_id: string | null
  policy_id: string | null
  public_key: string | null
  sealed_private_key: Uint8Array | null
  /** JSON of the parameters of `update_auth_proxy_config` that are set. */
  settings: string
  created_at: number
  updated_at: number
}
