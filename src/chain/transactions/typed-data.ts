/**
 * EIP-712 typed data → `eth.eip_712` (docs/protocol/policies.md#fields). What policies read is what the signature
 * covers: members that no type declares are not hashed, so they are not facts either, and a declared one must be there.
 */
import { asRecord, hexText, type JsonRecord, member, wholeNumber } from './payload-json.ts'
import { type Facts, refusePayload } from './refuse.ts'

export interface TypedField {
  readonly name: string
  readonly type: string
}
export type Types = ReadonlyMap<string, readonly TypedField[]>

/** Typed data, checked: every declared member is there, with a value of its type. */
export interface TypedData {
  /** With a type for the domain. */
  readonly types: Types
  readonly primaryType: string
  readonly domain: Facts
  readonly message: Facts
}

export const DOMAIN = 'EIP712Domain'

/**
 * The members a domain may have, in the order they are hashed in when no type is given
 * (docs/protocol/signing.md#raw-payloads).
 */
const domainFields = [
  { name: 'name', type: 'string', fact: 'name' },
  { name: 'version', type: 'string', fact: 'version' },
  { name: 'chainId', type: 'uint256', fact: 'chain_id' },
  { name: 'verifyingContract', type: 'address', fact: 'verifying_contract' },
  { name: 'salt', type: 'bytes32', fact: undefined },
] as const

/** A message nests as deep as its values do: a struct may contain a list of itself. */
const MAX_DEPTH = 64

/** Each struct and each list is hashed by itself: what anybody may ask for has an end. */
const MAX_VALUES = 16_384

/** The types of a reading, and how many more values it may have. */
interface Reading {
  readonly types: Types
  left: number
}

/** Checks typed data and reads the values of what it declares. Throws `ChainError`. */
export function parseTypedData(data: JsonRecord): TypedData {
  const given = readTypes(asRecord(member(data, 'types'), '`types`'))
  const primaryType = member(data, 'primaryType')
  if (typeof primaryType !== 'string' || primaryType === DOMAIN) refusePayload('expected `primaryType` to name a type')
  const domain = asRecord(member(data, 'domain'), '`domain`')
  const types = given.has(DOMAIN) ? given : new Map(given).set(DOMAIN, domainType(domain))
  const reading: Reading = { types, left: MAX_VALUES }
  return {
    types,
    primaryType,
    domain: readFields(reading, types.get(DOMAIN)!, domain, 'domain', 0),
    message: readStruct(reading, primaryType, member(data, 'message'), 'message', 0),
  }
}

export function readTypedData(data: JsonRecord): Facts {
  const { primaryType, domain, message } = parseTypedData(data)
  return { primary_type: primaryType, domain: domainFacts(domain), message }
}

function readTypes(given: JsonRecord): Types {
  const types = new Map<string, readonly TypedField[]>()
  for (const [name, fields] of Object.entries(given)) {
    if (!/^[A-Za-z_$][\w$]*$/.test(name) || isElementary(name)) refusePayload(`no type can be called \`${name}\``)
    if (!Array.isArray(fields)) refusePayload(`expected the type \`${name}\` to be a list`)
    const list = fields.map((field: unknown) => readField(asRecord(field, `a field of \`${name}\``), name))
    if (new Set(list.map((field) => field.name)).size < list.length) refusePayload(`\`${name}\` has a field twice`)
    types.set(name, list)
  }
  for (const [name, fields] of types) {
    const unknown = fields.find(({ type }) => !isElementary(elementOf(type)) && !types.has(elementOf(type)))
    if (unknown !== undefined) {
      refusePayload(`there is no type \`${unknown.type.slice(0, 80)}\` for \`${unknown.name}\` of \`${name}\``)
    }
  }
  return types
}

/** What lists of lists are made of in the end: the name that brackets follow. A text of another form is no name. */
export function elementOf(type: string): string {
  return /^([\w$]+)(?:\[\d*\])*$/.exec(type)?.[1] ?? ''
}

