import type { Migration } from './migration.ts'

/** Login sessions: their profiles, the profile of a session's key, and the hashes of read-only sessions. */
export const sessions: Migration = {
  name: '0020-sessions',
  statements: [
    `create table session_profiles (
      id text primary key, organization_id text not null references organizations (id), name text not null,
      scope text not null, expiration_seconds integer, notes text not null, position integer not null,
      created_at integer not null, updated_at integer not null, unique (organization_id, name)
    ) strict`,
    'create unique index session_profiles_position on session_profiles (organization_id, position)',
    'alter table api_keys add column session_profile_id text references session_profiles (id)',
    `create table read_only_sessions (
      token_hash text primary key, organization_id text not null references organizations (id),
      user_id text not null references users (id) on delete cascade, created_at integer not null,
      expires_at integer not null
    ) strict, without rowid`,
    'create index read_only_sessions_user on read_only_sessions (user_id)',
  ],
}
