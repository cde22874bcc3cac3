/**
 * RLP (Ethereum yellow paper, appendix B), read strictly: a value has one encoding, and whatever has another is refused.
 * General decoders let some of it pass (bytes behind the end, a list where bytes belong), and then a policy would judge
 * what no node executes.
 */
import { encodeHex } from '../../encoding/index.ts'
import { refuse } from './refuse.ts'

export type RlpItem = Uint8Array | readonly RlpItem[]

/** Transactions nest five levels at most: list, authorizations, one of them, its signature, a part of that. */
const MAX_DEPTH = 16

/** Decodes one item, which must be all there is. */
export function decodeRlp(bytes: Uint8Array): RlpItem {
  const [item, end] = itemAt(bytes, 0, bytes.length, 0)
  if (end !== bytes.length) refuse(`${bytes.length - end} bytes are left behind the RLP`)
  return item
}

/**
 * By its first byte: below 0x80 it is the value itself; 0x80–0xb7 bytes, 0xc0–0xf7 a list, of up to 55 bytes;
 * 0xb8–0xbf and 0xf8–0xff the same with the length in the 1–8 bytes that follow.
 */
function itemAt(bytes: Uint8Array, at: number, end: number, depth: number): readonly [RlpItem, number] {
  if (at >= end) refuse('the RLP ends early')
  const prefix = bytes[at]!
  if (prefix < 0x80) return [bytes.subarray(at, at + 1), at + 1]
  const isList = prefix >= 0xc0
  const short = prefix - (isList ? 0xc0 : 0x80)
  const lengthSize = short > 55 ? short - 55 : 0
  const start = at + 1 + lengthSize
  const length = lengthSize === 0 ? short : longLength(bytes, at + 1, Math.min(start, end), lengthSize)
  const stop = start + length
  if (stop > end) refuse('the RLP ends early')
  if (!isList) {
    const value = bytes.subarray(start, stop)
    if (length === 1 && value[0]! < 0x80) refuse('the RLP has a small byte with a length before it')
    return [value, stop]
  }
  if (depth === MAX_DEPTH) refuse(`the RLP nests deeper than ${MAX_DEPTH} levels`)
  const items: RlpItem[] = []
  let next = start
  while (next < stop) {
    const [item, after] = itemAt(bytes, next, stop, depth + 1)
    items.push(item)
    next = after
  }
  return [items, stop]
}

function longLength(bytes: Uint8Array, at: number, end: number, size: number): number {
  if (end - at < size) refuse('the RLP ends early')
  if (bytes[at] === 0) refuse('the RLP has a length with leading zeros')
  let length = 0
  for (let i = at; i < end; i++) length = length * 256 + bytes[i]!
  if (length < 56) refuse('the RLP has a short value with a long length')
  return length
}

export function rlpBytes(item: RlpItem | undefined, what: string): Uint8Array {
  if (!(item instanceof Uint8Array)) refuse(`expected \`${what}\` to be bytes`)
  return item
}

export function rlpList(item: RlpItem | undefined, what: string): readonly RlpItem[] {
  if (item === undefined || item instanceof Uint8Array) refuse(`expected \`${what}\` to be a list`)
  return item
}

/** A list of exactly that many items. */
export function rlpTuple(item: RlpItem | undefined, size: number, what: string): readonly RlpItem[] {
  const items = rlpList(item, what)
  if (items.length !== size) refuse(`expected \`${what}\` to have ${size} items, got ${items.length}`)
  return items
}

/** A whole number, big-endian without leading zeros, of at most that many bytes. */
export function rlpInteger(item: RlpItem | undefined, maxBytes: number, what: string): bigint {
  const bytes = rlpBytes(item, what)
  if (bytes.length > maxBytes) refuse(`expected \`${what}\` to have at most ${maxBytes} bytes, got ${bytes.length}`)
  if (bytes[0] === 0) refuse(`\`${what}\` has leading zeros`)
  return bytes.length === 0 ? 0n : BigInt(`0x${encodeHex(bytes)}`)
}

/** Lower-case hex with `0x`; `0x` for nothing. */
export function rlpHex(item: RlpItem | undefined, what: string): string {
  return `0x${encodeHex(rlpBytes(item, what))}`
}

/** Bytes of exactly that size. */
export function rlpFixed(item: RlpItem | undefined, size: number, what: string): string {
  const bytes = rlpBytes(item, what)
  if (bytes.length !== size) refuse(`expected \`${what}\` to have ${size} bytes, got ${bytes.length}`)
  return `0x${encodeHex(bytes)}`
}

/** An address, or `''` for nothing: a transaction that creates a contract has no receiver. */
export function rlpReceiver(item: RlpItem | undefined, what: string): string {
  return rlpBytes(item, what).length === 0 ? '' : rlpFixed(item, 20, what)
}
