import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, isIPv6, type LookupFunction } from 'node:net'
import { decodeUtf8, encodeUtf8 } from '../../encoding/index.ts'
import {
  createNameLookups,
  createPublicAddressTest,
  createResolveHost,
  type LookUpName,
  type ResolveHost,
} from '../network/index.ts'

/** Fetches a JSON document. Throws when it may not or cannot be had, `NotAnswered` for a status other than 200. */
export type FetchDocument = (url: string, request?: DocumentRequest) => Promise<unknown>

export interface DocumentRequest {
  readonly headers?: Readonly<Record<string, string>>
  /** Posted as a form. @default the document is got */
  readonly form?: Readonly<Record<string, string>>
  /** Posted as JSON, where no form is. */
  readonly json?: object
}

/** The server answered, but with no document. What it said is not repeated: it may be what it was told. */
export class NotAnswered extends Error {
  readonly status: number | undefined

  constructor(status: number | undefined) {
    super(`expected status 200, got ${status}`)
    this.status = status
  }
}

/** An issuer's documents are a few kB; nobody may make the service read more, or wait longer. */
const MAX_BYTES = 262_144
const TIMEOUT_MS = 5_000

/**
 * Creates a fetch for documents that strangers name: https alone, no address but public ones, no redirect, bounded in
 * size and time (docs/protocol/organizations.md#oauth-providers).
 * @param options.privateOrigins origins that may speak plain http and stand on any address
 */
export function createDocumentFetch(options: {
  readonly privateOrigins: readonly string[]
  /** @default the machine's name servers */
  readonly resolveHost?: ResolveHost
  /** For the whole document. @default 5,000 */
  readonly timeoutMs?: number
}): FetchDocument {
  const { timeoutMs = TIMEOUT_MS } = options
  const isPublic = createPublicAddressTest()
  const lookUp = createNameLookups(options.resolveHost ?? createResolveHost())
  return async (text, request = {}) => {
    const url = new URL(text)
    const free = options.privateOrigins.includes(url.origin)
    if (!free && url.protocol !== 'https:') throw new Error(`expected an https URL, got \`${url.protocol}\``)
    const host = url.hostname.replace(/^\[|\]$/g, '')
    // An address that stands in the URL itself is never looked up.
    if (!free && isIP(host) !== 0 && !isPublic(host)) throw new Error('the address is not public')
    return read(await open(url, { ...request, timeoutMs }, free ? {} : { lookup: publicLookup(lookUp, isPublic) }))
  }
}

/** The check and the connection use one answer of the resolver, so that the name cannot mean something else in between. */
function publicLookup(lookUp: LookUpName, isPublic: (address: string) => boolean): LookupFunction {
  return (hostname, { all }, done) => {
    // By host: nobody's issuer waits for the name of another one.
    void lookUp(hostname, hostname).then((found) => {
      if (found.kind !== 'found') return done(new Error(`the name was not found: ${found.kind}`), '', 0)
      if (!found.addresses.every(isPublic)) {
        return done(new Error('the name does not lead to public addresses alone'), '', 0)
      }
      const addresses = found.addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
      return all ? done(null, addresses) : done(null, addresses[0]!.address, addresses[0]!.family)
    })
  }
}

function open(
  url: URL,
  { headers = {}, form, json, timeoutMs }: DocumentRequest & { readonly timeoutMs: number },
  options: { readonly lookup?: LookupFunction },
): Promise<IncomingMessage> {
  const [text, type] = form
    ? [new URLSearchParams(form).toString(), 'application/x-www-form-urlencoded']
    : [json && JSON.stringify(json), 'application/json']
  const body = text === undefined ? undefined : encodeUtf8(text)
  return new Promise((done, fail) => {
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
      ...options,
      method: body ? 'POST' : 'GET',
      agent: false,
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        accept: 'application/json',
        ...headers,
        ...(body && { 'content-type': type, 'content-length': String(body.length) }),
      },
    })
    request.on('response', done).on('error', fail).end(body)
  })
}

async function read(response: IncomingMessage): Promise<unknown> {
  if (response.statusCode !== 200) {
    response.destroy()
    throw new NotAnswered(response.statusCode)
  }
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response) {
    length += (chunk as Uint8Array).length
    // Leaving the loop destroys the response.
    if (length > MAX_BYTES) throw new Error(`expected at most ${MAX_BYTES} bytes`)
    chunks.push(chunk as Uint8Array)
  }
  return JSON.parse(decodeUtf8(Buffer.concat(chunks)))
}
