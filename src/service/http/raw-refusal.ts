import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ApiError, apiError } from '../../protocol/index.ts'

/** The whole media type, without a charset: one published client compares it as text. */
export const JSON_TYPE = 'application/json'

/** How long a client that was refused may take to read that, and how many such clients are waited for. */
const LINGER_MS = 1_000
const MOST_LINGERING = 256
let lingering = 0

/** Answers on a socket whose request the HTTP server never sees, in the API's form, and lets go of it. */
export function refuseSocket(socket: Duplex, refusal: ApiError): void {
  socket.on('error', () => {})
  if (!socket.writable || lingering >= MOST_LINGERING) return void socket.destroy()
  const body = JSON.stringify(refusal.toBody())
  const head = [
    `HTTP/1.1 ${refusal.httpStatus} ${STATUS_CODES[refusal.httpStatus]}`,
    `Content-Type: ${JSON_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Access-Control-Allow-Origin: *',
    'Connection: close',
  ]
  lingering += 1
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => {
    lingering -= 1
    clearTimeout(timer)
  })
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  // What is not read when a socket is closed makes the kernel drop what was written to it.
  socket.resume()
}

/** What a connection is told whose bytes are no request, by the code of Node's error. */
const REFUSALS: Readonly<Record<string, () => ApiError>> = {
  ERR_HTTP_REQUEST_TIMEOUT: () => apiError('requestTimeout'),
  HPE_HEADER_OVERFLOW: () => apiError('headTooLarge'),
}

/** The refusal of a connection that met this error. */
export function refusalOfConnection(error: NodeJS.ErrnoException): ApiError {
  const refusal = REFUSALS[error.code ?? '']
  return refusal ? refusal() : apiError('badRequestBody', 'expected an HTTP request, whole and in time')
}
