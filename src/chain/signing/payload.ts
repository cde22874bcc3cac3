/** Raw payloads → the bytes that are signed (docs/protocol/signing.md#raw-payloads). */
import { keccak256, sha256 } from '../../crypto/index.ts'
import { type Bytes, concatBytes, decodeHex, encodeUtf8, isHex } from '../../encoding/index.ts'
import type { Curve } from '../curves.ts'
import { ChainError } from '../error.ts'
import { readAuthorization } from '../transactions/authorization.ts'
import { type JsonRecord, parsePayload } from '../transactions/payload-json.ts'
import { refusePayload } from '../transactions/refuse.ts'
import { encodeRlp, rlpNumber } from './rlp-encoding.ts'
import { typedDataDigest } from './typed-data-digest.ts'

/** A raw payload in the wire's words. */
export interface RawPayload {
  readonly payload: string
  readonly encoding: string
  readonly hashFunction: string
}

/** EIP-7702: "keccak(MAGIC || rlp([chain_id, address, nonce]))". */
const AUTHORIZATION_MAGIC = Uint8Array.of(0x05)

/** How each encoding is read. What it makes a digest of itself is signed as it is, or hashed by Keccak in name only. */
const encodings: Readonly<Record<string, { readonly isDigest: boolean; readonly read: (payload: string) => Bytes }>> = {
  PAYLOAD_ENCODING_HEXADECIMAL: { isDigest: false, read: hexadecimal },
  PAYLOAD_ENCODING_TEXT_UTF8: { isDigest: false, read: encodeUtf8 },
  PAYLOAD_ENCODING_EIP712: { isDigest: true, read: (payload) => typedDataDigest(parsePayload(payload)) },
  PAYLOAD_ENCODING_EIP7702_AUTHORIZATION: {
    isDigest: true,
    read: (payload) => authorizationDigest(parsePayload(payload)),
  },
}

/**
 * Reads what a key of that curve signs: the message itself on Ed25519, a digest of 32 bytes elsewhere. Throws `ChainError`
 * with the API's text for a hash function that does not fit, and for a payload that cannot be read.
 */
export function payloadBytes({ payload, encoding, hashFunction }: RawPayload, curve: Curve): Bytes {
  const row = Object.hasOwn(encodings, encoding) ? encodings[encoding]! : undefined
  if (row === undefined) throw new ChainError('invalid payload encoding')
  const hashesItself = curve === 'CURVE_ED25519'
  if (hashesItself !== (hashFunction === 'HASH_FUNCTION_NOT_APPLICABLE')) throw new ChainError('invalid hash function')
  const bytes = row.read(payload)
  switch (hashFunction) {
    case 'HASH_FUNCTION_NOT_APPLICABLE':
      return bytes
    case 'HASH_FUNCTION_NO_OP':
      if (bytes.length !== 32) throw new ChainError('expected a 32-bytes-long digest')
      return bytes
    case 'HASH_FUNCTION_KECCAK256':
      return row.isDigest ? bytes : keccak256(bytes)
    case 'HASH_FUNCTION_SHA256':
      if (row.isDigest) throw new ChainError('invalid hash function')
      return sha256(bytes)
    default:
      throw new ChainError('invalid hash function')
  }
}

/** The digest of an EIP-7702 authorization. Throws `ChainError`. */
export function authorizationDigest(authorization: JsonRecord): Bytes {
  const { address, chain_id, nonce } = readAuthorization(authorization)
  const list = [rlpNumber(chain_id as bigint), decodeHex(address as string), rlpNumber(nonce as bigint)]
  return keccak256(concatBytes(AUTHORIZATION_MAGIC, encodeRlp(list)))
}

/** `0x` or not, any case, whole bytes. */
function hexadecimal(payload: string): Bytes {
  return isHex(payload) ? decodeHex(payload) : refusePayload('it is no hex of whole bytes')
}
