/**
 * What the context holds → values, by declared type. The context is plain JavaScript: whole numbers are bigints, safe
 * numbers or decimal texts; what was decoded without a declared type says in its shape what it is (`decoded` below).
 */

import { respellText } from '../protocol/spelling.ts'
import { INT_MAX, INT_MIN, UINT_MAX } from './limits.ts'
import { type Letters, type Origin, showType, type Type } from './types.ts'
import {
  Fault,
  FoldedText,
  Instant,
  ListValue,
  type Loader,
  MapValue,
  NumberText,
  Opaque,
  quoted,
  type ReadPlace,
  type Result,
  StructValue,
} from './values.ts'

/** Finds how to load a value of a type. */
export function loaderOf(type: Type): Loader {
  switch (type.kind) {
    case 'bool':
      return (raw, place) => (typeof raw === 'boolean' ? raw : typeMismatch(type, place))
    case 'int':
      return (raw, place) => wholeNumber(raw, INT_MIN, INT_MAX, type, place)
    case 'uint':
      return (raw, place) => wholeNumber(raw, 0n, UINT_MAX, type, place)
    case 'number':
      return (raw, place) => {
        const value = wholeNumber(raw, INT_MIN, UINT_MAX, type, place)
        return value instanceof Fault ? value : new NumberText(value)
      }
    case 'string':
      return textLoaders[type.letters]
    case 'timestamp':
      return (raw, place) => (typeof raw === 'bigint' ? new Instant(raw) : typeMismatch(type, place))
    case 'list': {
      const load = loaderOf(type.element)
      return (raw, place) => (Array.isArray(raw) ? new ListValue(raw, load) : typeMismatch(type, place))
    }
    case 'map': {
      const load = loaderOf(type.value)
      return (raw, place) => (isPlainObject(raw) ? new MapValue(raw, load) : typeMismatch(type, place))
    }
    case 'struct':
    case 'record':
      return (raw, place) => (isPlainObject(raw) ? new StructValue(raw) : typeMismatch(type, place))
    case 'dynamic':
      return (raw, place) => decoded(raw, type.origin, place)
    case 'any':
      return asIs
    default:
      return type satisfies never
  }
}

/** The loader of what is a value already, such as the elements of a list literal. */
export const asIs: Loader = (raw) => raw as Result

const ASCII = /^[\0-\x7f]*$/

/** Lower case in ASCII alone, so that no other letters become equal. The length stays as it is. */
export function foldHex(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  let folded = ''
  for (let start = 0; start < text.length; start += PIECE) {
    const codes = new Uint16Array(Math.min(PIECE, text.length - start))
    for (let at = 0; at < codes.length; at++) {
      const code = text.charCodeAt(start + at)
      codes[at] = code >= 0x41 && code <= 0x5a ? code + 0x20 : code
    }
    folded += String.fromCharCode.apply(undefined, codes as unknown as number[])
  }
  return folded
}

/** Characters that are made into a text at once: as arguments of a call they stand on the stack. */
const PIECE = 4_096

/** A policy may name an activity in either spelling of `spark`; protocol knows them. */
export function foldActivityName(name: string): string {
  return respellText(name, 'spark')
}

const textLoaders: Readonly<Record<Letters, Loader>> = {
  exact: (raw, place) => (typeof raw === 'string' ? raw : notText(place)),
  hex: (raw, place) => (typeof raw === 'string' ? new FoldedText(raw, foldHex) : notText(place)),
  address: (raw, place) =>
    typeof raw !== 'string' ? notText(place) : raw.startsWith('0x') ? new FoldedText(raw, foldHex) : raw,
  activity: (raw, place) =>
    typeof raw !== 'string' ? notText(place) : raw.includes('SPARK') ? new FoldedText(raw, foldActivityName) : raw,
}

