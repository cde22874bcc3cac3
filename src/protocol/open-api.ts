import { activities, proxyEndpoints, queries } from './catalogue.ts'
import { checksInWords, type ValueType } from './checks.ts'
import { TURNKEY_ERROR_CODES } from './grpc.ts'
import type { Json, JsonObject } from './json.ts'
import type { ProxyRow, QueryRow } from './rows.ts'
import { closureOf } from './schema.ts'

const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` })
const content = (schema: Json): JsonObject => ({ content: { 'application/json': { schema } } })
/** What of the API a service serves, by activity types and names of queries. @default all of it */
export interface Served {
  /** What is always refused, and therefore not described. */
  readonly refused?: readonly string[]
  /** What is refused in one case, which this says. */
  readonly except?: Readonly<Record<string, string>>
  /** The headers of stamps, by kind. @default none, which says that nobody has to prove who they are */
  readonly stamps?: Readonly<Record<string, string>>
  /** Kinds of stamps that queries alone take. */
  readonly readsOnly?: readonly string[]
}

/** The answers of an operation: without a reason it is carried out, and never answered with 501. */
const answers = (name: string, reasons: readonly string[]): JsonObject => ({
  200: { description: 'Success', ...content(ref(name)) },
  '4XX': { description: 'Refusal', ...content(ref('Refusal')) },
  ...(reasons.length === 0
    ? {}
    : { 501: { description: `Not carried out: ${reasons.join('; ')}`, ...content(ref('Refusal')) } }),
  503: { description: 'Refusal: nothing was done, ask again later', ...content(ref('Refusal')) },
})

/** Builds the OpenAPI 3.1 document of what is served of the signed-activity API, from the catalogue and the schemas. */
export function openApiDocument({ refused = [], except = {}, stamps = {}, readsOnly = [] }: Served): JsonObject {
  const submitted = Object.values(activities).filter(({ type }) => !refused.includes(type))
  const asked = Object.values(queries).filter(({ name }) => !refused.includes(name))
  const submits = Map.groupBy(submitted, ({ path }) => path)
  const messages = [...submitted.map(({ intent }) => intent), 'ActivityResponse']
  const exchanged = asked.flatMap(({ request, response }) => [request, response])
  const all = Object.keys(stamps).map((kind): JsonObject => ({ [kind]: [] }))
  const signing = all.filter((one) => !readsOnly.some((kind) => kind in one))
  const paths = [
    ...[...submits].map(([path, rows]) => [path, { post: { ...submitOperation(rows, except), security: signing } }]),
    ...asked.map((row) => [row.path, { post: { ...queryOperation(row, except), security: all } }]),
  ]
  return {
    openapi: '3.1.0',
    info: {
      title: 'Signed-activity API',
      version: '1',
      description:
        'Every mutation is an activity: a signed request whose parameters hold its intent. Reads are queries. A request has exactly one of the headers that its operation names.',
    },
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: Object.fromEntries(
        Object.entries(stamps).map(([kind, name]) => [kind, { type: 'apiKey', in: 'header', name }]),
      ),
      schemas: schemasOf(...messages, ...exchanged),
    },
  }
}

/** Builds the OpenAPI 3.1 document of the authentication proxy. */
export function authProxyDocument(): JsonObject {
  const rows = Object.values(proxyEndpoints)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Authentication proxy',
      version: '1',
      description: 'For browsers: logins, codes and sign-ups for an organization, which the configuration id names.',
    },
    paths: Object.fromEntries(rows.map((row) => [row.path, { post: proxyOperation(row) }])),
    components: { schemas: schemasOf(...rows.flatMap(({ request, response }) => [request, response])) },
  }
}

function schemasOf(...names: readonly string[]): JsonObject {
  const all = Object.entries(closureOf(...names))
  return {
    Refusal: refusalSchema,
    ...Object.fromEntries(all.map(([name, one]) => [name, forOpenApi(one as unknown as Json)])),
  }
}

function proxyOperation({ name, request, response }: ProxyRow): JsonObject {
  const header = (called: string, required: boolean) => ({
    ...{ name: called, in: 'header', required },
    schema: { type: 'string' },
  })
  return {
    operationId: name,
    parameters: [header('X-Auth-Proxy-Config-Id', true), header('X-Captcha-Token', false)],
    requestBody: { required: false, ...content(ref(request)) },
    responses: answers(response, []),
  }
}

const refusalSchema: JsonObject = {
  type: 'object',
  required: ['code', 'message', 'details', 'turnkeyErrorCode'],
  properties: {
    code: { type: 'integer', description: 'gRPC status code' },
    message: { type: 'string' },
    details: { type: 'array', items: { type: 'object' } },
    turnkeyErrorCode: { type: 'string', enum: [...TURNKEY_ERROR_CODES, ''] },
  },
}

function submitOperation(
  rows: readonly (typeof activities)[keyof typeof activities][],
  except: NonNullable<Served['except']>,
): JsonObject {
  const bodies = rows.map(({ type, intent }) => ({
    type: 'object',
    required: ['type', 'timestampMs', 'organizationId', 'parameters'],
    properties: {
      type: { const: type },
      timestampMs: { type: 'string', pattern: '^[0-9]+$' },
      organizationId: { type: 'string', format: 'uuid' },
      parameters: ref(intent),
      generateAppProofs: { type: 'boolean' },
    },
  }))
  return {
    operationId: rows[0]!.operation,
    tags: ['submit'],
    requestBody: { required: true, ...content(bodies.length === 1 ? bodies[0]! : { oneOf: bodies }) },
    responses: answers('ActivityResponse', [
      ...new Set(rows.flatMap(({ type }) => (type in except ? [`${type}: ${except[type]}`] : []))),
    ]),
  }
}

function queryOperation({ name, request, response }: QueryRow, except: NonNullable<Served['except']>): JsonObject {
  return {
    operationId: name,
    tags: ['query'],
    // Every request names its organization; the published checks say nothing of how.
    requestBody: {
      required: true,
      ...content({ allOf: [ref(request), { properties: { organizationId: { type: 'string', format: 'uuid' } } }] }),
    },
    responses: answers(response, name in except ? [except[name]!] : []),
  }
}

/** Points references at the document's components and says the checks in words that any reader of schemas knows. */
function forOpenApi(value: Json): Json {
  if (Array.isArray(value)) return value.map(forOpenApi)
  if (typeof value !== 'object' || value === null) return value
  const type = TYPES.find((name) => name === (value as JsonObject)['type']) ?? 'other'
  return Object.fromEntries(
    Object.entries(value).flatMap(([keyword, one]): [string, Json][] => {
      if (keyword === '$ref') return [['$ref', String(one).replace('#/$defs/', '#/components/schemas/')]]
      // The names of our own refusals mean nothing to a reader of the document.
      if (keyword === 'x-refused') return []
      if (keyword !== 'x-checks') return [[keyword, forOpenApi(one)]]
      return [['x-checks', one], ...Object.entries(checksInWords(String(one), type))]
    }),
  )
}

const TYPES: readonly ValueType[] = ['string', 'array', 'integer', 'boolean']
