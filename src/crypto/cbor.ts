/**
 * Reads the part of CBOR (RFC 8949) that authenticators write (CTAP2 canonical form, §8 of its specification): integers,
 * byte and text strings, arrays and maps of stated length, and the three simple values. Tags, floats and parts of
 * unstated length are refused. The published decoder costs half a second to load, which every command would pay.
 */
import { type Bytes, decodeUtf8 } from '../encoding/index.ts'
import { CryptoError } from './error.ts'

export type CborKey = number | string
export type Cbor = number | string | boolean | null | Bytes | readonly Cbor[] | ReadonlyMap<CborKey, Cbor>

/** Canonical CTAP2 nests four levels. */
const DEEPEST = 8
const SIMPLE: Readonly<Record<number, boolean | null>> = { 20: false, 21: true, 22: null }
/** How many bytes follow, by the lower five bits of the first one. */
const ARGUMENT_LENGTHS: Readonly<Record<number, 1 | 2 | 4 | 8>> = { 24: 1, 25: 2, 26: 4, 27: 8 }

/** Reads the one item that the bytes are. Throws `CryptoError`. */
export function decodeCbor(bytes: Uint8Array): Cbor {
  const { value, end } = readCbor(bytes)
  if (end !== bytes.length) throw new CryptoError(`expected CBOR of ${end} bytes, got ${bytes.length}`)
  return value
}

/** Reads the item that starts at `start`, and says where it ends. Throws `CryptoError`. */
export function readCbor(bytes: Uint8Array, start = 0): { readonly value: Cbor; readonly end: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = start

  // Without a copy: large items are mostly their many small heads.
  const skip = (length: number): number => {
    if (length > bytes.length - at) throw new CryptoError(`expected ${length} more bytes of CBOR at ${at}`)
    at += length
    return at - length
  }
  const take = (length: number): Bytes => {
    const start = skip(length)
    return new Uint8Array(bytes.slice(start, at))
  }

  const readArgument = (info: number): number => {
    if (info < 24) return info
    const length = ARGUMENT_LENGTHS[info]
    if (!length) throw new CryptoError(`unexpected CBOR of unstated length at ${at - 1}`)
    const offset = skip(length)
    if (length === 1) return view.getUint8(offset)
    if (length === 2) return view.getUint16(offset)
    if (length === 4) return view.getUint32(offset)
    const value = Number(view.getBigUint64(offset))
    if (!Number.isSafeInteger(value)) throw new CryptoError(`unexpected CBOR integer past 2^53 at ${offset}`)
    return value
  }

  const readKey = (depth: number): CborKey => {
    const key = readItem(depth)
    if (typeof key === 'number' || typeof key === 'string') return key
    throw new CryptoError(`expected a CBOR map key before ${at} to be an integer or a text`)
  }

  const readMap = (count: number, depth: number): ReadonlyMap<CborKey, Cbor> => {
    const map = new Map<CborKey, Cbor>()
    for (let i = 0; i < count; i++) {
      const key = readKey(depth)
      // Two readers that took different ones would see different keys.
      if (map.has(key)) throw new CryptoError(`unexpected second CBOR map key before ${at}`)
      map.set(key, readItem(depth))
    }
    return map
  }

  const readItem = (depth: number): Cbor => {
    if (depth > DEEPEST) throw new CryptoError(`unexpected CBOR nested deeper than ${DEEPEST}`)
    const first = view.getUint8(skip(1))
    const [major, info] = [first >> 5, first & 0x1f]
    if (major === 7 && Object.hasOwn(SIMPLE, info)) return SIMPLE[info]!
    if (major > 5) throw new CryptoError(`unexpected CBOR tag, float or simple value at ${at - 1}`)
    const argument = readArgument(info)
    if (major === 0) return argument
    if (major === 1) return -1 - argument
    if (major === 2) return take(argument)
    if (major === 3) return text(take(argument))
    // An item has a byte at least: a count that cannot be true costs nothing.
    if (argument > bytes.length - at) throw new CryptoError(`expected ${argument} more CBOR items at ${at}`)
    if (major === 4) return Array.from({ length: argument }, () => readItem(depth + 1))
    return readMap(argument, depth + 1)
  }

  const value = readItem(0)
  return { value, end: at }
}

function text(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes)
  } catch {
    throw new CryptoError('expected a CBOR text to be UTF-8')
  }
}
