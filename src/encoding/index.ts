/**
 * Encoding: bytes in, text out, and back. Hex, base64url, base58, bech32 and canonical JSON.
 * Knows nothing of keys or protocols; decoders are strict and say what they saw.
 */

export { encodeBase32 } from './base32.ts'
export { decodeBase58, encodeBase58 } from './base58.ts'
export { decodeBase64, encodeBase64, encodeBase64Url, viewBase64 } from './base64.ts'
export { encodeBech32 } from './bech32.ts'
export { type Bytes, concatBytes, decodeUtf8, encodeUtf8, equalBytes } from './bytes.ts'
export { canonicalJson, type Json, type JsonObject } from './canonical-json.ts'
export { parseDecimal, printDecimal } from './decimal.ts'
export { EncodingError } from './error.ts'
export { decodeHex, encodeHex, isHex, viewHex } from './hex.ts'
