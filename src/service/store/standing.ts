/** How a database of PostgreSQL stands, read without changing anything in it. */
import type { ClientBase } from 'pg'
import { schemaDiffers } from './error.ts'
import { SETTING_OF_FIRST_ORGANIZATION } from './installation.ts'
import { type PostgresSettings, withClient } from './postgres-pool.ts'
import { planPostgres } from './postgres-schema.ts'
import type { DatabaseFacts, GivenUpWebhooks } from './snapshot-file.ts'

export interface PostgresStanding {
  /** Of the server: `15.10`. */
  readonly version: string
  /** Migrations that the next start would carry out, the first form of the tables counted as one. */
  readonly pending: readonly string[]
  /** How many processes serve it. */
  readonly processes: number
  /** What it holds; absent before the first start. */
  readonly holds?: DatabaseFacts
  readonly givenUp?: GivenUpWebhooks
}

/** Throws `StoreUnavailable`, and `service/schema-differs` for a schema that is newer than this version. */
export function readPostgresStanding(settings: PostgresSettings): Promise<PostgresStanding> {
  return withClient(settings, async (client) => {
    const one = async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows[0]
    const { server_version } = await one('show server_version')
    const pending = (await planPostgres(client)).map(({ name }) => name)
    const version = String(server_version).split(' ')[0]!
    if (!(await hasTable(client, 'leases'))) return { version, pending, processes: 0 }
    const { count } = await one(
      'select count(distinct holder) as count from leases where until > extract(epoch from clock_timestamp()) * 1000',
    )
    const organization = await one('select value from settings where name = $1', [SETTING_OF_FIRST_ORGANIZATION])
    const base = { version, pending, processes: count as number }
    if (!organization) return base
    const { count: activities } = await one('select count(*) as count from activities')
    const { count: failures } = await one('select count(*) as count from webhook_failures')
    const last = await one(
      'select host, reason, failed_at as "failedAt" from webhook_failures order by position desc limit 1',
    )
    return {
      ...base,
      holds: { organizationId: String(organization.value), activities },
      givenUp: { count: failures, ...(last ? { last } : {}) },
    }
  })
}

/**
 * The id of the first organization that a database holds; undefined before the first start. Throws `StoreUnavailable`, and
 * `service/schema-differs` for a schema that is not this version's.
 */
export function readFirstOrganization(settings: PostgresSettings): Promise<string | undefined> {
  return withClient(settings, async (client) => {
    const [pending] = await planPostgres(client)
    if (!(await hasTable(client, 'leases'))) return undefined
    if (pending) throw schemaDiffers('older', pending.name)
    const { rows } = await client.query('select value from settings where name = $1', [SETTING_OF_FIRST_ORGANIZATION])
    return rows[0] && String(rows[0].value)
  })
}

/** Throws `StoreUnavailable`, and `service/schema-differs` for a database whose schema is not this version's. */
export function assertNewestServer(settings: PostgresSettings): Promise<void> {
  return withClient(settings, async (client) => {
    const [pending] = await planPostgres(client)
    if (pending) throw schemaDiffers('older', pending.name)
  })
}

async function hasTable(client: ClientBase, name: string): Promise<boolean> {
  const { rows } = await client.query('select to_regclass($1) is not null as there', [name])
  return rows[0].there
}
