import { DatabaseSync } from 'node:sqlite'
import { fromSqliteError, schemaDiffers } from './error.ts'
import { accountKeys } from './migrations/account-keys.ts'
import { activitiesOfSends } from './migrations/activities-of-sends.ts'
import { allowedOrigins } from './migrations/allowed-origins.ts'
import { answers } from './migrations/answers.ts'
import { appProofs } from './migrations/app-proofs.ts'
import { authProxies } from './migrations/auth-proxies.ts'
import { balanceChanges } from './migrations/balance-changes.ts'
import { billing } from './migrations/billing.ts'
import { denials } from './migrations/denials.ts'
import { deniedVotes } from './migrations/denied-votes.ts'
import { evaluationsOfVotes } from './migrations/evaluations-of-votes.ts'
import { exportedSecrets } from './migrations/exported-secrets.ts'
import { fiatOnRamp } from './migrations/fiat-on-ramp.ts'
import { finalityOfSends } from './migrations/finality-of-sends.ts'
import { gasUsage } from './migrations/gas-usage.ts'
import { givenContacts } from './migrations/given-contacts.ts'
import { keyHolders } from './migrations/key-holders.ts'
import { keysOfInvitations } from './migrations/keys-of-invitations.ts'
import { lanesOfSends } from './migrations/lanes-of-sends.ts'
import { lanesOfSolana } from './migrations/lanes-of-solana.ts'
import { listsOfActivities } from './migrations/lists-of-activities.ts'
import { mfaPolicies } from './migrations/mfa-policies.ts'
import type { Migration } from './migrations/migration.ts'
import { oneTimePasscodes } from './migrations/one-time-passcodes.ts'
import { passkeysAndProviders } from './migrations/passkeys-and-providers.ts'
import { policySets } from './migrations/policy-sets.ts'
import { positions } from './migrations/positions.ts'
import { privateKeysAndRest } from './migrations/private-keys-and-rest.ts'
import { reasonsOfDeliveries } from './migrations/reasons-of-deliveries.ts'
import { secrets } from './migrations/secrets.ts'
import { sends } from './migrations/sends.ts'
import { sendsByHash } from './migrations/sends-by-hash.ts'
import { sendsOfRestores } from './migrations/sends-of-restores.ts'
import { sessions } from './migrations/sessions.ts'
import { sharedDatabases } from './migrations/shared-databases.ts'
import { signing } from './migrations/signing.ts'
import { solanaAddresses } from './migrations/solana-addresses.ts'
import { solanaSends } from './migrations/solana-sends.ts'
import { sponsoredSends } from './migrations/sponsored-sends.ts'
import { tokensOfSignUps } from './migrations/tokens-of-sign-ups.ts'
import { tvc } from './migrations/tvc.ts'
import { verificationTokens } from './migrations/verification-tokens.ts'
import { votesByActivity } from './migrations/votes-by-activity.ts'
import { webhookDeliveries } from './migrations/webhook-deliveries.ts'
import { webhooksOfFeatures } from './migrations/webhooks-of-features.ts'
import { SCHEMA_OF_NEW, STEPS_OF_NEW } from './new-database.gen.ts'
import { readingOf } from './peek.ts'
import type { Schema } from './schema.ts'

/** Gives the organization's policies a new version after `event`; `row` is OLD or NEW. */
function policyTrigger(event: 'insert' | 'update' | 'delete', row: 'old' | 'new'): string {
  return `create trigger policies_after_${event} after ${event} on policies begin
    insert into policy_versions (organization_id, version) values (${row}.organization_id, lower(hex(randomblob(16))))
    on conflict (organization_id) do update set version = excluded.version;
  end`
}

