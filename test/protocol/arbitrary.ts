import fc from 'fast-check'
import type { Json, JsonObject } from '../../src/protocol/index.ts'
import { closureOf, type MessageSchema, refName } from '../../src/protocol/schema.ts'

/** Values of a message that pass every check, in the one form that the decoder gives. */
export function arbitraryMessage(name: string): fc.Arbitrary<JsonObject> {
  const defs = closureOf(name)
  return messageOf(defs[name]!, defs)
}

type Defs = Readonly<Record<string, MessageSchema>>

function messageOf(schema: MessageSchema, defs: Defs): fc.Arbitrary<JsonObject> {
  const members = Object.entries(schema.properties ?? {})
  const model = Object.fromEntries(members.map(([name, property]) => [name, arbitraryValue(property, defs)]))
  const always = members
    .filter(([name, { default: zero }]) => schema.required?.includes(name) || zero !== undefined)
    .map(([name]) => name)
  return fc.record(model, { requiredKeys: always, noNullPrototype: true }).map((message) => {
    // The length of a key depends on the curve beside it.
    if (message['curveType'] === 'API_KEY_CURVE_ED25519') return { ...message, publicKey: 'ab'.repeat(32) }
    return message
  })
}

function arbitraryValue(schema: MessageSchema, defs: Defs): fc.Arbitrary<Json> {
  if (schema.$ref !== undefined) return arbitraryValue({ ...defs[refName(schema.$ref)]!, ...checksOf(schema) }, defs)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const tags = (schema['x-checks'] ?? '').split(',')
  switch (schema.type) {
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer({ min: tags.includes('min=6') ? 6 : 1, max: tags.includes('max=9') ? 9 : 1000 })
    case 'array':
      return fc.array(arbitraryValue(schema.items!, defs), {
        minLength: tags.includes('required') ? 1 : 0,
        maxLength: 3,
      })
    case 'object':
      if (schema.additionalProperties)
        return fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.string({ maxLength: 5 }), { noNullPrototype: true })
      return messageOf(schema, defs)
    default:
      return schema.pattern === undefined ? textOf(tags) : fc.maxSafeNat().map(String)
  }
}

const checksOf = (schema: MessageSchema): MessageSchema =>
  schema['x-checks'] === undefined ? {} : { 'x-checks': schema['x-checks'] }

/** Texts by the strictest of their tags. */
const texts: readonly (readonly [tag: string, arbitrary: fc.Arbitrary<string>])[] = [
  ['uuid', fc.uuid()],
  ['uuid4', fc.uuid({ version: 4 })],
  ['email', fc.emailAddress().map(() => 'alice@acme.test')],
  ['e164', fc.integer({ min: 1_000_000, max: 999_999_999 }).map((n) => `+${n}`)],
  [
    'tk_label',
    fc
      .stringMatching(/^[a-zé](.{0,20}[a-z])?$/)
      .filter((s) => !/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u.test(s)),
  ],
  ['tk_api_key', fc.constant(`02${'ab'.repeat(32)}`)],
  ['len=66', fc.constant(`03${'cd'.repeat(32)}`)],
  ['len=2', fc.constant('12')],
  ['len=4', fc.constant('2030')],
  ['hexadecimal', fc.stringMatching(/^(0x)?[0-9a-fA-F]{1,20}$/)],
  ['at_most=43200', fc.integer({ min: 1, max: 43_200 }).map(String)],
  ['decimal', fc.stringMatching(/^[0-9]{1,15}(\.[0-9]{1,6})?$/)],
  ['positive', fc.integer({ min: 1 }).map(String)],
  ['numeric', fc.integer({ min: 1, max: 600 }).map(String)],
]

function textOf(tags: readonly string[]): fc.Arbitrary<string> {
  const words = tags.find((tag) => tag.startsWith('oneof='))
  if (words) return fc.constantFrom(...words.slice('oneof='.length).split(' '))
  const row = texts.find(([tag]) => tags.includes(tag))
  if (row) return row[1]
  return fc.string({ minLength: tags.includes('required') ? 1 : 0, maxLength: 12 })
}

/** Writes a message in a way that a lenient reader must understand as the same: names, nulls, numbers, order. */
export function disguise(name: string, message: JsonObject, choose: () => number): JsonObject {
  const defs = closureOf(name)
  return disguiseObject(defs[name]!, message, defs, choose)
}

function disguiseObject(schema: MessageSchema, message: JsonObject, defs: Defs, choose: () => number): JsonObject {
  if (!schema.properties) return message
  const members: [string, Json][] = []
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const value = message[name]
    const written = choose() % 2 === 0 ? name : name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)
    const isZero = JSON.stringify(value) === JSON.stringify(property.default)
    if (value === undefined || isZero) {
      if (choose() % 2 === 0) members.push([written, null])
    } else members.push([written, disguiseValue(property, value, defs, choose)])
  }
  if (choose() % 2 === 0) members.push(['x_unknown', { any: [1] }])
  return Object.fromEntries(choose() % 2 === 0 ? members : members.reverse())
}

function disguiseValue(schema: MessageSchema, value: Json, defs: Defs, choose: () => number): Json {
  const target = schema.$ref === undefined ? schema : defs[refName(schema.$ref)]!
  if (Array.isArray(value)) return value.map((item) => disguiseValue(target.items!, item, defs, choose))
  if (typeof value === 'object' && value !== null) return disguiseObject(target, value as JsonObject, defs, choose)
  if (target.type === 'integer' && choose() % 2 === 0) return String(value)
  if (typeof value === 'string') {
    if (target.pattern !== undefined && choose() % 2 === 0) return Number(value)
    if (target.enum && choose() % 2 === 0) return value.replace('SPARK', 'LAYER2')
  }
  return value
}
