/** EIP-712: what is signed of typed data is `keccak256(0x1901 ‖ hashStruct(domain) ‖ hashStruct(message))`. */
import { keccak256 } from '../../crypto/index.ts'
import { type Bytes, concatBytes, decodeHex, encodeUtf8 } from '../../encoding/index.ts'
import type { JsonRecord } from '../transactions/payload-json.ts'
import type { Facts } from '../transactions/refuse.ts'
import { DOMAIN, isElementary, parseTypedData, type Types } from '../transactions/typed-data.ts'

const PREFIX = Uint8Array.of(0x19, 0x01)

/** Computes the digest of typed data from the very values that policies read. Throws `ChainError`. */
export function typedDataDigest(data: JsonRecord): Bytes {
  const { types, primaryType, domain, message } = parseTypedData(data)
  return keccak256(concatBytes(PREFIX, hashStruct(types, DOMAIN, domain), hashStruct(types, primaryType, message)))
}

/** "hashStruct(s : 𝕊) = keccak256(typeHash ‖ encodeData(s)) where typeHash = keccak256(encodeType(typeOf(s)))" */
function hashStruct(types: Types, name: string, value: Facts): Bytes {
  const members = types.get(name)!.map((field) => encodeValue(types, field.type, value[field.name]))
  return keccak256(concatBytes(keccak256(encodeType(types, name)), ...members))
}

/** The struct, then those it is made of, sorted by name: `Mail(Person from,Person to)Person(address wallet)`. */
function encodeType(types: Types, name: string): string {
  const used = new Set<string>()
  const visit = (struct: string): void => {
    if (used.has(struct) || isElementary(struct)) return
    used.add(struct)
    for (const { type } of types.get(struct)!) visit(elementOf(type))
  }
  visit(name)
  used.delete(name)
  const written = (struct: string) =>
    `${struct}(${types
      .get(struct)!
      .map((field) => `${field.type} ${field.name}`)
      .join(',')})`
  return [name, ...[...used].sort()].map(written).join('')
}

function elementOf(type: string): string {
  return type.replace(/(?:\[\d*\])+$/, '')
}

/** 32 bytes of any value: hashes of what may be longer, everything else padded. */
function encodeValue(types: Types, type: string, value: unknown): Bytes {
  const array = /^(.+)\[\d*\]$/.exec(type)
  if (array !== null) {
    const items = value as readonly unknown[]
    return keccak256(concatBytes(...items.map((item) => encodeValue(types, array[1]!, item))))
  }
  if (!isElementary(type)) return hashStruct(types, type, value as Facts)
  if (type === 'string') return keccak256(encodeUtf8(value as string))
  if (typeof value === 'boolean') return word(value ? 1n : 0n)
  if (typeof value === 'bigint') return word(value)
  const bytes = decodeHex(value as string)
  if (type === 'bytes') return keccak256(bytes)
  const padded = new Uint8Array(32)
  padded.set(bytes, type === 'address' ? 12 : 0)
  return padded
}

/** A whole number in two's complement. */
function word(value: bigint): Bytes {
  return decodeHex(BigInt.asUintN(256, value).toString(16).padStart(64, '0'))
}
