import { decodeBase64, decodeUtf8, isHex } from '../encoding/index.ts'
import { refusals } from '../protocol/index.ts'
import { StampError } from './error.ts'
import { findScheme, type SignatureScheme } from './schemes.ts'

/** A stamp as read from a request; that it is well formed says nothing yet of whether it verifies. */
export interface Stamp {
  readonly kind: 'api-key'
  readonly scheme: SignatureScheme
  /** Lower-case hex. */
  readonly publicKey: string
  /** Hex, as it was sent: a vote keeps it so (facts: protocol §3.4). */
  readonly signature: string
}

/** Request headers by name, in any case; a header that was sent twice may be a list. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** The headers that prove who the caller is (facts: protocol §3), and whether this room reads them. */
const STAMP_HEADERS = {
  'x-stamp': { shown: 'X-Stamp', unread: undefined },
  'x-stamp-webauthn': { shown: 'X-Stamp-Webauthn', unread: 'passkey stamps' },
  'x-stamp-attested': { shown: 'X-Stamp-Attested', unread: 'attested stamps' },
  'x-session': { shown: 'X-Session', unread: 'read-only sessions' },
} as const

/**
 * Reads the one stamp of a request. Throws `StampError` with the wire's text: `missing`, `several`, `malformed`, or
 * `unsupported` for one that is known and not verified here.
 */
export function readStamp(headers: Headers): Stamp {
  const [found, ...others] = findStamps(headers)
  if (!found) throw new StampError('missing', refusals.noStamp.message())
  if (others.length > 0) {
    const stamps = [found, ...others].map(({ row }) => row.shown).join(', ')
    throw new StampError('several', refusals.twoStamps.message(), { stamps })
  }
  if (found.row.unread) throw new StampError('unsupported', `${found.row.unread} are not supported`)
  return readApiKeyStamp(decodeStamp(found.value))
}

/** Every stamp header with a value, in the order of the table. */
function findStamps(headers: Headers) {
  return Object.entries(STAMP_HEADERS).flatMap(([name, row]) =>
    Object.entries(headers)
      .filter(([header]) => header.toLowerCase() === name)
      .flatMap(([, value]) => (typeof value === 'string' ? splitJoined(value) : (value ?? [])))
      .map((value) => ({ row, value: value.trim() }))
      .filter(({ value }) => value !== ''),
  )
}

/** Node joins repeated headers with `, `, which no base64 contains; a bare JSON object may. */
function splitJoined(value: string): readonly string[] {
  return value.trimStart().startsWith('{') ? [value] : value.split(',')
}

/** Decodes a stamp: what starts with `{` is JSON, anything else base64 of it in either alphabet (facts: protocol §3). */
function decodeStamp(value: string): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(value.startsWith('{') ? value : decodeUtf8(decodeBase64(value)))
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as Record<string, unknown>
  } catch {
    // The parser's own words may repeat the stamp; the wire's text says enough.
  }
  throw new StampError('malformed', refusals.malformedStamp.message())
}

function readApiKeyStamp({ publicKey, scheme, signature }: Readonly<Record<string, unknown>>): Stamp {
  if (typeof publicKey !== 'string' || typeof scheme !== 'string' || typeof signature !== 'string') {
    throw new StampError('malformed', refusals.apiKeyStampNotRead.message())
  }
  const row = findScheme(scheme)
  const key = publicKey.toLowerCase().replace(/^0x/, '')
  if (!row?.publicKey.test(key) || signature === '' || !isHex(signature)) {
    throw new StampError('malformed', refusals.apiKeyStampNotRead.message())
  }
  if (!row.verify) throw new StampError('unsupported', `stamps of scheme ${scheme} are not supported`)
  return { kind: 'api-key', scheme: scheme as SignatureScheme, publicKey: key, signature }
}
