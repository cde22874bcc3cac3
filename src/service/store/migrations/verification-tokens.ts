import type { Migration } from './migration.ts'

/** The verification tokens that were used, until they expire. */
export const verificationTokens: Migration = {
  name: '0019-verification-tokens',
  statements: [
    `create table used_verification_tokens (
      token_id text primary key, organization_id text not null references organizations (id),
      expires_at integer not null
    ) strict`,
    'create index used_verification_tokens_expiry on used_verification_tokens (expires_at)',
    'create index used_verification_tokens_organization on used_verification_tokens (organization_id)',
  ],
}
