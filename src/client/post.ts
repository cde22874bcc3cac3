import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'

export interface PostOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** An answer with its whole body. */
export interface Posted {
  readonly status: number
  /** By name in lower case; of headers that came more than once, the first. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
}

/**
 * Sends one POST and gives its whole answer. Redirects are not followed. Throws Node's own error when no whole answer comes, the
 * signal's reason when it is aborted, and `NotConnected` when the connection never stood.
 */
export type Post = (url: string, body: string, options: PostOptions) => Promise<Posted>

/** Firewalls in front of an API refuse requests of nobody. */
const ALWAYS = { accept: 'application/json', 'user-agent': 'quorate' }

/** No connection, so nothing was sent. */
export class NotConnected extends Error {
  constructor(cause: unknown) {
    super('no connection', { cause })
  }
}

/**
 * By `node:http`, whose connections are kept for the next request. `fetch` does the same, and takes 50 ms of processor time to load:
 * a fourth of what a plan without changes takes.
 */
export const post: Post = async (url, body, { headers, signal }) => {
  signal.throwIfAborted()
  const send = url.startsWith('https:') ? requestHttps : requestHttp
  const bytes = Buffer.from(body)
  const asked = send(url, {
    method: 'POST',
    headers: { ...ALWAYS, ...headers, 'content-length': bytes.length },
    signal,
  })
  const connected = watchConnection(asked)
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      asked.once('response', resolve).once('error', reject).end(bytes)
    })
    answer.setEncoding('utf8')
    let text = ''
    for await (const part of answer) text += part
    return { status: answer.statusCode!, headers: answer.headers as Posted['headers'], text }
  } catch (error) {
    const reason = signal.aborted ? signal.reason : error
    throw connected() ? reason : new NotConnected(reason)
  }
}

/** Whether a connection stood at any time, with TLS where that is spoken: from then on the request may have been sent. */
function watchConnection(asked: ClientRequest): () => boolean {
  let connected = false
  asked.once('socket', (socket) => {
    if (!socket.connecting) connected = true
    else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => (connected = true))
  })
  return () => connected
}
