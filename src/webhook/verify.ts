import { KEY_CURVES } from '../crypto/index.ts'
import { concatBytes, decodeBase64, encodeHex, encodeUtf8 } from '../encoding/index.ts'
import { ALGORITHM, SIGNATURE_VERSION } from './sign.ts'

/** Headers of a delivery by their names in lower case, as Node's HTTP server gives them. Of several values the first counts. */
export type DeliveryHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** What became of the check; the reasons are those of the published helper. */
export type DeliveryVerdict =
  | { readonly ok: true; readonly eventId: string; readonly keyId: string; readonly timestampMs: number }
  | { readonly ok: false; readonly reason: DeliveryFault; readonly header?: string }

/** Why a delivery is not to be believed, in the order in which it is checked. */
export type DeliveryFault =
  | 'missing_header'
  | 'invalid_timestamp'
  | 'stale_timestamp'
  | 'unsupported_signature_version'
  | 'unsupported_signature_algorithm'
  | 'missing_key'
  | 'invalid_signature'

/** A key of a published list. */
export interface PublishedKey {
  readonly keyId: string
  /** Hex, 32 bytes. */
  readonly publicKey: string
}

const PREFIX = 'x-turnkey-'
const NEEDED = [
  'timestamp',
  'event-id',
  'signature-key-id',
  'signature-algorithm',
  'signature-version',
  'signature',
] as const

/**
 * Verifies a delivery as a receiver must (docs/protocol/webhooks.md#signature-and-keys).
 * @param body the bytes that came, before anything has parsed them
 * @param mostAgeMs how far its time may be from `now`, into the past and into the future
 */
export function verifyDelivery(
  { headers, body }: { readonly headers: DeliveryHeaders; readonly body: Uint8Array },
  {
    keys,
    now,
    mostAgeMs,
  }: { readonly keys: readonly PublishedKey[]; readonly now: number; readonly mostAgeMs: number },
): DeliveryVerdict {
  const values = new Map<(typeof NEEDED)[number], string>()
  for (const name of NEEDED) {
    const given = headers[`${PREFIX}${name}`]
    const value = typeof given === 'object' ? given[0] : given
    if (!value) return { ok: false, reason: 'missing_header', header: `${PREFIX}${name}` }
    values.set(name, value)
  }
  const of = (name: (typeof NEEDED)[number]) => values.get(name)!
  const [timestamp, eventId, keyId] = [of('timestamp'), of('event-id'), of('signature-key-id')]
  const [algorithm, version, signature] = [of('signature-algorithm'), of('signature-version'), of('signature')]
  const timestampMs = /^[0-9]+$/.test(timestamp) ? Number(timestamp) : NaN
  const fault = (reason: DeliveryFault): DeliveryVerdict => ({ ok: false, reason })
  if (!Number.isSafeInteger(timestampMs)) return fault('invalid_timestamp')
  if (Math.abs(now - timestampMs) > mostAgeMs) return fault('stale_timestamp')
  if (version !== SIGNATURE_VERSION) return fault('unsupported_signature_version')
  if (algorithm !== ALGORITHM) return fault('unsupported_signature_algorithm')
  const key = keys.find((each) => each.keyId === keyId)
  if (!key) return fault('missing_key')
  const head = `${[version, algorithm, keyId, timestamp, eventId].join('.')}.`
  const claim = { publicKey: key.publicKey, signatureHex: signature, body: concatBytes(encodeUtf8(head), body) }
  return KEY_CURVES.ed25519.verify(claim) ? { ok: true, eventId, keyId, timestampMs } : fault('invalid_signature')
}

/** Reads the keys of a published list, as `/public/v1/discovery/webhooks/jwks` has it; others than of webhooks are left out. */
export function readPublishedKeys(list: unknown): readonly PublishedKey[] {
  const { keys } = Object(list) as { readonly keys?: unknown }
  if (!Array.isArray(keys)) throw new Error('expected a list of keys: `{"keys":[…]}`')
  return keys.flatMap((one: unknown) => {
    const { kid, kty, crv, x } = Object(one) as Readonly<Record<string, unknown>>
    if (kty !== 'OKP' || crv !== 'Ed25519' || typeof kid !== 'string' || typeof x !== 'string') return []
    return [{ keyId: kid, publicKey: encodeHex(decodeBase64(x)) }]
  })
}