/**
 * The history of the schema, in the order in which it is carried out, in SQLite's words (PostgreSQL's: `postgres-schema.ts`). A new
 * migration is added at the end; one that was released never changes.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    name: '0001-start',
    statements: [
      `create table organizations (
        id text primary key, parent_id text references organizations (id), name text not null,
        quorum_threshold integer not null, created_at integer not null, updated_at integer not null
      ) strict`,
      'create index organizations_parent on organizations (parent_id)',
      `create table users (
        id text primary key, organization_id text not null references organizations (id), name text not null,
        email text, phone_number text, created_at integer not null, updated_at integer not null
      ) strict`,
      'create index users_organization on users (organization_id)',
      `create table quorum_members (
        organization_id text not null references organizations (id), user_id text not null references users (id),
        position integer not null, primary key (organization_id, user_id)
      ) strict, without rowid`,
      'create index quorum_members_user on quorum_members (user_id)',
      `create table features (
        organization_id text not null references organizations (id), name text not null, value text not null,
        primary key (organization_id, name)
      ) strict, without rowid`,
      `create table tags (
        id text primary key, organization_id text not null references organizations (id), name text not null,
        type text not null, created_at integer not null, updated_at integer not null
      ) strict`,
      'create index tags_organization on tags (organization_id)',
      `create table tag_members (
        organization_id text not null references organizations (id),
        tag_id text not null references tags (id) on delete cascade, member_id text not null,
        primary key (organization_id, tag_id, member_id)
      ) strict, without rowid`,
      'create index tag_members_tag on tag_members (tag_id)',
      'create index tag_members_member on tag_members (organization_id, member_id)',
      `create table api_keys (
        id text primary key, organization_id text not null references organizations (id),
        user_id text not null references users (id) on delete cascade, name text not null, public_key text not null,
        credential_type text not null, expiration_seconds integer, created_at integer not null,
        updated_at integer not null, unique (organization_id, public_key)
      ) strict`,
      'create index api_keys_user on api_keys (user_id)',
      'create index api_keys_public_key on api_keys (public_key)',
      `create table policies (
        id text primary key, organization_id text not null references organizations (id), name text not null,
        effect text not null, consensus text, condition text, time text, notes text not null,
        created_at integer not null, updated_at integer not null, unique (organization_id, name)
      ) strict`,
      `create table policy_versions (
        organization_id text primary key references organizations (id), version text not null
      ) strict, without rowid`,
      policyTrigger('insert', 'new'),
      policyTrigger('update', 'new'),
      policyTrigger('delete', 'old'),
      `create table wallets (
        id text primary key, organization_id text not null references organizations (id), name text not null,
        sealed_mnemonic blob not null, exported integer not null, imported integer not null,
        created_at integer not null, updated_at integer not null
      ) strict`,
      'create index wallets_organization on wallets (organization_id)',
      `create table wallet_accounts (
        id text primary key, organization_id text not null references organizations (id),
        wallet_id text not null references wallets (id) on delete cascade, curve text not null,
        path_format text not null, path text not null, address_format text not null, address text not null,
        public_key text not null, name text, position integer not null, created_at integer not null,
        updated_at integer not null
      ) strict`,
      'create index wallet_accounts_wallet on wallet_accounts (wallet_id)',
      'create index wallet_accounts_address on wallet_accounts (organization_id, address)',
      'create index wallet_accounts_position on wallet_accounts (organization_id, position)',
      `create table activities (
        id text primary key, organization_id text not null references organizations (id), type text not null,
        status text not null, fingerprint text not null, intent text not null, result text, failure text,
        position integer not null, timestamp_ms text not null, generate_app_proofs integer not null,
        window_opened_at integer not null, created_at integer not null, updated_at integer not null,
        unique (organization_id, fingerprint), unique (organization_id, position)
      ) strict`,
      `create table votes (
        id text primary key, organization_id text not null references organizations (id),
        activity_id text not null references activities (id), user_id text not null, credential_id text not null,
        credential text not null, selection text not null, message text not null, public_key text not null,
        signature text not null, scheme text not null, position integer not null, created_at integer not null,
        unique (activity_id, position)
      ) strict`,
      `create table policy_evaluations (
        id text primary key, organization_id text not null references organizations (id),
        activity_id text not null references activities (id), vote_id text not null references votes (id),
        evaluations text not null, created_at integer not null
      ) strict`,
      'create index policy_evaluations_activity on policy_evaluations (activity_id)',
      `create table service_keys (
        name text primary key, public_key text not null, sealed_private_key blob not null, created_at integer not null
      ) strict`,
      'create table settings (name text primary key, value text not null) strict',
    ],
  },
  privateKeysAndRest,
  passkeysAndProviders,
  signing,
  sends,
  accountKeys,
  deniedVotes,
  gasUsage,
  sponsoredSends,
  activitiesOfSends,
  policySets,
  sendsByHash,
  solanaSends,
  webhookDeliveries,
  listsOfActivities,
  denials,
  positions,
  answers,
  verificationTokens,
  sessions,
  authProxies,
  oneTimePasscodes,
  appProofs,
  votesByActivity,
  mfaPolicies,
  tokensOfSignUps,
  secrets,
  fiatOnRamp,
  billing,
  allowedOrigins,
  keysOfInvitations,
  evaluationsOfVotes,
  sharedDatabases,
  webhooksOfFeatures,
  tvc,
  finalityOfSends,
  reasonsOfDeliveries,
  balanceChanges,
  lanesOfSends,
  solanaAddresses,
  lanesOfSolana,
  givenContacts,
  exportedSecrets,
  keyHolders,
  sendsOfRestores,
]

/**
 * Brings the database to the newest schema. Each step and its own mark are one transaction, so that if the process is killed between any
 * two statements, all of a step is there or nothing of it. A new database, which has nothing to lose, takes all steps in one transaction,
 * and so waits for the disk once; in the place of most of them it takes the schema that they lead to (`generate.ts`). After an error the
 * database must be closed, which undoes what was not committed.
 * Throws `service/schema-differs` for a newer schema.
 * @param last the last step to take. @default the newest
 * @returns the names of the steps that were taken
 */
