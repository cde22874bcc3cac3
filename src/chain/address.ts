import { p256 } from '@noble/curves/nist.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { blake2b } from '@noble/hashes/blake2.js'
import { sha3_256 } from '@noble/hashes/sha3.js'
import { NETWORK, p2pk, p2pkh, p2sh, p2tr, p2wpkh, p2wsh, TEST_NETWORK } from '@scure/btc-signer'
import { decodeBase58Check, keccak256 } from '../crypto/index.ts'
import { concatBytes, encodeBase32, encodeBase58, encodeBech32, encodeHex } from '../encoding/index.ts'
import { crc16, encodeVersioned, hash160 } from './checksum.ts'
import type { Curve } from './curves.ts'

/** A public key: compressed for the ECDSA curves, 32 bytes for Ed25519. */
export interface PublicKey {
  readonly curve: Curve
  readonly bytes: Uint8Array
}

/** Writes a public key as an address (docs/protocol/keys.md#address-formats). */
export type AddressWriter = (key: PublicKey) => string

export const compressed: AddressWriter = ({ bytes }) => encodeHex(bytes)

/** 65 bytes `04 ‖ x ‖ y`; an Ed25519 key has no such form and stays as it is. */
export const uncompressed: AddressWriter = (key) => encodeHex(uncompressedBytes(key))

export const ethereum: AddressWriter = (key) => `0x${checksummed(encodeHex(ethereumBytes(key)))}`

export const tron: AddressWriter = (key) => encodeVersioned(0x41, ethereumBytes(key))

export const solana: AddressWriter = ({ bytes }) => encodeBase58(bytes)

/** Cosmos and the chains made from it differ in the prefix. */
export const cosmos =
  (prefix: string): AddressWriter =>
  ({ bytes }) =>
    encodeBech32(prefix, hash160(bytes))

export const doge =
  (version: number): AddressWriter =>
  ({ bytes }) =>
    encodeVersioned(version, hash160(bytes))

export const xrp: AddressWriter = ({ bytes }) => encodeVersioned(0, hash160(bytes), 'ripple')

/** BLAKE2b-256 of the signature scheme's flag, 0 for Ed25519, and the key. */
export const sui: AddressWriter = ({ bytes }) =>
  `0x${encodeHex(blake2b(concatBytes(Uint8Array.of(0), bytes), { dkLen: 32 }))}`

/** SHA3-256 of the key and the authentication scheme, 0 for a single Ed25519 key. */
export const aptos: AddressWriter = ({ bytes }) => `0x${encodeHex(sha3_256(concatBytes(bytes, Uint8Array.of(0))))}`

/** StrKey of an account (SEP-23): version 6 << 3, the key, CRC-16 little-endian. */
export const stellar: AddressWriter = ({ bytes }) => {
  const body = concatBytes(Uint8Array.of(6 << 3), bytes)
  const crc = crc16(body)
  return encodeBase32(concatBytes(body, Uint8Array.of(crc & 0xff, crc >> 8)))
}

/** The protobuf message `{1: bytes identity_public_key}`: field 1 of wire type 2 is `0a`, then the length. */
export const spark =
  (prefix: string): AddressWriter =>
  ({ bytes }) =>
    encodeBech32(prefix, concatBytes(Uint8Array.of(0x0a, bytes.length), bytes), 'bech32m')

/** Getters, so that what writes no address of Bitcoin does not load what knows them. */
export const BITCOIN_NETWORKS = {
  get mainnet() {
    return NETWORK
  },
  get testnet() {
    return TEST_NETWORK
  },
  get regtest() {
    return { ...TEST_NETWORK, bech32: 'bcrt' }
  },
}
export type BitcoinNetwork = keyof typeof BITCOIN_NETWORKS

/**
 * The scripts behind each kind of Bitcoin address. Those of P2SH and P2WSH are our choice, the sources are silent:
 * P2SH-P2WPKH as in BIP-49, and `<compressed key> OP_CHECKSIG`. P2TR is the key path alone (BIP-86).
 */
const BITCOIN_SCRIPTS = {
  p2pkh: (bytes, network) => p2pkh(bytes, network).address,
  p2sh: (bytes, network) => p2sh(p2wpkh(bytes, network), network).address,
  p2wpkh: (bytes, network) => p2wpkh(bytes, network).address,
  p2wsh: (bytes, network) => p2wsh(p2pk(bytes, network), network).address,
  p2tr: (bytes, network) => p2tr(bytes.subarray(1), undefined, network).address,
} as const satisfies Record<string, (bytes: Uint8Array, network: typeof NETWORK) => string | undefined>
type BitcoinScript = keyof typeof BITCOIN_SCRIPTS

export const bitcoin =
  (network: BitcoinNetwork, script: BitcoinScript): AddressWriter =>
  ({ bytes }) =>
    BITCOIN_SCRIPTS[script](bytes, BITCOIN_NETWORKS[network])!

/** The last 20 bytes of Keccak-256 of the public key without its `04`. */
function ethereumBytes(key: PublicKey): Uint8Array {
  return keccak256(uncompressedBytes(key).subarray(1)).subarray(-20)
}

/** ERC-55, of 40 lower-case digits without `0x`: a letter is upper case where the hash of the lower-case address has a digit of 8 and above. */
export function checksummed(address: string): string {
  const hash = encodeHex(keccak256(address))
  return [...address].map((digit, i) => (hash[i]! >= '8' ? digit.toUpperCase() : digit)).join('')
}

/** Whether a text is an Ethereum address, in whatever case: `0x` and 40 hex digits. */
export function isEthereumAddress(text: string): boolean {
  return /^0x[0-9a-fA-F]{40}$/.test(text)
}

/**
 * The checksummed spelling of an Ethereum address that is in mixed case and spelled otherwise: a digit of it may be mistyped
 * (ERC-55). Undefined where nothing is wrong, and for what is no such address.
 */
export function misspelledAs(address: string): string | undefined {
  if (!isEthereumAddress(address)) return undefined
  const expected = `0x${checksummed(address.slice(2).toLowerCase())}`
  const oneCase = address.toLowerCase() === address || `0x${address.slice(2).toUpperCase()}` === address
  return oneCase || address === expected ? undefined : expected
}

/** Whether a text is an address on Tron: base58check of `0x41` and 20 bytes. */
export function isTronAddress(text: string): boolean {
  try {
    const bytes = decodeBase58Check(text)
    return bytes.length === 21 && bytes[0] === 0x41
  } catch {
    return false
  }
}

function uncompressedBytes({ curve, bytes }: PublicKey): Uint8Array {
  switch (curve) {
    case 'CURVE_SECP256K1':
      return secp256k1.Point.fromBytes(bytes).toBytes(false)
    case 'CURVE_P256':
      return p256.Point.fromBytes(bytes).toBytes(false)
    case 'CURVE_ED25519':
      return bytes
    default:
      return curve satisfies never
  }
}
