import type { QueryName, QueryTypes, Wire } from '../protocol/index.ts'

/** Options of one request. */
export interface RequestOptions {
  readonly signal?: AbortSignal
}

export interface SubmitOptions extends RequestOptions {
  /** Called shortly before the request has its turn and goes out; what it throws is thrown, and nothing is sent. */
  readonly beforeSending?: () => Promise<void>
}

/**
 * Reads of one organization with one credential. It has no way to submit: whatever takes a `QueryClient` cannot write,
 * by type (plan, validate, import).
 */
export interface QueryClient {
  readonly baseUrl: string
  readonly organizationId: string
  /** The stamping credential's public key, lower-case hex. */
  readonly publicKey: string
  /** Asks one query; `organizationId` is filled in. Throws `ClientError`. */
  query<Name extends QueryName>(
    name: Name,
    request: Omit<QueryTypes[Name]['request'], 'organizationId'>,
    options?: RequestOptions,
  ): Promise<QueryTypes[Name]['response']>
}

/** A client that may also submit. */
export interface SubmitClient extends QueryClient {
  /**
   * Sends a body as it is, stamped afresh. The service recognises a repeated body by its bytes, so the caller makes
   * the body once and keeps it. Returns the activity in whatever status it is in. Throws `ClientError`.
   */
  submit(path: string, body: string, options?: SubmitOptions): Promise<Wire.Activity>
}
