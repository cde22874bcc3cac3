/**
 * A front of the service that has what the API's schema publishes and nothing of the service's own: other routes are not found, and other
 * fields are left out of every answer. With `QUORATE_TEST_PUBLISHED=1` each service of a test is asked through one.
 */
import { readFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'

type Fields = Readonly<Record<string, unknown>>

interface Schema {
  readonly activities: readonly { readonly path: string }[]
  readonly queries: readonly { readonly path: string; readonly response: string }[]
  readonly types: Readonly<Record<string, Fields>>
}

const dataOf = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../../src/protocol/data', name), 'utf8')) as object
const published = dataOf('api.json') as Schema
/** Types that the schema names and does not define. */
const supplement = dataOf('supplement.json') as Pick<Schema, 'types'> & { readonly renamed: Record<string, string> }
const types = { ...supplement.types, ...published.types }
const responses = new Map([
  ...published.activities.map(({ path }) => [path, 'ActivityResponse'] as const),
  ...published.queries.map(({ path, response }) => [path, response] as const),
])
/** What is asked without a stamp, by the documentation of webhooks. */
const OPEN = '/public/v1/discovery/webhooks/jwks'

export const isPublishedAlone = () => process.env['QUORATE_TEST_PUBLISHED'] === '1'

/** Leaves out of an answer what its type does not name. @param left is told the type and the field */
export function keepPublished(value: unknown, type: string, left: (field: string) => void): unknown {
  if (Array.isArray(value)) return value.map((each) => keepPublished(each, type.replace(/\[\]$/, ''), left))
  const name = supplement.renamed[type] ?? type
  const fields = types[name]
  if (fields === undefined || 'enum' in fields || typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).flatMap(([field, one]) => {
    const of = fields[field] ?? fields[`${field}?`]
    if (of !== undefined) return [[field, typeof of === 'string' ? keepPublished(one, of, left) : one]]
    left(`${name}.${field}`)
    return []
  })
  return Object.fromEntries(kept)
}

export interface PublishedFront {
  readonly url: string
  /** Fields of answers that were left out. */
  readonly left: ReadonlySet<string>
  close(): Promise<void>
}

/** Starts one. @param target the address of the service, which may be another after a restart */
export async function startPublishedFront(target: () => string): Promise<PublishedFront> {
  const left = new Set<string>()
  const server = createServer(async (request, response) => {
    const path = request.url!
    const type = responses.get(path)
    if (type === undefined && path !== OPEN) {
      response
        .writeHead(404, { 'content-type': 'application/json' })
        .end('{"code":5,"message":"Not Found","details":[]}')
      return
    }
    const { hostname, port } = new URL(target())
    const passed = httpRequest(
      { hostname, port, path, method: request.method, headers: request.headers },
      async (got) => {
        const body = await buffer(got)
        const isAnswer = got.statusCode === 200 && type !== undefined
        const text = isAnswer
          ? JSON.stringify(keepPublished(JSON.parse(body.toString()), type, (one) => left.add(one)))
          : body
        const { 'content-length': _, 'transfer-encoding': __, ...headers } = got.headers
        response.writeHead(got.statusCode!, { ...headers, 'content-length': Buffer.byteLength(text) }).end(text)
      },
    )
    passed.on('error', () => response.destroy())
    passed.end(await buffer(request))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    left,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
