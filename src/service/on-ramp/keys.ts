import { CryptoError, decodeBase58Check, type HpkeMessage, hpkeOpen, uncompressP256 } from '../../crypto/index.ts'
import { decodeHex, decodeUtf8, EncodingError, encodeHex } from '../../encoding/index.ts'
import { openServiceKey, type Sealing } from '../keys/index.ts'
import { onRampNotConfigured } from '../readings.ts'
import type { FiatOnRampCredentialRow } from '../resources/fiat-on-ramp/store.ts'
import type { Transaction } from '../store/index.ts'

/** The keys of an account at a provider, opened for one request and kept nowhere. */
export interface OnRampKeys {
  readonly publishable: string
  /** MoonPay's secret key; the id of Coinbase's API key. */
  readonly secret: string
  /** The private half of Coinbase's API key. */
  readonly privateKey: string | undefined
}

/** Reads what opens the keys of credentials: both halves, to be wiped. */
export async function readOnRampKey(tx: Transaction, unseal: Sealing['unseal']) {
  const { publicKey, privateKey } = await openServiceKey(tx, unseal, 'on-ramp-encryption')
  return { publicKey: decodeHex(publicKey), privateKey: decodeHex(privateKey) }
}

/** Opens what clients have encrypted to the service's key. Throws the refusal of what does not open; wipes the key. */
export async function openOnRampKeys(
  row: FiatOnRampCredentialRow,
  key: { readonly publicKey: Uint8Array; readonly privateKey: Uint8Array },
): Promise<OnRampKeys> {
  const open = async (text: string) => decodeUtf8(await hpkeOpen(key, readMessage(text)))
  const sealed = row.encrypted_private_api_key
  try {
    return {
      publishable: row.publishable_api_key,
      secret: await open(row.encrypted_secret_api_key),
      privateKey: sealed === null ? undefined : await open(sealed),
    }
  } catch (error) {
    const isOurs = error instanceof CryptoError || error instanceof EncodingError
    throw isOurs
      ? onRampNotConfigured(row.id, 'its secrets are not encrypted to the on-ramp key of this service')
      : error
  } finally {
    key.privateKey.fill(0)
  }
}

/** Base58check of the compressed encapsulated key and the ciphertext. */
function readMessage(text: string): HpkeMessage {
  const bytes = decodeBase58Check(text)
  const point = uncompressP256(encodeHex(bytes.slice(0, 33)))
  if (point === undefined) throw new CryptoError('the encapsulated key is none')
  return { encappedPublic: decodeHex(point), ciphertext: bytes.slice(33) }
}
