/** EIP-712: what is signed of typed data is `keccak256(0x1901 ‖ hashStruct(domain) ‖ hashStruct(message))`. */
import { keccak256 } from '../../crypto/index.ts'
import { type Bytes, concatBytes, decodeHex, encodeUtf8 } from '../../encoding/index.ts'
import type { JsonRecord } from '../transactions/payload-json.ts'
import { type Facts, refusePayload } from '../transactions/refuse.ts'
import { DOMAIN, elementOf, isElementary, parseTypedData, type Types } from '../transactions/typed-data.ts'

const PREFIX = Uint8Array.of(0x19, 0x01)

/** Computes the digest of typed data from the very values that policies read. Throws `ChainError`. */
export function typedDataDigest(data: JsonRecord): Bytes {
  const { types, primaryType, domain, message } = parseTypedData(data)
  const schema = { types, typeHash: createTypeHashes(types) }
  return keccak256(concatBytes(PREFIX, hashStruct(schema, DOMAIN, domain), hashStruct(schema, primaryType, message)))
}

interface Schema {
  readonly types: Types
  readonly typeHash: (struct: string) => Bytes
}

/** Most characters of the encoded types: types that refer to each other grow much larger than in the request. */
const MAX_TYPES_LENGTH = 1_000_000

/** Hashes each type once, however many values there are of it. */
function createTypeHashes(types: Types): (struct: string) => Bytes {
  const hashes = new Map<string, Bytes>()
  let length = 0
  return (struct) => {
    const known = hashes.get(struct)
    if (known !== undefined) return known
    const text = encodeType(types, struct)
    length += text.length
    if (length > MAX_TYPES_LENGTH) refusePayload(`its types are longer than ${MAX_TYPES_LENGTH} characters written out`)
    const hash = keccak256(text)
    hashes.set(struct, hash)
    return hash
  }
}

/** "hashStruct(s : 𝕊) = keccak256(typeHash ‖ encodeData(s)) where typeHash = keccak256(encodeType(typeOf(s)))" */
function hashStruct(schema: Schema, name: string, value: Facts): Bytes {
  const members = schema.types.get(name)!.map((field) => encodeValue(schema, field.type, value[field.name]))
  return keccak256(concatBytes(schema.typeHash(name), ...members))
}

/** The struct, then those it is made of, sorted by name: `Mail(Person from,Person to)Person(address wallet)`. */
function encodeType(types: Types, name: string): string {
  const used = new Set([name])
  // A set that grows while it is walked is walked to its end.
  for (const struct of used) {
    for (const { type } of types.get(struct)!) if (!isElementary(elementOf(type))) used.add(elementOf(type))
  }
  used.delete(name)
  const written = (struct: string) =>
    `${struct}(${types
      .get(struct)!
      .map((field) => `${field.type} ${field.name}`)
      .join(',')})`
  return [name, ...[...used].sort()].map(written).join('')
}

/** 32 bytes of any value: hashes of what may be longer, everything else padded. */
function encodeValue(schema: Schema, type: string, value: unknown): Bytes {
  const array = /^(.+)\[\d*\]$/.exec(type)
  if (array !== null) {
    const items = value as readonly unknown[]
    return keccak256(concatBytes(...items.map((item) => encodeValue(schema, array[1]!, item))))
  }
  if (!isElementary(type)) return hashStruct(schema, type, value as Facts)
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
