import type { FastifyReply } from 'fastify'
import { newUuid, type RandomBytes } from '../../crypto/index.ts'
import { ApiError, apiError, type JsonObject } from '../../protocol/index.ts'
import type { Logger } from '../../telemetry/index.ts'
import { StoreUnavailable } from '../store/index.ts'
import { JSON_TYPE } from './raw-refusal.ts'

const JSON_WITH_CHARSET = `${JSON_TYPE}; charset=utf-8`

/** Sends a JSON answer. The body goes out as bytes, or Fastify would add a charset to its type. */
export function sendJson(reply: FastifyReply, status: number, body: JsonObject): FastifyReply {
  return reply
    .code(status)
    .header('content-type', JSON_TYPE)
    .send(Buffer.from(JSON.stringify(body)))
}

/** Sends JSON text from a handler: Node.js puts it behind the head without a copy. Where no hook runs, its type would be another. */
export function sendJsonText(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).header('content-type', JSON_TYPE).send(text)
}

/** Takes back the charset that Fastify adds to the type of a text. */
export function sentAsText(reply: FastifyReply): void {
  if (reply.getHeader('content-type') === JSON_WITH_CHARSET) reply.header('content-type', JSON_TYPE)
}

/** The log line of a failed request; bodies and stamps are never in it. */
export interface FailedRequest {
  readonly requestId: string
  readonly path: string
}

/**
 * Turns whatever was thrown into the API's own error. An unexpected error becomes code 13 with a reference that the log
 * repeats.
 */
export function toApiError(
  error: unknown,
  request: FailedRequest,
  { logger, randomBytes }: { readonly logger: Logger; readonly randomBytes: RandomBytes },
): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof StoreUnavailable) {
    logger.error('store unavailable', { ...request, reason: error.message })
    return apiError('unavailable')
  }
  const refused = FASTIFY_REFUSALS[codeOf(error) ?? '']
  if (refused) return refused()
  const reference = newUuid(randomBytes)
  const { name, message, stack } = error instanceof Error ? error : new Error('not an error')
  logger.error('request failed', { ...request, reference, name, message, stack })
  return apiError('internal', reference)
}

/** The API's refusals for errors of Fastify itself. */
const FASTIFY_REFUSALS: Readonly<Record<string, () => ApiError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => apiError('bodyTooLarge'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => apiError('badRequestBody', 'its length is not the announced one'),
  FST_ERR_BAD_URL: () => apiError('notFound', 'path', 'malformed'),
  FST_ERR_MAX_PARAM_LENGTH: () => apiError('notFound', 'path', 'too long'),
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
