/** What is described is what is served: the paths of both descriptions are the routes that the servers have and do not refuse. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { activities, queries } from '../../../src/protocol/index.ts'
import { listOperations } from '../../../src/service/resources/index.ts'
import { sampleOf } from '../handlers/sample.ts'
import { startTestService, type TestService } from '../harness.ts'

interface Document {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly security: readonly object[] }>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>
    readonly securitySchemes: Readonly<Record<string, { readonly name: string }>>
  }
}

let service: TestService
/** Of each server, in the order in which they are made: the paths that take a POST. */
const routes: string[][] = []
beforeAll(async () => {
  const note = (message: unknown) => {
    const posts: string[] = []
    routes.push(posts)
    const { fastify } = message as { readonly fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ method, url }) => void ([method].flat().includes('POST') && posts.push(url)))
  }
  subscribe('fastify.initialization', note)
  service = await startTestService({ proxy: {} })
  unsubscribe('fastify.initialization', note)
})
afterAll(() => service.close())

const describedAt = async (url: string) => (await (await fetch(`${url}/openapi.json`)).json()) as Document

/** Checks the whole document: its version, and each form in it by the rules of JSON Schema, which OpenAPI 3.1 takes as they are. */
function checkForms({ openapi, paths, components }: Document): void {
  expect(openapi).toMatch(/^3\.1\.\d+$/)
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'described', components, paths })
  for (const name of Object.keys(components.schemas)) ajv.compile({ $ref: `described#/components/schemas/${name}` })
  for (const [path, methods] of Object.entries(paths)) {
    expect([path, Object.keys(methods)]).toEqual([path, ['post']])
    const form = `/paths/${path.replaceAll('/', '~1')}/post/requestBody/content/application~1json/schema`
    ajv.compile({ $ref: `described#${form}` })
  }
}

describe('described', () => {
  test('described: the paths of the API are those that it has and does not refuse; what it refuses says why', async () => {
    const document = await describedAt(service.url)
    checkForms(document)
    const refused = new Set<string>()
    const served = new Set<string>()
    /** Types and queries that the tables refuse, whatever a request asks for: without a node, this service refuses others too. */
    const note = (path: string, status: number, message: unknown) => {
      const whole = status === 501 && /^(activity ACTIVITY_TYPE_\w+|query \w+) \(.+\) is not/.test(String(message))
      ;(whole ? refused : served).add(path)
    }
    for (const { type, intent } of Object.values(activities)) {
      const { path, text } = service.body(type, sampleOf(intent))
      const { status, body } = await service.root.raw(path, text)
      note(path, status, body['message'])
    }
    for (const { path, request } of Object.values(queries)) {
      const text = JSON.stringify({ ...sampleOf(request), organizationId: service.organizationId })
      const { status, body } = await service.root.raw(path, text)
      note(path, status, body['message'])
    }
    expect(Object.keys(document.paths).sort()).toEqual([...served].sort())
    // The other spelling of a path leads to the same.
    const own = [...new Set(routes[0]!.map((path) => path.replace('/layer2_', '/spark_')))]
    const all = new Set([...served, ...refused])
    expect(own.sort()).toEqual([...all].sort())
    const left = [...refused].filter((path) => !served.has(path))
    expect(left.length).toBe(17)
    for (const path of left) expect(path).toMatch(/swap|earn/)
    // Nor is a type described that is always refused.
    const types = listOperations().flatMap(({ sort, done }) => (sort === 'activity' ? done : []))
    const named = [...JSON.stringify(document.paths).matchAll(/"const":"ACTIVITY_TYPE_(\w+)"/g)].map(([, type]) => type)
    expect(named.sort()).toEqual(types.toSorted())
  })

  test('described: the headers of stamps are those that it reads; a token of questions alone submits nothing', async () => {
    const { components, paths } = await describedAt(service.url)
    const headers = components.securitySchemes
    const whoami = '/public/v1/query/whoami'
    const texts = await Promise.all(
      Object.values(headers).map(async ({ name }) => {
        const body = JSON.stringify({ organizationId: service.organizationId })
        const response = await fetch(`${service.url}${whoami}`, { method: 'POST', headers: { [name]: '{}' }, body })
        return [name, response.status, ((await response.json()) as { message: string }).message]
      }),
    )
    expect(texts.map(([name]) => name)).toEqual(['X-Stamp', 'X-Stamp-Webauthn', 'X-Stamp-Attested', 'X-Session'])
    for (const [name, status, message] of texts) {
      expect([name, status]).toEqual([name, 401])
      expect(message, String(name)).not.toMatch(/without a stamp/)
    }
    const named = (path: string) => paths[path]!['post']!.security.flatMap((one) => Object.keys(one))
    expect(named(whoami)).toEqual(Object.keys(headers))
    expect(named('/public/v1/submit/create_user_tag')).toEqual(
      Object.keys(headers).filter((kind) => kind !== 'session'),
    )
  })

  test('described: the paths of the authentication proxy are those that it has', async () => {
    const document = await describedAt(service.service.bootstrap.authProxyUrl!)
    checkForms(document)
    expect(routes.length).toBe(2)
    expect(Object.keys(document.paths).sort()).toEqual([...routes[1]!].sort())
  })
})
