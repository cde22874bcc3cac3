/** Who has signed an Ethereum transaction: it is not written there, but follows from the signature (SEC 1 §4.1.6). */
import { keccak256, recoverSecp256k1 } from '../../crypto/index.ts'
import { type Bytes, concatBytes, encodeHex } from '../../encoding/index.ts'
import { addressFormatRow } from '../address-formats.ts'
import { encodeRlp, rlpNumber } from '../signing/rlp-encoding.ts'
import { isEmpty, typed } from './ethereum-envelopes.ts'
import { refuse } from './refuse.ts'
import { decodeRlp, type RlpItem, rlpBytes, rlpInteger, rlpList } from './rlp.ts'

/** Finds the address, in lower case, that has signed a transaction which `readEthereum` has read. Throws `ChainError`. */
export function ethereumSender(signed: Bytes): string {
  const { unsigned, parity, r, s } = signed[0]! >= 0xc0 ? takeLegacy(signed) : takeTyped(signed)
  const publicKey = recoverSecp256k1(keccak256(unsigned), { r: padded(r), s: padded(s), recovery: parity })
  if (publicKey === undefined) refuse('the signature is none of secp256k1')
  return addressFormatRow('ADDRESS_FORMAT_ETHEREUM').write({ curve: 'CURVE_SECP256K1', bytes: publicKey }).toLowerCase()
}

/** The hash that the chain knows a signed transaction by. */
export function ethereumHash(signed: Uint8Array): string {
  return `0x${encodeHex(keccak256(signed))}`
}

function takeTyped(signed: Bytes) {
  const list = rlpList(decodeRlp(signed.subarray(1)), 'transaction')
  if (list.length !== typed[signed[0]!]!.items.length + 3) refuse('the transaction is not signed')
  const [yParity, r, s] = list.slice(-3)
  const unsigned = concatBytes(signed.subarray(0, 1), encodeRlp(list.slice(0, -3)))
  return { unsigned, parity: Number(rlpInteger(yParity, 1, 'y parity')), r, s }
}

/** EIP-155: `v` says the chain, which is then part of what was signed. */
function takeLegacy(signed: Bytes) {
  const list = rlpList(decodeRlp(signed), 'transaction')
  const [v, r, s] = list.slice(6)
  if (isEmpty(r ?? new Uint8Array())) refuse('the transaction is not signed')
  const value = rlpInteger(v, 32, 'v')
  const chain = value < 35n ? [] : [rlpNumber((value - 35n) / 2n), new Uint8Array(), new Uint8Array()]
  return { unsigned: encodeRlp([...list.slice(0, 6), ...chain]), parity: Number((value + 1n) % 2n), r, s }
}

/** Halves stand in RLP without their leading zeros. */
function padded(item: RlpItem | undefined): Bytes {
  const bytes = rlpBytes(item, 'signature')
  return concatBytes(new Uint8Array(32 - bytes.length), bytes)
}
