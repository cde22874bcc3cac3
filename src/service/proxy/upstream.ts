import { ApiError, apiError, type GRPC, type JsonObject, TURNKEY_ERROR_CODES } from '../../protocol/index.ts'

/** One stamped request to the API. */
export interface UpstreamRequest {
  readonly path: string
  readonly kind: 'submit' | 'query'
  readonly body: Uint8Array<ArrayBuffer>
  readonly headers: Readonly<Record<string, string>>
}

/** Where a proxy's requests go. Throws `ApiError` for an answer that is a refusal. */
export type Upstream = (request: UpstreamRequest) => Promise<JsonObject>

/** How long an answer may take, which may need a chain's node or an issuer. */
const TIMEOUT_MS = 60_000

/** Sends requests to a service over HTTP, as any client does. */
export function connectUpstream(baseUrl: string): Upstream {
  return async ({ path, body, headers }) => {
    const sent = { 'content-type': 'application/json', ...headers }
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    try {
      const answer = await fetch(`${baseUrl}${path}`, {
        method: 'POST',
        body,
        headers: sent,
        redirect: 'error',
        signal,
      })
      const read = (await answer.json()) as JsonObject
      if (answer.ok) return read
      throw toApiError(answer.status, read)
    } catch (error) {
      // What the service refuses is passed on; that it is not there, or what it says instead, is nobody's but the operator's.
      throw error instanceof ApiError ? error : apiError('unavailable')
    }
  }
}

/** The refusal that an answer, or a failed activity, carries. */
export function toApiError(httpStatus: number | undefined, body: JsonObject): ApiError {
  const { code, message, details, turnkeyErrorCode } = body
  const known = TURNKEY_ERROR_CODES.find((each) => each === (turnkeyErrorCode ?? codeIn(details)))
  return new ApiError(Number(code) as (typeof GRPC)[keyof typeof GRPC], String(message), {
    code: known ?? '',
    httpStatus,
    ...(Array.isArray(details) ? { details: details as JsonObject[] } : {}),
  })
}

function codeIn(details: unknown): unknown {
  return Array.isArray(details) ? (details[0] as JsonObject | undefined)?.['turnkeyErrorCode'] : undefined
}