export function migrate(database: DatabaseSync, now: number, last?: string): readonly string[] {
  database.exec('create table if not exists migrations (name text primary key, applied_at integer not null) strict')
  const taken = readTaken(database)
  const upTo = last === undefined ? MIGRATIONS.length : MIGRATIONS.findIndex(({ name }) => name === last) + 1
  const steps = MIGRATIONS.slice(0, upTo).filter(({ name }) => !taken.has(name))
  const isNew = steps.length === MIGRATIONS.length
  for (const together of isNew ? [stepsOfNew()] : steps.map((step) => [step])) {
    // A step that rebuilds a table drops the old one; the rows that refer to it must stay (sqlite.org/lang_altertable.html#otheralter).
    const rebuilds = together.some((step) => step.rebuilds)
    if (rebuilds) database.exec('pragma foreign_keys = off')
    database.exec('begin immediate')
    for (const step of together) take(database, step, now)
    database.exec('commit')
    if (rebuilds) database.exec('pragma foreign_keys = on')
  }
  return steps.map(({ name }) => name)
}

/** Brings a file that no service has open to the newest schema, and returns the names of the steps that were taken. */
export function migrateFile(file: string, now: number): readonly string[] {
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: true })
  try {
    return migrate(database, now)
  } catch (error) {
    throw fromSqliteError(error)
  } finally {
    database.close()
  }
}

/** Reads the names of the migrations that a file has. Throws `service/schema-differs` for a file of a newer version. */
export function readTaken(database: DatabaseSync): ReadonlySet<string> {
  const rows = database.prepare('select name from migrations').all()
  const taken = new Set(rows.map(({ name }) => String(name)))
  refuseNewer(taken)
  return taken
}

/** Throws `service/schema-differs` for a database whose schema is not that of this version. */
export function assertNewest(database: DatabaseSync): void {
  const isEmpty = !database.prepare("select 1 from sqlite_schema where name = 'migrations'").get()
  const taken = isEmpty ? new Set() : readTaken(database)
  const lacks = MIGRATIONS.find(({ name }) => !taken.has(name))
  if (lacks) throw schemaDiffers('older', lacks.name)
}

