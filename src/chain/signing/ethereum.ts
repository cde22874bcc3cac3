/**
 * Unsigned Ethereum transactions → signed ones, and fields → unsigned ones
 * (docs/protocol/signing.md#ethereum-transactions).
 */
import { keccak256, type SignatureHalves } from '../../crypto/index.ts'
import { type Bytes, concatBytes, decodeHex } from '../../encoding/index.ts'
import { typed } from '../transactions/ethereum-envelopes.ts'
import { decodeRlp, type RlpItem, rlpInteger, rlpList } from '../transactions/rlp.ts'
import { encodeRlp, rlpNumber } from './rlp-encoding.ts'

/** The fields of a transaction by the names that policies have for them; lists as RLP items. */
export type EthereumFields = Readonly<Record<string, bigint | string | RlpItem | undefined>>

/**
 * Encodes a transaction of type 1 to 4 that is to be signed. Numbers are bigints, `to` and `data` hex with `0x`; a list
 * that is left out is empty, and so is `to` for a contract's creation.
 */
export function encodeEthereum(type: 1 | 2 | 3 | 4, fields: EthereumFields): Bytes {
  const items = typed[type]!.items.map((name) => {
    const value = fields[name]
    if (value === undefined) return /list|hashes/.test(name) ? [] : new Uint8Array()
    if (typeof value === 'bigint') return rlpNumber(value)
    return typeof value === 'string' ? decodeHex(value) : value
  })
  return concatBytes(Uint8Array.of(type), encodeRlp(items))
}

/** Computes what is signed of an unsigned transaction of any kind: the hash of all of its bytes. */
export function ethereumDigest(unsigned: Uint8Array): Bytes {
  return keccak256(unsigned)
}

/**
 * Puts a signature behind an unsigned transaction that `readEthereum` has read. Legacy ones have `v` = 27 + parity, or
 * 35 + 2 · chainId + parity where they name a chain (EIP-155); the others the parity itself.
 */
export function encodeSignedEthereum(unsigned: Uint8Array, signature: SignatureHalves): Bytes {
  const { yParity: parity, ...numbers } = inNumbers(signature)
  const halves = [rlpNumber(numbers.r), rlpNumber(numbers.s)]
  if (unsigned[0]! < 0xc0) {
    const list = rlpList(decodeRlp(unsigned.subarray(1)), 'transaction')
    return concatBytes(unsigned.subarray(0, 1), encodeRlp([...list, rlpNumber(parity), ...halves]))
  }
  const list = rlpList(decodeRlp(unsigned), 'transaction')
  const chainId = list.length > 6 ? rlpInteger(list[6], 32, 'chain_id') : undefined
  const v = chainId === undefined ? 27n + parity : 35n + 2n * chainId + parity
  return encodeRlp([...list.slice(0, 6), rlpNumber(v), ...halves])
}

/** Takes the signature off a transaction of type 2 to 4, and gives it other fees: what is to be signed instead. */
export function withFees(
  signed: Uint8Array,
  fees: { readonly maxPriorityFeePerGas: bigint; readonly maxFeePerGas: bigint },
): Bytes {
  const { items } = typed[signed[0]!]!
  const list = [...rlpList(decodeRlp(signed.subarray(1)), 'transaction')].slice(0, items.length)
  list[items.indexOf('max_priority_fee_per_gas')] = rlpNumber(fees.maxPriorityFeePerGas)
  list[items.indexOf('max_fee_per_gas')] = rlpNumber(fees.maxFeePerGas)
  return concatBytes(signed.subarray(0, 1), encodeRlp(list))
}

/** A signature as 65 bytes, `r ‖ s ‖ v` with v = 27 or 28. */
export function inOnePiece({ r, s, recovery }: SignatureHalves): Bytes {
  return concatBytes(r, s, Uint8Array.of(27 + recovery))
}

/** A signature as numbers, as transactions and their authorizations have it. */
export function inNumbers({ r, s, recovery }: SignatureHalves) {
  return { yParity: BigInt(recovery), r: toNumber(r), s: toNumber(s) }
}

function toNumber(bytes: Uint8Array): bigint {
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
}