function readField(field: JsonRecord, owner: string): TypedField {
  const name = member(field, 'name')
  const type = member(field, 'type')
  if (typeof name !== 'string' || typeof type !== 'string') refusePayload(`a field of \`${owner}\` lacks name or type`)
  return { name, type }
}

/** Without a type of its own, the domain has the type that its members make. */
function domainType(domain: JsonRecord): readonly TypedField[] {
  return domainFields.filter(({ name }) => member(domain, name) !== undefined)
}

function domainFacts(values: Facts): Facts {
  const known = domainFields.flatMap(({ name, fact }) =>
    fact === undefined || !Object.hasOwn(values, name) ? [] : [[fact, values[name]] as const],
  )
  const facts = Object.fromEntries(known)
  for (const [name, value] of known) {
    const expected = name === 'chain_id' ? 'bigint' : 'string'
    if (typeof value !== expected) refusePayload(`the domain declares \`${name}\` with a type that it cannot have`)
  }
  return facts
}

function readStruct(reading: Reading, name: string, value: unknown, path: string, depth: number): Facts {
  const fields = reading.types.get(name)
  if (fields === undefined) refusePayload(`there is no type \`${name}\` for \`${path}\``)
  return readFields(reading, fields, asRecord(value, `\`${path}\``), path, depth)
}

function readFields(
  reading: Reading,
  fields: readonly TypedField[],
  value: JsonRecord,
  path: string,
  depth: number,
): Facts {
  return Object.fromEntries(
    fields.map(({ name, type }) => {
      if (!Object.hasOwn(value, name)) refusePayload(`\`${path}\` lacks \`${name}\``)
      return [name, readValue(reading, type, value[name], `${path}.${name}`, depth + 1)]
    }),
  )
}

/** The longest array suffix belongs to the outermost list: `T[2][]` is a list of pairs. */
function readValue(reading: Reading, type: string, value: unknown, path: string, depth: number): unknown {
  if (--reading.left < 0) refusePayload(`it has more than ${MAX_VALUES} values`)
  if (depth > MAX_DEPTH) refusePayload(`the message nests deeper than ${MAX_DEPTH} levels`)
  const array = /^(.+)\[(\d*)\]$/.exec(type)
  if (array !== null) {
    const [, element, length] = array
    if (!Array.isArray(value)) refusePayload(`expected \`${path}\` to be a list`)
    if (length !== '' && value.length !== Number(length)) refusePayload(`expected \`${path}\` to have ${length} items`)
    return value.map((item, index) => readValue(reading, element!, item, `${path}[${index}]`, depth + 1))
  }
  return isElementary(type) ? readElementary(type, value, `\`${path}\``) : readStruct(reading, type, value, path, depth)
}

const ELEMENTARY = /^(?:bool|address|string|bytes|bytes([1-9]|[12]\d|3[0-2])|(uint|int)(\d*))$/

export function isElementary(type: string): boolean {
  return ELEMENTARY.test(type)
}

/** Values as facts hold them: whole numbers as bigints, bytes and addresses as lower-case hex. */
function readElementary(type: string, value: unknown, what: string): unknown {
  const [, size, sign, digits] = ELEMENTARY.exec(type)!
  if (type === 'address') return hexText(value, what, 20)
  if (type === 'bytes') return hexText(value, what)
  if (size !== undefined) return hexText(value, what, Number(size))
  if (sign !== undefined) return readInteger(sign, digits === '' ? 256 : Number(digits), value, what)
  if (typeof value !== (type === 'bool' ? 'boolean' : 'string')) refusePayload(`expected ${what} to be a ${type}`)
  return value
}

function readInteger(sign: string, bits: number, value: unknown, what: string): bigint {
  if (bits < 8 || bits > 256 || bits % 8 !== 0) refusePayload(`${what} has the type \`${sign}${bits}\`, which is none`)
  const number = wholeNumber(value, what)
  const fits = sign === 'uint' ? BigInt.asUintN(bits, number) === number : BigInt.asIntN(bits, number) === number
  if (!fits) refusePayload(`${what} does not fit \`${sign}${bits}\``)
  return number
}
