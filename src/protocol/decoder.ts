/**
 * The one decoder at the wire: leniency (`normalize.ts`), then JSON Schema and the published field checks (ajv). What
 * comes out has camelCase names, no nulls, no unknown members, and every list that the API always writes.
 */
import { createRequire } from 'node:module'
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js'
import { type ApiError, apiError } from './api-error.ts'
import { activities, findActivity, proxyEndpoints, queries } from './catalogue.ts'
import { firstFailed } from './checks.ts'
import { faultOf } from './fault.ts'
import type { ActivityType, ProxyEndpointName, QueryName } from './generated/names.gen.ts'
import { isJsonObject, type Json, type JsonObject } from './json.ts'
import { checkMisplaced } from './misplaced.ts'
import { normalize, snakeOf } from './normalize.ts'
import type { ActivityRow } from './rows.ts'
import { closureOf, type MessageSchema } from './schema.ts'
import { fold, type Spelling } from './spelling.ts'

/** A submit's body, without its parameters having been read. */
export interface Envelope {
  readonly row: ActivityRow
  /** How the caller spells the one word that has two spellings; answer in it. */
  readonly spelling: Spelling
  /** Decimal milliseconds, as text. */
  readonly timestampMs: string
  readonly organizationId: string
  /** Still to be read with `intent(row.type, parameters)`. */
  readonly parameters: JsonObject
  readonly generateAppProofs: boolean
}

/** Reads what clients send. Each function throws `ApiError` for a body that it must refuse. */
export interface Decoder {
  /** @param path the path that it was sent to, when the type must belong to it */
  readonly envelope: (body: unknown, path?: string) => Envelope
  readonly intent: (type: ActivityType, parameters: unknown) => JsonObject
  readonly query: (name: QueryName, body: unknown) => JsonObject
  readonly proxy: (name: ProxyEndpointName, body: unknown) => JsonObject
}

interface Reader {
  readonly defs: Readonly<Record<string, MessageSchema>>
  readonly validate: ValidateFunction
}

/** The checks of each message, which follow from its name alone: compiled when it is first read, for every decoder of the process. */
const readers = new Map<string, Reader>()
let ajv: Ajv2020 | undefined

function readerOf(name: string): Reader {
  let reader = readers.get(name)
  if (!reader) {
    ajv ??= createAjv()
    const defs = closureOf(name)
    reader = { defs, validate: ajv.compile({ $ref: `#/$defs/${name}`, $defs: defs }) }
    readers.set(name, reader)
  }
  return reader
}

/** Creates a decoder. */
export function createDecoder(): Decoder {
  const read = (name: string, value: unknown, field: string): JsonObject => {
    if (!isJsonObject(value)) throw notAnObject(field)
    checkMisplaced(name, value)
    const { defs, validate } = readerOf(name)
    const message = normalize(name, value, defs)
    if (!validate(message)) throw faultOf(validate.errors![0]!, defs[name]!, defs)
    return message
  }
  return {
    envelope: readEnvelope,
    intent: (type, parameters) => read(activities[type].intent, parameters, 'parameters'),
    query: (name, body) => {
      const request = read(queries[name].request, body, '')
      checkOrganizationId(request['organizationId'])
      return request
    },
    proxy: (name, body) => read(proxyEndpoints[name].request, body, ''),
  }
}

/**
 * Loads ajv when a body is first read: commands that read none should not pay for it. The schemas are generated, and a test
 * judges them: to compile the schema of schemas takes longer than to compile a message.
 */
function createAjv(): Ajv2020 {
  const { Ajv2020: Ajv } = createRequire(import.meta.url)('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  const ajv = new Ajv({ strict: false, verbose: true, inlineRefs: false, validateSchema: false })
  ajv.addKeyword({
    keyword: 'x-checks',
    errors: 'full',
    compile: (tags: string) => {
      const check = (value: unknown, context?: { parentData: Readonly<Record<string, unknown>> }): boolean => {
        const failed = firstFailed(tags, value, context?.parentData ?? {})
        check.errors = failed ? [{ keyword: 'x-checks', message: failed.rule, params: { tag: failed.tag } }] : []
        return !failed
      }
      check.errors = [] as { keyword: string; message: string; params: { tag: string } }[]
      return check
    },
  })
  return ajv
}

function readEnvelope(body: unknown, path?: string): Envelope {
  if (!isJsonObject(body)) throw notAnObject('')
  const type = textMember(body, 'type')
  const found = findActivity(type)
  if (!found) throw apiError('unknownActivityType', type)
  if (path !== undefined && path !== found.row.path && fold(path).text !== found.row.path)
    throw apiError('activityTypeNotOfPath', type, path)
  const organizationId = textMember(body, 'organizationId')
  checkOrganizationId(organizationId)
  const parameters = member(body, 'parameters')
  if (parameters === undefined) throw apiError('missingField', 'parameters')
  if (!isJsonObject(parameters)) throw notAnObject('parameters')
  const generateAppProofs = member(body, 'generateAppProofs') ?? false
  if (typeof generateAppProofs !== 'boolean') throw apiError('invalidField', 'generateAppProofs', 'must be a boolean')
  return { ...found, timestampMs: readTimestampMs(body), organizationId, parameters, generateAppProofs }
}

function readTimestampMs(body: JsonObject): string {
  const value = member(body, 'timestampMs')
  if (value === undefined) throw apiError('missingField', 'timestampMs')
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  if (typeof text !== 'string' || !/^[0-9]{1,15}$/.test(text))
    throw apiError('invalidField', 'timestampMs', 'must be milliseconds since the epoch, in decimal digits')
  return text
}

function member(body: JsonObject, name: string): Json | undefined {
  const snake = snakeOf(name)
  if (snake !== name && body[name] != null && body[snake] != null)
    throw apiError('invalidField', name, `appears twice, also as \`${snake}\``)
  return body[name] ?? body[snake] ?? undefined
}

function textMember(body: JsonObject, name: string): string {
  const value = member(body, name)
  if (value === undefined || value === '') throw apiError('missingField', name)
  if (typeof value !== 'string') throw apiError('invalidField', name, 'must be a string')
  return value
}

/** Any UUID will do; the version nibble is never checked (docs/protocol/requests.md#identifiers). */
function checkOrganizationId(id: unknown): void {
  if (typeof id === 'string' && firstFailed('uuid', id, {})) throw apiError('malformedOrganizationId')
}

function notAnObject(field: string): ApiError {
  return field === ''
    ? apiError('badRequestBody', 'expected an object')
    : apiError('invalidField', field, 'must be an object')
}