/** The same for a file, which is only read. Throws `StoreUnavailable` too. */
export function assertNewestFile(file: string): void {
  try {
    const database = new DatabaseSync(readingOf(file), { readOnly: true, timeout: 2000 })
    try {
      assertNewest(database)
    } finally {
      database.close()
    }
  } catch (error) {
    throw fromSqliteError(error)
  }
}

/** Throws `service/schema-differs` if the database has a step that this version does not know. */
export function refuseNewer(applied: ReadonlySet<string>): void {
  const known = new Set(MIGRATIONS.map(({ name }) => name))
  const newer = [...applied].filter((name) => !known.has(name)).sort()[0]
  if (newer !== undefined) throw schemaDiffers('newer', newer)
}

/** The steps of an empty database: the generated schema, and the migrations that were added after it was generated. */
function stepsOfNew(): readonly TakenStep[] {
  const names = MIGRATIONS.slice(0, STEPS_OF_NEW).map(({ name }) => name)
  return [{ name: names.at(-1)!, names, statements: SCHEMA_OF_NEW }, ...MIGRATIONS.slice(STEPS_OF_NEW)]
}

/** @property names the migrations that are marked as taken. @default `name` */
type TakenStep = Migration & { readonly names?: readonly string[] }

function take(database: DatabaseSync, { name, names = [name], rebuilds, statements }: TakenStep, now: number): void {
  for (const statement of statements) database.exec(statement)
  const mark = database.prepare('insert into migrations (name, applied_at) values (?, ?)')
  for (const each of names) mark.run(each, now)
  if (rebuilds && database.prepare('pragma foreign_key_check').get()) {
    throw new Error(`migration ${name} leaves a row that refers to nothing`)
  }
}

/** The tables that say what an organization is. They are emptied when it is deleted, in this order: what refers comes before what it refers to. */
const CONTENTS = [
  'denials',
  'tvc_provisioning_shares',
  'tvc_quorum_key_shares',
  'tvc_quorum_keys',
  'tvc_manifest_approvals',
  'tvc_deployments',
  'tvc_apps',
  'tvc_operator_set_members',
  'tvc_operator_sets',
  'tvc_operators',
  'auth_proxies',
  'import_targets',
  'gas_usage_configs',
  'private_key_addresses',
  'private_keys',
  'secrets',
  'smart_contract_interfaces',
  'balance_changes',
  'webhook_deliveries',
  'webhook_failures',
  'webhook_endpoints',
  'invitations',
  'oauth2_credentials',
  'fiat_on_ramp_credentials',
  'on_ramp_transactions',
  'payment_methods',
  'billing_tiers',
  'allowed_origins',
  'api_key_ip_allowlists',
  'ip_allowlists',
  'wallet_account_keys',
  'wallet_accounts',
  'wallets',
  'policies',
  'policy_versions',
  'tag_members',
  'tags',
  'features',
  'quorum_members',
  'verified_contacts',
  'used_verification_tokens',
  'one_time_passcodes',
  'messages',
  'email_events',
  'oauth_providers',
  'authenticators',
  'read_only_sessions',
  'mfa_policies',
  'api_keys',
  'session_profiles',
  'users',
] as const satisfies readonly (keyof Schema)[]

/** Tables that a deleted organization keeps: its activities, votes and sends. */
const AUDIT = [
  'activities',
  'votes',
  'app_proofs',
  'policy_evaluations',
  'policy_sets',
  'sends',
  'send_attempts',
  'gas_usages',
] as const satisfies readonly (keyof Schema)[]

type OwnedTable = {
  [Table in keyof Schema]: 'organization_id' extends keyof Schema[Table] ? Table : never
}[keyof Schema]
type Undecided = Exclude<OwnedTable, (typeof CONTENTS)[number] | (typeof AUDIT)[number]>

/** Does not compile while a table of an organization stands in neither list. */
export const tablesOfOrganization: [Undecided] extends [never] ? readonly OwnedTable[] : Undecided = CONTENTS
