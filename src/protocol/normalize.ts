/**
 * The leniency of the wire, all of it (docs/protocol/requests.md#leniency): a member may have its camelCase or its
 * snake_case name, null means absent, a number may come as text and a 64-bit integer as a number, an unknown member is
 * ignored, and a list that is left out is empty. What comes out has one form, which the checks then judge; a value of
 * the wrong type is left for them to refuse.
 */
import { apiError } from './api-error.ts'
import { isJsonObject, type Json, type JsonObject } from './json.ts'
import { REQUEST_LIMITS } from './limits.ts'
import { type MessageSchema, refName } from './schema.ts'
import { fold } from './spelling.ts'

/**
 * Brings a message into its one form. `defs` holds every schema that it is made of. Throws `ApiError` for a member
 * given under both names.
 */
export function normalize(name: string, value: JsonObject, defs: Readonly<Record<string, MessageSchema>>): JsonObject {
  return normalizeObject(defs[name]!, value, defs, '')
}

function normalizeObject(
  schema: MessageSchema,
  value: JsonObject,
  defs: Readonly<Record<string, MessageSchema>>,
  path: string,
): JsonObject {
  const result: Record<string, Json> = {}
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const place = path === '' ? name : `${path}.${name}`
    const given = memberOf(value, name, place)
    const one = given === undefined ? property.default : normalizeValue(property, given, defs, place)
    if (one !== undefined) result[name] = one
  }
  return result
}

/** The member under either of its names; undefined when it is absent or null. */
function memberOf(value: JsonObject, name: string, place: string): Json | undefined {
  const snake = snakeOf(name)
  const own = Object.hasOwn(value, name) ? value[name] : undefined
  const other = snake !== name && Object.hasOwn(value, snake) ? value[snake] : undefined
  if (own !== undefined && own !== null && other !== undefined && other !== null)
    throw apiError('invalidField', place, `appears twice, also as \`${snake}\``)
  return own ?? other ?? undefined
}

/** Members that hold a name or a label, by the end of their path. */
const NAME = /(?:name|label)$/i

/** A client signature has an older form, bare text (docs/protocol/one-time-passcodes.md#client-signatures), told by its members. */
const SIGNATURE = ['publicKey', 'scheme', 'message', 'signature']

function normalizeValue(
  schema: MessageSchema,
  value: Json,
  defs: Readonly<Record<string, MessageSchema>>,
  path: string,
): Json {
  const target = schema.$ref === undefined ? schema : defs[refName(schema.$ref)]!
  if (target.enum) return typeof value === 'string' ? wordOf(value, target.enum) : value
  switch (target.type) {
    case 'object':
      if (typeof value === 'string' && target.properties && SIGNATURE.every((name) => name in target.properties!))
        return { publicKey: '', scheme: 'CLIENT_SIGNATURE_SCHEME_API_P256', message: '', signature: value }
      // A map, or a message without members, has no names to look up.
      if (!isJsonObject(value) || !target.properties) return value
      return normalizeObject(target, value, defs, path)
    case 'array':
      if (!Array.isArray(value)) return value
      if (value.length > REQUEST_LIMITS.listElements)
        throw apiError('invalidField', path, `must have at most ${REQUEST_LIMITS.listElements} elements`)
      return value.map((item, index) => normalizeValue(target.items!, item, defs, `${path}[${index}]`))
    case 'integer':
      return typeof value === 'string' && /^-?[0-9]{1,15}$/.test(value) ? Number(value) : value
    case 'string':
      if (typeof value === 'string' && value.length > REQUEST_LIMITS.nameCharacters && NAME.test(path))
        throw apiError('invalidField', path, `must have at most ${REQUEST_LIMITS.nameCharacters} characters`)
      // Only 64-bit integers have a pattern. A number that JSON could not carry exactly is left to be refused.
      return typeof value === 'number' && target.pattern !== undefined && Number.isSafeInteger(value)
        ? String(value)
        : value
    default:
      return value
  }
}

/** A word in the spelling used inside. */
function wordOf(value: string, words: readonly string[]): string {
  if (words.includes(value)) return value
  return fold(value).text
}

/** As `snakeCase`, of the names that schemas have: they are few, and every request has some of them. */
export function snakeOf(name: string): string {
  let snake = snakes.get(name)
  if (snake === undefined) {
    snake = snakeCase(name)
    snakes.set(name, snake)
  }
  return snake
}
const snakes = new Map<string, string>()

/** `organizationId` → `organization_id`, as protobuf names it. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
