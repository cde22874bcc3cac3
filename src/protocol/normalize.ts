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
  return normalizeObject(defs[name]!, value, defs, undefined)
}

/** Where a value stands: written out only for a refusal, since a body may have a hundred thousand of them. */
interface Step {
  readonly within: Step | undefined
  /** The name of a member, or the index of an element. */
  readonly key: string | number
}

function pathOf({ within, key }: Step): string {
  if (within === undefined) return String(key)
  return typeof key === 'number' ? `${pathOf(within)}[${key}]` : `${pathOf(within)}.${key}`
}

function normalizeObject(
  schema: MessageSchema,
  value: JsonObject,
  defs: Readonly<Record<string, MessageSchema>>,
  within: Step | undefined,
): JsonObject {
  const result: Record<string, Json> = {}
  for (const { name, snake, property } of membersOf(schema)) {
    const given = memberOf(value, { name, snake, within })
    const one = given === undefined ? property.default : normalizeValue(property, given, defs, { within, key: name })
    if (one !== undefined) result[name] = one
  }
  return result
}

interface Member {
  readonly name: string
  readonly snake: string
  readonly property: MessageSchema
}

/** The members of an object with both of their names, listed once for each schema. */
function membersOf(schema: MessageSchema): readonly Member[] {
  let members = listed.get(schema)
  if (members === undefined) {
    members = Object.entries(schema.properties ?? {}).map(([name, property]) => ({
      ...{ name, property },
      snake: snakeOf(name),
    }))
    listed.set(schema, members)
  }
  return members
}
const listed = new WeakMap<MessageSchema, readonly Member[]>()

/** The member under either of its names; undefined when it is absent or null. */
function memberOf(
  value: JsonObject,
  { name, snake, within }: Pick<Member, 'name' | 'snake'> & Pick<Step, 'within'>,
): Json | undefined {
  const own = Object.hasOwn(value, name) ? value[name] : undefined
  const other = snake !== name && Object.hasOwn(value, snake) ? value[snake] : undefined
  if (own !== undefined && own !== null && other !== undefined && other !== null)
    throw apiError('invalidField', pathOf({ within, key: name }), `appears twice, also as \`${snake}\``)
  return own ?? other ?? undefined
}

/** Members that hold a name or a label. */
const NAME = /(?:name|label)$/i

/** A client signature has an older form, bare text (docs/protocol/one-time-passcodes.md#client-signatures), told by its members. */
const SIGNATURE = ['publicKey', 'scheme', 'message', 'signature']

function normalizeValue(
  schema: MessageSchema,
  value: Json,
  defs: Readonly<Record<string, MessageSchema>>,
  step: Step,
): Json {
  const target = schema.$ref === undefined ? schema : defs[refName(schema.$ref)]!
  if (target.enum) return typeof value === 'string' ? wordOf(value, target.enum) : value
  switch (target.type) {
    case 'object':
      if (typeof value === 'string' && target.properties && SIGNATURE.every((name) => name in target.properties!))
        return { publicKey: '', scheme: 'CLIENT_SIGNATURE_SCHEME_API_P256', message: '', signature: value }
      // A map, or a message without members, has no names to look up.
      if (!isJsonObject(value) || !target.properties) return value
      return normalizeObject(target, value, defs, step)
    case 'array':
      if (!Array.isArray(value)) return value
      if (value.length > REQUEST_LIMITS.listElements)
        throw apiError('invalidField', pathOf(step), `must have at most ${REQUEST_LIMITS.listElements} elements`)
      return value.map((item, key) => normalizeValue(target.items!, item, defs, { within: step, key }))
    case 'integer':
      return typeof value === 'string' && /^-?[0-9]{1,15}$/.test(value) ? Number(value) : value
    case 'string':
      if (typeof value === 'string' && value.length > REQUEST_LIMITS.nameCharacters && NAME.test(String(step.key)))
        throw apiError('invalidField', pathOf(step), `must have at most ${REQUEST_LIMITS.nameCharacters} characters`)
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
