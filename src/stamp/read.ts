import { decodeUtf8, isHex, viewBase64 } from '../encoding/index.ts'
import { refusals } from '../protocol/index.ts'
import { type AttestedStamp, parseAttestedStamp } from './attested-stamp.ts'
import { StampError } from './error.ts'
import { isScheme, SCHEMES, type SignatureScheme } from './schemes.ts'
import { parseWebAuthnStamp, type WebAuthnStamp } from './webauthn-stamp.ts'

/** An API key's stamp as read from a request; that it is well formed says nothing yet of whether it verifies. */
export interface Stamp {
  readonly kind: 'api-key'
  readonly scheme: SignatureScheme
  /** Lower-case hex; what the credential is found by. */
  readonly publicKey: string
  /** Hex, as it was sent: a vote keeps it so (docs/protocol/stamps.md#what-a-vote-keeps). */
  readonly signature: string
}

/** The token of a read-only session: no stamp, since it signs nothing. */
export interface SessionStamp {
  readonly kind: 'session'
  readonly token: string
}

/** The forms of stamp that are read, by kind. */
export interface Stamps {
  readonly 'api-key': Stamp
  readonly webauthn: WebAuthnStamp
  readonly attested: AttestedStamp
  readonly session: SessionStamp
}
export type StampKind = keyof Stamps

/** Request headers by name, in any case; a header that was sent twice may be a list. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** The headers that prove who the caller is (docs/protocol/stamps.md#headers), and the parser of each. */
const STAMP_HEADERS = {
  'x-stamp': { kind: 'api-key', shown: 'X-Stamp', plural: 'API key stamps', parse: inJson(parseApiKeyStamp) },
  'x-stamp-webauthn': {
    kind: 'webauthn',
    shown: 'X-Stamp-Webauthn',
    plural: 'passkey stamps',
    parse: inJson(parseWebAuthnStamp),
  },
  'x-stamp-attested': {
    kind: 'attested',
    shown: 'X-Stamp-Attested',
    plural: 'attested stamps',
    parse: inJson(parseAttestedStamp),
  },
  'x-session': { kind: 'session', shown: 'X-Session', plural: 'read-only sessions', parse: parseSession },
} as const satisfies Readonly<Record<string, StampHeaderRow>>

/** Their names as they are written, by kind of stamp. */
export const STAMP_HEADER_NAMES = Object.fromEntries(
  Object.values(STAMP_HEADERS).map(({ kind, shown }) => [kind, shown]),
) as Readonly<Record<StampKind, string>>

interface StampHeaderRow {
  readonly kind: StampKind
  readonly shown: string
  readonly plural: string
  readonly parse: (value: string) => Stamps[StampKind]
}

const ROWS: ReadonlyMap<string, StampHeaderRow> = new Map(Object.entries(STAMP_HEADERS))

function inJson<Parsed>(parse: (decoded: DecodedStamp) => Parsed): (value: string) => Parsed {
  return (value) => parse(decodeStamp(value))
}

function parseSession(token: string): SessionStamp {
  return { kind: 'session', token }
}

/**
 * Reads the one stamp of a request. Throws `StampError` with the wire's text: `missing`, `several`, `malformed`, or
 * `unsupported` for a kind that the caller does not accept.
 * @default accept API key stamps alone, so that a caller who cannot verify passkeys never sees one
 */
export function readStamp<Kind extends StampKind = 'api-key'>(
  headers: Headers,
  options: { readonly accept?: readonly Kind[] } = {},
): Stamps[Kind] {
  const [found, ...others] = findStamps(headers)
  if (!found) throw new StampError('missing', refusals.noStamp.message())
  const { row, value } = found
  if (others.length > 0) {
    const stamps = [found, ...others].map((other) => other.row.shown).join(', ')
    throw new StampError('several', refusals.twoStamps.message(), { stamps })
  }
  const accept: readonly string[] = options.accept ?? ['api-key']
  if (!accept.includes(row.kind)) throw new StampError('unsupported', `${row.plural} are not supported`)
  return row.parse(value) as Stamps[Kind] // of an accepted kind
}

/** Every stamp header with a value, in the order of the table. */
function findStamps(headers: Headers) {
  const found: { readonly row: StampHeaderRow; readonly value: string }[] = []
  for (const header of Object.keys(headers)) {
    const row = ROWS.get(header.toLowerCase())
    if (!row) continue
    const sent = headers[header] ?? []
    for (const one of typeof sent === 'string' ? splitJoined(sent) : sent) {
      const value = one.trim()
      if (value !== '') found.push({ row, value })
    }
  }
  const rows: readonly object[] = Object.values(STAMP_HEADERS)
  return found.length < 2 ? found : found.sort((a, b) => rows.indexOf(a.row) - rows.indexOf(b.row))
}

/** Node joins repeated headers with `, `, which no base64 contains; a bare JSON object may. */
function splitJoined(value: string): readonly string[] {
  return value.trimStart().startsWith('{') ? [value] : value.split(',')
}

/** A stamp's JSON, as text and parsed. */
export interface DecodedStamp {
  readonly text: string
  readonly members: Readonly<Record<string, unknown>>
}

/**
 * Decodes a stamp: what starts with `{` is JSON, anything else base64 of it in either alphabet
 * (docs/protocol/stamps.md#headers).
 */
function decodeStamp(value: string): DecodedStamp {
  try {
    const text = value.startsWith('{') ? value : decodeUtf8(viewBase64(value))
    const json: unknown = JSON.parse(text)
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) {
      return { text, members: json as Record<string, unknown> }
    }
  } catch {
    // The parser's own words may repeat the stamp; the wire's text says enough.
  }
  throw new StampError('malformed', refusals.malformedStamp.message())
}

function parseApiKeyStamp({ members: { publicKey, scheme, signature } }: DecodedStamp): Stamp {
  if (typeof publicKey !== 'string' || typeof scheme !== 'string' || typeof signature !== 'string') {
    throw new StampError('malformed', refusals.apiKeyStampNotRead.message())
  }
  const key = publicKey.toLowerCase().replace(/^0x/, '')
  if (!isScheme(scheme) || !SCHEMES[scheme].publicKey.test(key) || signature === '' || !isHex(signature)) {
    throw new StampError('malformed', refusals.apiKeyStampNotRead.message())
  }
  return { kind: 'api-key', scheme, publicKey: key, signature }
}
