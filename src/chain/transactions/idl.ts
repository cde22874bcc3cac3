/**
 * An uploaded IDL in Anchor's JSON, of before and after 0.30 → instructions and types
 * (docs/protocol/policies.md#contract-interfaces).
 */
import { sha256 } from '../../crypto/index.ts'
import { encodeUtf8 } from '../../encoding/index.ts'
import { asObject, parseJson } from './abi.ts'
import { refuseInterface } from './refuse.ts'

export type IdlType =
  | { readonly kind: 'unsigned' | 'signed' | 'float'; readonly bytes: number }
  | { readonly kind: 'bool' | 'bytes' | 'string' | 'public-key' }
  | { readonly kind: 'option' | 'vec'; readonly inner: IdlType }
  | { readonly kind: 'array'; readonly inner: IdlType; readonly length: number }
  | { readonly kind: 'defined'; readonly name: string }

/** Fields with names, or, as of a tuple, without. */
export interface IdlFields {
  readonly names: readonly string[] | undefined
  readonly types: readonly IdlType[]
}

export type IdlDefinition =
  | { readonly kind: 'struct'; readonly fields: IdlFields }
  | { readonly kind: 'enum'; readonly variants: readonly { readonly name: string; readonly fields: IdlFields }[] }
  | { readonly kind: 'alias'; readonly target: IdlType }

export interface IdlInstruction {
  readonly name: string
  readonly discriminator: Uint8Array
  readonly accounts: readonly { readonly name: string; readonly optional: boolean }[]
  readonly arguments: IdlFields
}

export interface Idl {
  readonly instructions: readonly IdlInstruction[]
  readonly types: ReadonlyMap<string, IdlDefinition>
}

type JsonObject = Readonly<Record<string, unknown>>

const MAX_DEPTH = 16
const MAX_ARRAY_LENGTH = 65_536

/** Reads an IDL; everything that decoding an instruction needs is checked here. Throws `ChainError`. */
export function parseIdl(json: string): Idl {
  const idl = asObject(parseJson(json), 'the IDL')
  const types = new Map(
    asList(idl['types'], '`types`').map((type) => {
      const definition = asObject(type, 'a type')
      return [asName(definition['name'], 'a type'), definition] as const
    }),
  )
  const known = new Set(types.keys())
  if (known.size < asList(idl['types'], '`types`').length) refuseInterface('two types have one name')
  return {
    instructions: asList(idl['instructions'], '`instructions`').map((each) => parseInstruction(each, known)),
    types: new Map([...types].map(([name, definition]) => [name, parseDefinition(name, definition, known)] as const)),
  }
}

function parseInstruction(value: unknown, known: ReadonlySet<string>): IdlInstruction {
  const instruction = asObject(value, 'an instruction')
  const name = asName(instruction['name'], 'an instruction')
  const args = parseNamed(asList(instruction['args'], `the arguments of \`${name}\``), name, known)
  const accounts = parseAccounts(asList(instruction['accounts'], `the accounts of \`${name}\``), '', 0)
  if (new Set(accounts.map((account) => account.name)).size < accounts.length) {
    refuseInterface(`two accounts of \`${name}\` have one name`)
  }
  return { name, discriminator: parseDiscriminator(instruction['discriminator'], name), accounts, arguments: args }
}

/**
 * Without one, the first 8 bytes of SHA-256 of `global:` and the name in snake case
 * (docs/protocol/policies.md#contract-interfaces).
 */
function parseDiscriminator(value: unknown, name: string): Uint8Array {
  if (value === undefined || value === null) return sha256(encodeUtf8(`global:${snakeCase(name)}`)).subarray(0, 8)
  const bytes = asList(value, `the discriminator of \`${name}\``)
  const isByte = (byte: unknown) => Number.isInteger(byte) && Number(byte) >= 0 && Number(byte) <= 255
  if (bytes.length === 0 || !bytes.every(isByte))
    refuseInterface(`the discriminator of \`${name}\` is no list of bytes`)
  return Uint8Array.from(bytes as readonly number[])
}

/** `mintNFT` and `mintNft` are both `mint_nft`, as in Anchor's client. */
function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
}

/** A group of accounts stands for its members; their names have the group's before them (the sources do not say). */
function parseAccounts(list: readonly unknown[], prefix: string, depth: number): IdlInstruction['accounts'] {
  if (depth > MAX_DEPTH) refuseInterface(`accounts nest deeper than ${MAX_DEPTH} levels`)
  return list.flatMap((value) => {
    const account = asObject(value, 'an account')
    const name = `${prefix}${asName(account['name'], 'an account')}`
    if (account['accounts'] !== undefined) {
      return parseAccounts(asList(account['accounts'], `the accounts of \`${name}\``), `${name}.`, depth + 1)
    }
    return [{ name, optional: account['isOptional'] === true || account['optional'] === true }]
  })
}

