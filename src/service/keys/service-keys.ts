import { p256PublicKey, type RandomBytes, uncompressP256 } from '../../crypto/index.ts'
import { decodeHex, encodeHex } from '../../encoding/index.ts'
import {
  insertServiceKey,
  listServiceKeys,
  lockInstallation,
  type ServiceKeyRow,
  type Transaction,
} from '../store/index.ts'
import type { Sealing } from './sealing.ts'

/**
 * The service's own P-256 keys that clients know, and what each is for (docs/protocol/bundles.md#service-keys). Clients
 * pin the public halves, so they are made once for a data folder and stay.
 */
export const SERVICE_KEYS = {
  signer: 'signs export, import and secret bundles',
  'signer-encryption': 'receives what is sealed to the signer',
  notarizer: 'signs session tokens',
  'tls-fetcher': 'signs one-time-code verification tokens and bundles',
  'tls-fetcher-encryption': 'receives OAuth client secrets',
  'on-ramp-encryption': 'receives secrets of on-ramp providers',
  'app-proofs': 'signs app proofs',
  'app-proofs-encryption': 'stands beside the key of app proofs, as their form wants it',
} as const
export type ServiceKeyName = keyof typeof SERVICE_KEYS

/** Keys that older data folders lack. Any other that is missing is a damage, and is not made anew. */
const LATER: readonly ServiceKeyName[] = ['app-proofs', 'app-proofs-encryption', 'on-ramp-encryption']

/** Makes and keeps every key of the table, or those that the folder of an older version lacks; the private halves sealed. */
export async function createServiceKeys(
  tx: Transaction,
  { sealing, randomBytes, now }: { readonly sealing: Sealing; readonly randomBytes: RandomBytes; readonly now: number },
): Promise<void> {
  await lockInstallation(tx)
  const there = (await listServiceKeys(tx)).map(({ name }) => name)
  const wanted = there.includes('signer') ? LATER : Object.keys(SERVICE_KEYS)
  for (const name of wanted.filter((each) => !there.includes(each))) {
    const { privateKey, publicKey } = createKeyPair(randomBytes)
    await insertServiceKey(tx, {
      name,
      public_key: uncompressP256(publicKey)!,
      sealed_private_key: sealing.seal(decodeHex(privateKey), serviceKeyPlace(name)),
      created_at: now,
    })
  }
}

/**
 * Reads the public halves: lower-case hex, 130 characters, since clients compare them as text. Opens every private half
 * once, so that a wrong master key is noticed at the start. Throws `service/seal-broken`.
 */
export async function readServiceKeys(tx: Transaction, sealing: Sealing): Promise<Record<ServiceKeyName, string>> {
  const rows: readonly ServiceKeyRow[] = await listServiceKeys(tx)
  for (const row of rows) sealing.unseal(row.sealed_private_key, serviceKeyPlace(row.name)).fill(0)
  return Object.fromEntries(rows.map((row) => [row.name, row.public_key])) as Record<ServiceKeyName, string>
}

/** Opens one of the keys: both halves in hex, the public one uncompressed. */
export async function openServiceKey(
  tx: Transaction,
  unseal: Sealing['unseal'],
  name: ServiceKeyName,
): Promise<{ readonly publicKey: string; readonly privateKey: string }> {
  const row = (await listServiceKeys(tx)).find((each) => each.name === name)!
  const privateKey = unseal(row.sealed_private_key, serviceKeyPlace(name))
  try {
    return { publicKey: row.public_key, privateKey: encodeHex(privateKey) }
  } finally {
    privateKey.fill(0)
  }
}

/** Makes a P-256 key pair from the given randomness, in hex. */
export function createKeyPair(randomBytes: RandomBytes): { readonly privateKey: string; readonly publicKey: string } {
  for (;;) {
    const privateKey = encodeHex(randomBytes(32))
    try {
      return { privateKey, publicKey: p256PublicKey(privateKey) }
    } catch {
      // One in 2^32 draws lies outside of the curve's range (FIPS 186-5 A.2.2): draw again.
    }
  }
}

/** Where a key of the service stands, whatever it is for. */
export function serviceKeyPlace(name: string) {
  return { table: 'service_keys', id: name, column: 'sealed_private_key' }
}
