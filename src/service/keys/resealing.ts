/**
 * Sealing anew what another master key has sealed, some rows at a time: the table of all places where something sealed stands, and
 * one step over it (docs/master-key.md#another-key).
 */
import { decodeBase64, decodeHex, encodeBase64, encodeHex, type JsonObject } from '../../encoding/index.ts'
import { type ActivityFamily, activities } from '../../protocol/index.ts'
import { ServiceError } from '../error.ts'
import {
  type Database,
  listStored,
  type RowKey,
  replaceStored,
  type SealedColumn,
  type StoredValue,
  type Transaction,
} from '../store/index.ts'
import { SEALED_TEXT_MARK } from './sealed-text.ts'
import type { Keyring } from './sealing.ts'

/** The member of a result that is secret, and kept sealed (docs/protocol/activities.md#secret-results). */
export const SECRET_RESULTS: { readonly [Family in ActivityFamily]?: string } = {
  CREATE_READ_ONLY_SESSION: 'session',
  VERIFY_OTP: 'verificationToken',
  OAUTH2_AUTHENTICATE: 'oidcToken',
}

const MEMBER_OF_TYPE: ReadonlyMap<string, string> = new Map(
  Object.values(activities).flatMap(({ type, family }) => {
    const member = SECRET_RESULTS[family]
    return member === undefined ? [] : [[type, member] as const]
  }),
)

interface Place extends SealedColumn {
  /** The table that the seal is bound to, where values have moved to another. */
  readonly sealedFor?: string
}

const bytes = (table: SealedColumn['table'], id: string, column: string): Place => ({ table, key: [id], id, column })
const text = { prefix: SEALED_TEXT_MARK }

/** Every column where something stands that is sealed under the master key. */
export const SEALED_COLUMNS: readonly Place[] = [
  bytes('service_keys', 'name', 'sealed_private_key'),
  bytes('auth_proxies', 'organization_id', 'sealed_private_key'),
  bytes('wallets', 'id', 'sealed_mnemonic'),
  bytes('wallet_account_keys', 'account_id', 'sealed_private_key'),
  bytes('private_keys', 'id', 'sealed_private_key'),
  bytes('secrets', 'id', 'sealed_secret'),
  bytes('import_targets', 'public_key', 'sealed_private_key'),
  bytes('one_time_passcodes', 'id', 'sealed_keys'),
  bytes('messages', 'id', 'sealed_content'),
  { ...bytes('webhook_deliveries', 'event_id', 'body'), ...text },
  // Given up meanwhile: they come behind those that are to be delivered, and keep their seal.
  { ...bytes('webhook_failures', 'event_id', 'body'), ...text, sealedFor: 'webhook_deliveries' },
  { ...bytes('activities', 'id', 'intent'), ...text },
  { ...bytes('activities', 'id', 'result'), types: [...MEMBER_OF_TYPE.keys()] },
  { table: 'votes', key: ['activity_id', 'position'], id: 'id', column: 'message', ...text },
]

/** What one step did. */
export interface Resealed {
  /** The last row that was looked at; undefined when the column has no more. */
  readonly after: RowKey | undefined
  readonly values: number
  readonly resealed: number
  /** Where values are that open under no key. */
  readonly broken: readonly string[]
}

/**
 * Looks at some rows of a column and seals anew what is not under the newest key. `note` writes how far it is in the same
 * transaction, if one is needed.
 */
export async function resealSome(
  { database, keyring }: { readonly database: Database; readonly keyring: Keyring },
  column: Place,
  { after, limit }: { readonly after: RowKey | undefined; readonly limit: number },
  note: (tx: Transaction, done: Resealed) => Promise<void>,
): Promise<Resealed> {
  const rows = await database.read((tx) => listStored(tx, column, { after, limit }))
  const broken: string[] = []
  let values = 0
  const changed: { at: RowKey; from: Uint8Array | string; to: Uint8Array | string }[] = []
  for (const row of rows) {
    if (row.value === null) continue
    values += 1
    try {
      const to = resealValue(keyring, column, row, row.value)
      if (to !== undefined) changed.push({ at: row.at, from: row.value, to })
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'service/seal-broken') throw error
      broken.push(`${column.table}.${column.column} of ${row.id}`)
    }
  }
  const last = rows.length < limit ? undefined : rows.at(-1)!.at
  const done = { after: last, values, resealed: changed.length, broken }
  await database.write(async (tx) => {
    for (const each of changed) await replaceStored(tx, column, each)
    await note(tx, done)
  })
  return done
}

function resealValue(
  keyring: Keyring,
  column: Place,
  { id, type }: StoredValue,
  value: Uint8Array | string,
): Uint8Array | string | undefined {
  const place = { table: column.sealedFor ?? column.table, id, column: column.column }
  if (typeof value !== 'string') return keyring.reseal(value, place)
  if (column.types === undefined) {
    const again = keyring.reseal(decodeBase64(value.slice(SEALED_TEXT_MARK.length)), place)
    return again && `${SEALED_TEXT_MARK}${encodeBase64(again)}`
  }
  const result = JSON.parse(value) as JsonObject
  const member = MEMBER_OF_TYPE.get(type)!
  const sealed = result[member]
  const again = typeof sealed === 'string' ? keyring.reseal(decodeHex(sealed), place) : undefined
  return again && JSON.stringify({ ...result, [member]: encodeHex(again) })
}
