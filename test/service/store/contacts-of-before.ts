/** Users of a store from before contacts that a parent has given were told from those that were only written down. */

const ORGANIZATION = 'id, parent_id, name, quorum_threshold, created_at, updated_at, deleted_at, position'
const USER = 'id, organization_id, name, email, phone_number, created_at, updated_at, position'
const ACTIVITY =
  'id, organization_id, type, status, fingerprint, intent, position, timestamp_ms, generate_app_proofs, window_opened_at, created_at, updated_at'

/** Writes them, by statements that both stores take. */
export function writeContactsOfBefore(run: (sql: string) => unknown): void {
  const activity = (n: number, type: string, userId: string) =>
    `insert into activities (${ACTIVITY}) values ('a${n}', 's', 'ACTIVITY_TYPE_${type}', 'x', 'f${n}', '{"userId":"${userId}"}', ${n}, '0', 0, 0, 9, 9)`
  for (const sql of [
    `insert into organizations (${ORGANIZATION}) values ('p', null, 'p', 1, 5, 5, null, 1)`,
    `insert into organizations (${ORGANIZATION}) values ('s', 'p', 's', 1, 5, 5, null, 2), ('gone', 'p', 'g', 1, 5, 5, 6, 3)`,
    `insert into users (${USER}) values ('made', 's', 'x', 'Made@a.test', '+491', 5, 5, 1), ('empty', 's', 'x', null, '', 5, 5, 2),
      ('named', 's', 'x', 'named@a.test', null, 5, 9, 3), ('changed', 's', 'x', 'changed@a.test', '+492', 5, 9, 4),
      ('later', 's', 'x', 'later@a.test', null, 7, 7, 5), ('proved', 's', 'x', 'other@a.test', '+493', 5, 5, 6),
      ('ofParent', 'p', 'x', 'parent@a.test', null, 5, 5, 7), ('ofGone', 'gone', 'x', 'gone@a.test', null, 5, 5, 8)`,
    activity(1, 'UPDATE_USER_NAME', 'named'),
    activity(2, 'UPDATE_USER_EMAIL', 'CHANGED'),
    "insert into verified_contacts (organization_id, user_id, type, contact) values ('s', 'proved', 'EMAIL', 'proved@a.test')",
  ])
    run(sql)
}

/** What is kept of their contacts since: user, type, contact, and whether it is proved. */
export const CONTACTS_SINCE = [
  'made EMAIL made@a.test 0',
  'made PHONE_NUMBER +491 0',
  'named EMAIL named@a.test 0',
  'proved EMAIL proved@a.test 1',
  'proved PHONE_NUMBER +493 0',
]
