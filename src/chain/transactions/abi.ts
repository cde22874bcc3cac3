/** An uploaded ABI: JSON → functions with their types (Solidity's ABI specification, JSON and types). */
import { keccak256 } from '../../crypto/index.ts'
import { encodeHex } from '../../encoding/index.ts'
import { refuseInterface } from './refuse.ts'

export type AbiType =
  | { readonly kind: 'uint' | 'int'; readonly bits: number }
  | { readonly kind: 'address' | 'bool' | 'bytes' | 'string' }
  | { readonly kind: 'fixed-bytes'; readonly size: number }
  | { readonly kind: 'tuple'; readonly components: readonly AbiType[] }
  /** Without a length it is dynamic. */
  | { readonly kind: 'array'; readonly element: AbiType; readonly length: number | undefined }

export interface AbiFunction {
  readonly name: string
  /** `0x` and 8 digits. */
  readonly selector: string
  readonly inputs: readonly { readonly name: string; readonly type: AbiType }[]
}

/** Guards of our own: no contract comes near them, and the work for a type stays small. */
const MAX_DEPTH = 16
const MAX_ARRAY_LENGTH = 65_536

/** Reads the functions of an ABI; constructors, events and errors are left out. Throws `ChainError`. */
export function parseAbi(json: string): readonly AbiFunction[] {
  return parseEntries(json, 'function')
}

/** Reads the custom errors of an ABI, which have names, inputs and selectors as functions do. Throws `ChainError`. */
export function parseAbiErrors(json: string): readonly AbiFunction[] {
  return parseEntries(json, 'error')
}

function parseEntries(json: string, wanted: 'function' | 'error'): readonly AbiFunction[] {
  const entries = parseJson(json)
  if (!Array.isArray(entries)) refuseInterface('expected a list of ABI entries')
  return entries.flatMap((entry: unknown) => {
    // An entry without a type is a function, says the specification.
    const { type = 'function', name, inputs = [] } = asObject(entry, 'an ABI entry')
    return type === wanted ? [parseFunction(name, inputs)] : []
  })
}

function parseFunction(name: unknown, inputs: unknown): AbiFunction {
  if (typeof name !== 'string' || !/^[A-Za-z_$][\w$]*$/.test(name)) refuseInterface('a function has no name')
  if (!Array.isArray(inputs)) refuseInterface(`the inputs of \`${name}\` are no list`)
  const parameters = inputs.map((input: unknown) => {
    const parameter = asObject(input, `a parameter of \`${name}\``)
    const { canonical, type } = parseType(parameter, 0)
    return { name: typeof parameter.name === 'string' ? parameter.name : '', type, canonical }
  })
  const names = parameters.flatMap((parameter) => (parameter.name === '' ? [] : [parameter.name]))
  if (new Set(names).size < names.length) refuseInterface(`two parameters of \`${name}\` have one name`)
  const signature = `${name}(${parameters.map(({ canonical }) => canonical).join(',')})`
  return {
    name,
    selector: `0x${encodeHex(keccak256(signature).subarray(0, 4))}`,
    inputs: parameters.map((parameter) => ({ name: parameter.name, type: parameter.type })),
  }
}

interface ParsedType {
  readonly type: AbiType
  /** The spelling that selectors are made of. */
  readonly canonical: string
}

/** `uint256[2][]` is a list of pairs: brackets apply from the left. */
function parseType(parameter: Readonly<Record<string, unknown>>, depth: number): ParsedType {
  const text = parameter['type']
  const match = typeof text === 'string' ? /^([a-z]+\d*)((?:\[\d*\])*)$/.exec(text) : null
  if (match === null || depth > MAX_DEPTH) refuseInterface(`there is no ABI type \`${String(text).slice(0, 80)}\``)
  const brackets = [...match[2]!.matchAll(/\[(\d*)\]/g)].map(([, length]) => length!)
  if (brackets.length > MAX_DEPTH) refuseInterface(`an ABI type nests deeper than ${MAX_DEPTH} levels`)
  const base = match[1] === 'tuple' ? parseTuple(parameter['components'], depth) : parseElementary(match[1]!)
  return brackets.reduce<ParsedType>(({ type, canonical }, length) => {
    if (Number(length) > MAX_ARRAY_LENGTH) refuseInterface(`an ABI array is longer than ${MAX_ARRAY_LENGTH}`)
    return {
      type: { kind: 'array', element: type, length: length === '' ? undefined : Number(length) },
      canonical: `${canonical}[${length}]`,
    }
  }, base)
}

function parseTuple(components: unknown, depth: number): ParsedType {
  if (!Array.isArray(components)) refuseInterface('a tuple has no components')
  const parsed = components.map((component: unknown) => parseType(asObject(component, 'a component'), depth + 1))
  return {
    type: { kind: 'tuple', components: parsed.map(({ type }) => type) },
    canonical: `(${parsed.map(({ canonical }) => canonical).join(',')})`,
  }
}

function parseElementary(name: string): ParsedType {
  if (name === 'address' || name === 'bool' || name === 'bytes' || name === 'string') {
    return { type: { kind: name }, canonical: name }
  }
  // An address and a selector in one word.
  if (name === 'function') return { type: { kind: 'fixed-bytes', size: 24 }, canonical: name }
  const [, kind, digits] = /^(uint|int|bytes)(\d*)$/.exec(name) ?? []
  const size = digits === '' ? 256 : Number(digits)
  if (kind === 'bytes' && size >= 1 && size <= 32 && digits![0] !== '0') {
    return { type: { kind: 'fixed-bytes', size }, canonical: name }
  }
  if ((kind === 'uint' || kind === 'int') && size >= 8 && size <= 256 && size % 8 === 0 && !digits!.startsWith('0')) {
    return { type: { kind, bits: size }, canonical: `${kind}${size}` }
  }
  return refuseInterface(`there is no ABI type \`${name}\``)
}

export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return refuseInterface('it is no JSON')
  }
}

export function asObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuseInterface(`${what} is no object`)
  return value as Readonly<Record<string, unknown>>
}
