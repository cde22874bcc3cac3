/**
 * The hash of a structure under a tag, unambiguous since every part carries its length
 * (docs/protocol/spark.md#building-blocks): th = SHA-256(tag list), result = SHA-256(th ‖ th ‖ values).
 */
import { sha256 } from '../crypto/index.ts'
import { concatBytes, encodeUtf8 } from '../encoding/index.ts'

/** Hashes values, each serialized by its own verb below, under a tag of several words. */
export function structureHash(tag: readonly string[], values: readonly Uint8Array[]): Uint8Array {
  const tagHash = sha256(concatBytes(...tag.map((word) => bytesValue(encodeUtf8(word)))))
  return sha256(concatBytes(tagHash, tagHash, ...values))
}

export function bytesValue(bytes: Uint8Array): Uint8Array {
  return concatBytes(u64(bytes.length), bytes)
}

/** A map as its size, and keys and values by the order of the keys' bytes. */
export function mapValue(entries: Iterable<readonly [string, Uint8Array]>): Uint8Array {
  const sorted = [...entries]
    .map(([key, value]) => ({ key: encodeUtf8(key), value }))
    .sort((a, b) => Buffer.compare(a.key, b.key))
  return concatBytes(
    bytesValue(u64(sorted.length)),
    ...sorted.flatMap(({ key, value }) => [bytesValue(key), bytesValue(value)]),
  )
}

function u64(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value))
  return bytes
}
