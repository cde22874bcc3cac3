import { sql } from 'kysely'
import { prepare } from './prepared.ts'
import type { Schema } from './schema.ts'
import type { Transaction } from './transaction.ts'

/** The kinds whose number an organization may reach a limit of. */
type Counted = 'private_keys' | 'secrets' | 'webhook_endpoints' | 'invitations'

/** Counts what the organization has of a kind. */
export async function countRows(
  tx: Transaction,
  table: Counted & keyof Schema,
  organizationId: string,
): Promise<number> {
  const { count } = await tx
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** The lists that are answered whole, and the texts in each that the creator of an element may choose. */
const TEXTS = {
  policies: ['name', 'consensus', 'condition', 'time', 'notes'],
  mfa_policies: ['name', 'condition', 'steps', 'notes'],
  session_profiles: ['name', 'scope', 'notes'],
  smart_contract_interfaces: ['address', 'interface', 'label', 'notes'],
  wallets: ['name'],
  private_keys: ['name'],
  users: ['name', 'email'],
  api_keys: ['name'],
  authenticators: ['name', 'credential_id', 'public_key', 'transports'],
  oauth_providers: ['name', 'issuer', 'audience', 'subject'],
  tags: ['name'],
  features: ['value'],
  invitations: ['receiver_user_name', 'receiver_user_email', 'receiver_user_tags'],
  oauth2_credentials: ['client_id', 'encrypted_client_secret'],
  webhook_endpoints: ['url', 'name', 'subscriptions'],
} as const satisfies { readonly [Table in keyof Schema]?: readonly (keyof Schema[Table])[] }

export type StoredList = keyof typeof TEXTS

/**
 * How many bytes an organization's texts of a list have. The database knows how long a text is without reading it. Prepared, since
 * most submits ask it; a query that is no query of Kysely's would also make the connection forget what it remembers.
 */
export async function countBytes(tx: Transaction, list: StoredList, organizationId: string): Promise<number> {
  const [row] = await BYTES[list](tx, { organizationId })
  return Number(row!.bytes)
}

const bytesOf = (list: StoredList) =>
  prepare((tx, of: { organizationId: string }) => {
    const lengths = TEXTS[list].map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`)
    const bytes = sql<number>`coalesce(sum(${sql.join(lengths, sql` + `)}), 0)`
    // One table stands for all of them: each row has its organization.
    return tx
      .selectFrom(list as 'users')
      .select(bytes.as('bytes'))
      .where('organization_id', '=', of.organizationId)
  })
const BYTES = Object.fromEntries((Object.keys(TEXTS) as StoredList[]).map((list) => [list, bytesOf(list)])) as Readonly<
  Record<StoredList, ReturnType<typeof bytesOf>>
>
