import { activities, queries } from './catalogue.ts'
import { TURNKEY_ERROR_CODES } from './grpc.ts'
import type { Json, JsonObject } from './json.ts'
import type { QueryRow } from './rows.ts'
import { parseSchema, schemaNames } from './schema.ts'

const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` })
const content = (schema: Json): JsonObject => ({ content: { 'application/json': { schema } } })
const answers = (name: string): JsonObject => ({
  200: { description: 'Success', ...content(ref(name)) },
  default: { description: 'Refusal', ...content(ref('Refusal')) },
})

/** Checks that OpenAPI has a word for; the others stay as `x-checks`. */
const formats: Readonly<Record<string, string>> = { uuid: 'uuid', uuid4: 'uuid', email: 'email' }

/** Builds the OpenAPI 3.1 document of what is served: the signed-activity API, from the catalogue and the schemas. */
export function openApiDocument(): JsonObject {
  const submits = Map.groupBy(Object.values(activities), ({ path }) => path)
  const paths = [
    ...[...submits].map(([path, rows]) => [path, { post: submitOperation(rows) }]),
    ...Object.values(queries).map((row) => [row.path, { post: queryOperation(row) }]),
  ]
  return {
    openapi: '3.1.0',
    info: {
      title: 'Signed-activity API',
      version: '1',
      description:
        'Every mutation is an activity: a signed request whose parameters hold its intent. Reads are queries.',
    },
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-Stamp' },
        passkey: { type: 'apiKey', in: 'header', name: 'X-Stamp-Webauthn' },
        attested: { type: 'apiKey', in: 'header', name: 'X-Stamp-Attested' },
      },
      schemas: {
        Refusal: refusalSchema,
        ...Object.fromEntries(schemaNames().map((name) => [name, forOpenApi(parseSchema(name) as unknown as Json)])),
      },
    },
  }
}

const stamps: Json = [{ apiKey: [] }, { passkey: [] }, { attested: [] }]

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

function submitOperation(rows: readonly (typeof activities)[keyof typeof activities][]): JsonObject {
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
    security: stamps,
    requestBody: { required: true, ...content(bodies.length === 1 ? bodies[0]! : { oneOf: bodies }) },
    responses: answers('ActivityResponse'),
  }
}

function queryOperation({ name, request, response }: QueryRow): JsonObject {
  return {
    operationId: name,
    tags: ['query'],
    security: stamps,
    requestBody: { required: true, ...content(ref(request)) },
    responses: answers(response),
  }
}

/** Points references at the document's components and says in OpenAPI's words what it has words for. */
function forOpenApi(value: Json): Json {
  if (Array.isArray(value)) return value.map(forOpenApi)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([keyword, one]): [string, Json][] => {
      if (keyword === '$ref') return [['$ref', String(one).replace('#/$defs/', '#/components/schemas/')]]
      // The names of our own refusals mean nothing to a reader of the document.
      if (keyword === 'x-refused') return []
      if (keyword !== 'x-checks') return [[keyword, forOpenApi(one)]]
      const tags = String(one).split(',')
      const format = tags.map((tag) => formats[tag]).find((word) => word !== undefined)
      if (format === undefined) return [['x-checks', one]]
      // Where the check may be left out, an empty text says that there is none.
      const said: [string, Json] = tags.includes('omitempty')
        ? ['anyOf', [{ format }, { const: '' }]]
        : ['format', format]
      return [['x-checks', one], said]
    }),
  )
}
