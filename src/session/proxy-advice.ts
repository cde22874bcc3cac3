import { ClientError } from '../client/index.ts'
import { QuorateError } from '../diagnostics/index.ts'

/** What went wrong at a proxy, in words about the proxy, and what to do about it. */
export interface ProxyFault {
  readonly found: string
  readonly next?: string | undefined
  /** Whether it asks for a captcha, which only a person on a page solves. */
  readonly captcha?: true
}

/** Reasons for which no answer comes. The first that fits counts. */
const SILENCES: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, 'nothing listens there: start the proxy, or correct the port'],
  [/ENOTFOUND|EAI_AGAIN/, 'the name has no address: correct it'],
  [
    /WRONG_VERSION_NUMBER|PACKET_LENGTH|EPROTO/,
    'it speaks no TLS on that port: give the URL with `http:`, or the port that does',
  ],
  [
    /CERT|SELF_SIGNED|SSL|TLS|ALTNAME/,
    'browsers refuse that certificate too: give the proxy one for this name, of an authority that they trust',
  ],
  [/redirect/, 'browsers follow no redirect of a preflight: give the URL that it leads to'],
  [/no answer within/, 'something takes the connection and says nothing: look whether it is the port of the proxy'],
  [/bad port/, 'browsers refuse that port too: give the proxy another one'],
]

/** What is done about a refusal of our proxy, by its reason. */
export const BY_REASON: Readonly<Record<string, string>> = {
  AUTH_PROXY_NOT_FOUND:
    'give the id of its configuration: `authProxyConfigId` in `bootstrap.json`, what `update_auth_proxy_config` answers',
  AUTH_PROXY_DISABLED: 'enable it: `authProxy:` in definitions, or the activity `enable_auth_proxy`',
  AUTH_METHOD_NOT_ENABLED: 'offer the way in: `methods` of `authProxy:` in definitions',
}

/** What else is found, of which there is a text alone. The first that fits counts. */
const REFUSALS: readonly (readonly [RegExp, string])[] = [
  [/path not found/, 'that is an API and not its proxy: give `authProxyUrl` of `bootstrap.json`'],
  [
    /^the service is/,
    'the proxy answers, and what it submits to does not: start the service, or correct `--base-url` of the proxy',
  ],
  [
    /not signed by the service|signed by another key/,
    'give `--service-keys` the `bootstrap.json` of the service that this proxy is of',
  ],
]

/** Puts an error of the client, or of a login, into words about a proxy. Rethrows what is no such error. */
export function explainFault(error: unknown, url: string): ProxyFault {
  if (!(error instanceof QuorateError)) throw error
  const { reason, answer, 'HTTP status': status, 'API message': message, 'gRPC code': code } = error.facts
  const refusal = error instanceof ClientError ? error.refusal : undefined
  const of = (found: string, rows: typeof REFUSALS) => ({
    found,
    next: BY_REASON[refusal ?? ''] ?? rows.find(([pattern]) => pattern.test(found))?.[1] ?? error.next,
  })
  if (error.code === 'client/unreachable') return of(`no answer came from ${url}: ${reason}`, SILENCES)
  if (error instanceof ClientError && code === undefined) {
    return {
      found: `${url} answered ${status} with what no proxy says: ${answer ?? message}`,
      next: 'another program answers there, or stands before the proxy: give the URL of the proxy, without `/v1`',
    }
  }
  const found = String(message ?? error.message)
  if (refusal === 'CAPTCHA_REQUIRED')
    return { found: 'it asks for a captcha, which only a person on a page solves', captcha: true }
  return of(found, REFUSALS)
}
