/**
 * The typed schema of the service's database. Times are milliseconds since the epoch; JSON columns hold text;
 * booleans are 0 or 1. Every row carries the organization it belongs to, and every query names it: an id of another
 * organization must look like an id that does not exist. Column names are the wire's words in snake case.
 */
import type { Generated } from 'kysely'

/** A row with its place in the order of creation: within its organization, an organization's within its parent. */
export type InOrder<Row> = Row & { position: number }

/**
 * The tables, by name. Here are those that the statements of this room read; each other one is declared beside its statements,
 * in the `store.ts` of its resource, by `declare module … { interface Schema { … } }`.
 */
export interface Schema {
  organizations: InOrder<OrganizationRow>
  quorum_members: QuorumMemberRow
  users: InOrder<UserRow>
  tag_members: TagMemberRow
  api_keys: InOrder<ApiKeyRow>
  activities: InOrder<ActivityRecordRow>
  votes: VoteRow
  policy_evaluations: PolicyEvaluationRow
  denials: DenialsRow
  policy_versions: PolicyVersionRow
  policy_sets: PolicySetRow
  service_keys: ServiceKeyRow
  settings: SettingRow
  authenticators: InOrder<AuthenticatorRow>
  oauth_providers: InOrder<OauthProviderRow>
}

/** The tables whose rows have a place in the order of creation (`in-order.ts`); a vote's place is in its activity. */
export type OrderedTable = {
  [Table in keyof Schema]: Schema[Table] extends { id: string; position: number } ? Table : never
}[Exclude<keyof Schema, 'votes'>]

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

export interface UserRow {
  id: string
  organization_id: string
  name: string
  email: string | null
  phone_number: string | null
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
  /** The id of what the policies made of it; null of a vote that has a row of `policy_evaluations`, as all once had. */
  evaluation_id: string | null
  /** Of the policies that were asked; null when none was. */
  policy_version: string | null
  /** One letter for each policy of that version. */
  outcomes: string | null
  created_at: number
}

/** What policies made of a vote that was denied. */
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
  /** The position of the last vote of that time; null of what was written before votes had evaluations of their own. */
  behind_vote: number | null
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

/** Denied requests of a user on one day since the epoch. */
export interface DenialsRow {
  readonly organization_id: string
  readonly user_id: string
  readonly day: number
  readonly kept: number
  /** Repetitions, and what was more than is kept of a day. */
  readonly not_kept: number
}
