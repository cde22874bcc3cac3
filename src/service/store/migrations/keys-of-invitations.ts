import type { Migration } from './migration.ts'

/** The key that an invitation is accepted by, and the user that its receiver becomes. Older ones have none. */
export const keysOfInvitations: Migration = {
  name: '0031-keys-of-invitations',
  statements: [
    'alter table invitations add column user_id text',
    'alter table invitations add column public_key text',
    'alter table invitations add column expires_at integer',
    "alter table invitations add column status text not null default 'INVITATION_STATUS_CREATED'",
    'create unique index invitations_public_key on invitations (public_key)',
  ],
}