function parseDefinition(name: string, definition: JsonObject, known: ReadonlySet<string>): IdlDefinition {
  const { serialization = 'borsh', generics = [] } = definition
  if (serialization !== 'borsh' || asList(generics, 'generics').length > 0) {
    refuseInterface(`the type \`${name}\` is not written as Borsh, or has generics`)
  }
  const body = asObject(definition['type'], `the type \`${name}\``)
  switch (body['kind']) {
    case 'struct':
      return { kind: 'struct', fields: parseFields(body['fields'], name, known) }
    case 'enum': {
      const variants = asList(body['variants'], `the variants of \`${name}\``).map((value) => {
        const variant = asObject(value, `a variant of \`${name}\``)
        return { name: asName(variant['name'], 'a variant'), fields: parseFields(variant['fields'], name, known) }
      })
      return { kind: 'enum', variants }
    }
    case 'alias':
    case 'type':
      return { kind: 'alias', target: parseType(body['value'] ?? body['alias'], known, 0) }
    default:
      return refuseInterface(`the type \`${name}\` is neither struct nor enum nor alias`)
  }
}

/** A list of `{name, type}`, or, of a tuple, of types. */
function parseFields(value: unknown, owner: string, known: ReadonlySet<string>): IdlFields {
  const fields = value === undefined || value === null ? [] : asList(value, `the fields of \`${owner}\``)
  const [first] = fields
  const isNamed = typeof first === 'object' && first !== null && 'name' in first
  if (fields.length === 0 || isNamed) return parseNamed(fields, owner, known)
  return { names: undefined, types: fields.map((field) => parseType(field, known, 0)) }
}

function parseNamed(list: readonly unknown[], owner: string, known: ReadonlySet<string>): IdlFields {
  const fields = list.map((value) => asObject(value, `a field of \`${owner}\``))
  const names = fields.map((field) => asName(field['name'], `a field of \`${owner}\``))
  if (new Set(names).size < names.length) refuseInterface(`two fields of \`${owner}\` have one name`)
  return { names, types: fields.map((field) => parseType(field['type'], known, 0)) }
}

const PRIMITIVES: Readonly<Record<string, IdlType>> = {
  bool: { kind: 'bool' },
  bytes: { kind: 'bytes' },
  string: { kind: 'string' },
  publicKey: { kind: 'public-key' },
  pubkey: { kind: 'public-key' },
  f32: { kind: 'float', bytes: 4 },
  f64: { kind: 'float', bytes: 8 },
  ...Object.fromEntries(
    [1, 2, 4, 8, 16].flatMap((bytes): [string, IdlType][] => [
      [`u${bytes * 8}`, { kind: 'unsigned', bytes }],
      [`i${bytes * 8}`, { kind: 'signed', bytes }],
    ]),
  ),
}

function parseType(value: unknown, known: ReadonlySet<string>, depth: number): IdlType {
  if (depth > MAX_DEPTH) refuseInterface(`an IDL type nests deeper than ${MAX_DEPTH} levels`)
  if (typeof value === 'string' && Object.hasOwn(PRIMITIVES, value)) return PRIMITIVES[value]!
  if (typeof value === 'object' && value !== null) {
    const { option, vec, array, defined } = value as JsonObject
    if (option !== undefined) return { kind: 'option', inner: parseType(option, known, depth + 1) }
    if (vec !== undefined) return { kind: 'vec', inner: parseType(vec, known, depth + 1) }
    if (array !== undefined) return parseArray(array, known, depth)
    if (defined !== undefined) {
      // Since 0.30: `{defined: {name}}`.
      const name = typeof defined === 'string' ? defined : asObject(defined, 'a defined type')['name']
      if (typeof name === 'string' && known.has(name)) return { kind: 'defined', name }
    }
  }
  return refuseInterface(`there is no IDL type \`${String(JSON.stringify(value)).slice(0, 80)}\``)
}

function parseArray(value: unknown, known: ReadonlySet<string>, depth: number): IdlType {
  const [inner, length, ...rest] = asList(value, 'an array type')
  if (!Number.isInteger(length) || Number(length) < 0 || Number(length) > MAX_ARRAY_LENGTH || rest.length > 0) {
    refuseInterface('an array type has no length')
  }
  return { kind: 'array', inner: parseType(inner, known, depth + 1), length: Number(length) }
}

function asList(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) refuseInterface(`${what} is no list`)
  return value
}

function asName(value: unknown, what: string): string {
  if (typeof value !== 'string' || value === '') refuseInterface(`${what} has no name`)
  return value
}
