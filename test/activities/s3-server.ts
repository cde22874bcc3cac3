/**
 * A bucket as tests have it: as much of the published API of S3 as reads, writes, lists and takes away objects, with its conditions as
 * they are written (docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html), and strict: what it does not know is refused. A page of
 * a listing has three names. The client is Amazon's own.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface S3Server {
  /** `s3://bucket/prefix?…`, with a prefix of its own for each name. */
  url(prefix: string): string
  readonly objects: Map<string, string>
  /** How many more requests are carried out without an answer. */
  losing: number
  /** How many more requests are answered so, and not carried out. */
  failing: { count: number; status: number; code: string }
  /** Whether conditions of writes are ignored, as by a server of before them. */
  ignoresConditions: boolean
  /** Whether requests are never answered. */
  hangs: boolean
  /** Method, path and query of each request. */
  readonly asked: string[]
  /** Called before a request is carried out. */
  onAsked: ((asked: string) => void) | undefined
  close(): Promise<void>
}

const BUCKET = 'quorate-test'
const PAGE = 3

const etagOf = (text: string) => `"${createHash('md5').update(text).digest('hex')}"`
const escaped = (text: string) => text.replace(/[<>&"]/g, (sign) => `&#${sign.charCodeAt(0)};`)

export async function startS3(): Promise<S3Server> {
  const objects = new Map<string, string>()

  function carryOut(request: IncomingMessage, url: URL, body: string): Answer {
    const { method, headers } = request
    if (!/^AWS4-HMAC-SHA256 Credential=/.test(headers.authorization ?? '')) return refused(403, 'AccessDenied')
    const [, bucket, ...rest] = url.pathname.split('/').map(decodeURIComponent)
    const key = rest.join('/')
    if (bucket !== BUCKET) return refused(404, 'NoSuchBucket')
    if (method === 'GET' && key === '') return listed(url)
    const there = objects.get(key)
    const [ifMatch, ifNoneMatch] = [headers['if-match'], headers['if-none-match']]
    if (method === 'GET' || method === 'HEAD') {
      return there === undefined
        ? refused(404, 'NoSuchKey')
        : { status: 200, headers: { ETag: etagOf(there) }, body: there }
    }
    if (!state.ignoresConditions) {
      if (ifNoneMatch !== undefined && ifNoneMatch !== '*') return refused(501, 'NotImplemented')
      if (ifNoneMatch !== undefined && there !== undefined) return refused(412, 'PreconditionFailed')
      if (ifMatch !== undefined && there === undefined) return refused(404, 'NoSuchKey')
      if (ifMatch !== undefined && ifMatch !== etagOf(there!)) return refused(412, 'PreconditionFailed')
    }
    if (method === 'PUT') {
      objects.set(key, body)
      return { status: 200, headers: { ETag: etagOf(body) } }
    }
    if (method !== 'DELETE') return refused(405, 'MethodNotAllowed')
    objects.delete(key)
    return { status: 204 }
  }

  function listed(url: URL): Answer {
    if (url.searchParams.get('list-type') !== '2') return refused(501, 'NotImplemented')
    const prefix = url.searchParams.get('prefix') ?? ''
    const after = url.searchParams.get('continuation-token') ?? ''
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
    const page = keys.slice(0, PAGE)
    const next = keys.length > PAGE ? `<NextContinuationToken>${escaped(page.at(-1)!)}</NextContinuationToken>` : ''
    const contents = page.map(
      (key) =>
        `<Contents><Key>${escaped(key)}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>${escaped(etagOf(objects.get(key)!))}</ETag></Contents>`,
    )
    const body = `<?xml version="1.0"?><ListBucketResult><Name>${BUCKET}</Name><IsTruncated>${next !== ''}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`
    return { status: 200, headers: { 'content-type': 'application/xml' }, body }
  }

  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const url = new URL(request.url!, 'http://localhost')
    const asked = `${request.method} ${request.url}`
    state.asked.push(asked)
    state.onAsked?.(asked)
    if (state.hangs) return
    if (state.failing.count > 0) {
      state.failing.count--
      return answer(response, refused(state.failing.status, state.failing.code))
    }
    const done = carryOut(request, url, Buffer.concat(parts).toString())
    if (state.losing > 0) {
      state.losing--
      request.socket.destroy()
      return
    }
    answer(response, done)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const state: S3Server = {
    url: (prefix) => `s3://${BUCKET}/${prefix}?endpoint=http://127.0.0.1:${port}&region=us-east-1`,
    objects,
    losing: 0,
    failing: { count: 0, status: 503, code: 'SlowDown' },
    ignoresConditions: false,
    hangs: false,
    asked: [],
    onAsked: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return state
}

interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

function refused(status: number, code: string): Answer {
  return { status, body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>` }
}

function answer(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, headers)
  response.end(body)
}