/**
 * A value without declared type (U-dynamic). From an ABI or an IDL, `{uint}`, `{int}`, `{text}`, `{tuple}`, `{map}` and
 * `{float}` say what a plain value cannot; other objects are maps for an IDL. The caller who asks for the signature writes
 * a typed-data message, so nothing in it is read as such a mark.
 */
function decoded(raw: unknown, origin: Origin, place: ReadPlace): Result {
  const load: Loader = (inner, at) => decoded(inner, origin, at)
  if (typeof raw === 'boolean') return raw
  if (typeof raw === 'string') return decodedText(raw, origin)
  if (typeof raw === 'bigint' || typeof raw === 'number') {
    if (typeof raw === 'number' && !Number.isInteger(raw)) return new Opaque('fraction')
    const value = wholeNumber(raw, INT_MIN, UINT_MAX, { kind: 'number' }, place)
    return value instanceof Fault || origin !== 'eip-712' ? value : new NumberText(value)
  }
  if (Array.isArray(raw)) return new ListValue(raw, load)
  if (!isPlainObject(raw)) return new Opaque('unknown value')
  if (origin === 'eip-712') return new MapValue(raw, load)
  const mark = onlyMember(raw)
  const inner = mark === undefined ? undefined : raw[mark]
  if (mark !== undefined) {
    if (mark === 'uint') return wholeNumber(inner, 0n, UINT_MAX, { kind: 'uint' }, place)
    if (mark === 'int') return wholeNumber(inner, INT_MIN, INT_MAX, { kind: 'int' }, place)
    if (mark === 'float') return new Opaque('fraction')
    if (mark === 'text' && typeof inner === 'string') return inner
    if (mark === 'tuple' && Array.isArray(inner)) return new ListValue(inner, load)
    if (mark === 'map' && isPlainObject(inner)) return new MapValue(inner, load)
  }
  return origin === 'idl' ? new MapValue(raw, load) : new Opaque('unknown value')
}

/** The name of an object's only member; undefined where there are none or several, however many they are. */
function onlyMember(raw: object): string | undefined {
  let only: string | undefined
  for (const name in raw) {
    if (only !== undefined) return undefined
    only = name
  }
  return only
}

const HEX = /^0x[0-9a-f]*$/i
const CANONICAL_DECIMAL = /^(?:0|-?[1-9][0-9]{0,77})$/

/** Hex by its shape (U-hexcase); a message's integers may arrive as decimal text (U-712-num). */
function decodedText(text: string, origin: Origin): Result {
  if (origin === 'idl') return text
  if (HEX.test(text)) return new FoldedText(text, foldHex)
  if (origin !== 'eip-712' || !CANONICAL_DECIMAL.test(text)) return text
  const value = BigInt(text)
  return value < INT_MIN || value > UINT_MAX ? text : new NumberText(value)
}

/** A bigint, a safe number or a decimal text; a value that does not fit is an error, never truncated (U-overflow). */
export function wholeNumber(raw: unknown, least: bigint, most: bigint, type: Type, place: ReadPlace): bigint | Fault {
  let value: bigint
  if (typeof raw === 'bigint') value = raw
  else if (typeof raw === 'number' && Number.isSafeInteger(raw)) value = BigInt(raw)
  else if (typeof raw === 'string' && /^-?[0-9]{1,100}$/.test(raw)) value = BigInt(raw)
  else return typeMismatch(type, place)
  if (value >= least && value <= most) return value
  return new Fault('NumberOutOfRange', `${quoted(place)} does not fit ${showType(type)}`, place)
}

/** Whether the context holds members by name here. */
export function isPlainObject(raw: unknown): raw is Readonly<Record<string, unknown>> {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw)
}

/** The fault of a context that holds a value of another type than the declared one. */
export function typeMismatch(type: Type, place: ReadPlace): Fault {
  return new Fault('TypeMismatch', `${quoted(place)} does not hold a value of type ${showType(type)}`, place)
}

function notText(place: ReadPlace): Fault {
  return new Fault('TypeMismatch', `${quoted(place)} does not hold a value of type string`, place)
}
