/** RLP (Ethereum yellow paper, appendix B), written in its one form; `rlp.ts` of the transactions reads it. */
import { type Bytes, concatBytes, decodeHex } from '../../encoding/index.ts'
import type { RlpItem } from '../transactions/rlp.ts'

/** Encodes bytes or a list, however deep. */
export function encodeRlp(item: RlpItem): Bytes {
  if (item instanceof Uint8Array) {
    return item.length === 1 && item[0]! < 0x80 ? new Uint8Array(item) : concatBytes(header(0x80, item.length), item)
  }
  const body = concatBytes(...item.map(encodeRlp))
  return concatBytes(header(0xc0, body.length), body)
}

/** A whole number of 0 and above as an item: big-endian without leading zeros, nothing for 0. */
export function rlpNumber(value: bigint): Bytes {
  const digits = value === 0n ? '' : value.toString(16)
  return decodeHex(digits.length % 2 === 0 ? digits : `0${digits}`)
}

/** One byte up to 55; above, the length of the length and then the length. */
function header(first: number, length: number): Bytes {
  if (length <= 55) return Uint8Array.of(first + length)
  const size = rlpNumber(BigInt(length))
  return concatBytes(Uint8Array.of(first + 55 + size.length), size)
}
