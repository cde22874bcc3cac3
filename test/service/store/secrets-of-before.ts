/** Secrets of a store from before it was known which of them had left. */

const ACTIVITY =
  'id, organization_id, type, status, fingerprint, intent, position, timestamp_ms, generate_app_proofs, window_opened_at, created_at, updated_at'

/** Writes them, by statements that both stores take; `sealed` is how bytes are written. */
export function writeSecretsOfBefore(run: (sql: string) => unknown, sealed: string): void {
  const columns = 'id, parent_id, name, quorum_threshold, created_at, updated_at, deleted_at, position'
  run(
    `insert into organizations (${columns}) values ('o', null, 'o', 1, 5, 5, null, 1), ('p', null, 'p', 1, 5, 5, null, 2)`,
  )
  for (const [n, id] of ['kept', 'left', 'asked', 'elsewhere'].entries())
    run(
      `insert into secrets (id, organization_id, name, static_properties, sealed_secret, position, created_at)
        values ('${id}', 'o', null, '[]', ${sealed}, ${n + 1}, 5)`,
    )
  for (const [n, [organization, type, status, id]] of [
    ['o', 'EXPORT_SECRETS', 'COMPLETED', 'LEFT'],
    ['o', 'EXPORT_SECRETS', 'CONSENSUS_NEEDED', 'asked'],
    ['o', 'IMPORT_SECRETS', 'COMPLETED', 'kept'],
    ['p', 'EXPORT_SECRETS', 'COMPLETED', 'elsewhere'],
  ].entries())
    run(
      `insert into activities (${ACTIVITY}) values ('a${n}', '${organization}', 'ACTIVITY_TYPE_${type}', 'ACTIVITY_STATUS_${status}', 'f${n}',
        '{"secrets":[{"secretId":"${id}"}]}', ${n + 1}, '0', 0, 0, 9, 9)`,
    )
}

/** Which of them count as exported since. */
export const SECRETS_SINCE = ['asked 0', 'elsewhere 0', 'kept 0', 'left 1']
