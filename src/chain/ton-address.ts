/**
 * TON wallet addresses. An address is the hash of the wallet contract's initial state: a cell that refers to a code cell
 * and a data cell. Of the code only hash and depth matter, so the contracts themselves are not needed here.
 *
 * A cell's hash is SHA-256 of: two descriptor bytes (references; twice the data's bytes, less one if the last is not
 * full), its data, padded by a 1 and zeros to whole bytes, the depths of its references (2 bytes each), their hashes.
 */
import { sha256 } from '../crypto/index.ts'
import { concatBytes, decodeHex, encodeBase64Url, encodeHex } from '../encoding/index.ts'
import { crc16 } from './checksum.ts'

/** A field of a cell's data: its value and its width in bits. */
type Field = readonly [value: bigint, bits: number]

interface WalletContract {
  readonly codeHash: string
  readonly codeDepth: number
  /** The initial data of a wallet of this key. */
  readonly data: (publicKey: bigint) => readonly Field[]
}

/** "698983191 + workchain", the default wallet id of versions 3 and 4. */
const SUBWALLET = 698983191n
/** Version 5: a client context (workchain 0, version 0, subwallet 0) XOR the network's global id, mainnet's −239. */
const V5_WALLET_ID = 0x8000_0000n ^ BigInt.asUintN(32, -239n)

const SEQNO: Field = [0n, 32]
const EMPTY_DICTIONARY: Field = [0n, 1]

/** The wallet contracts (docs/protocol/keys.md#address-formats): workchain 0, default wallet id. */
const CONTRACTS = {
  v3r2: {
    codeHash: '84dafa449f98a6987789ba232358072bc0f76dc4524002a5d0918b9a75d2d599',
    codeDepth: 0,
    data: (publicKey) => [SEQNO, [SUBWALLET, 32], [publicKey, 256]],
  },
  v4r2: {
    codeHash: 'feb5ff6820e2ff0d9483e7e0d62c817d846789fb4ae580c878866d959dabd5c0',
    codeDepth: 7,
    data: (publicKey) => [SEQNO, [SUBWALLET, 32], [publicKey, 256], EMPTY_DICTIONARY],
  },
  v5r1: {
    codeHash: '20834b7b72b112147e1b2fb457b84e74d1a30f04f737d4f62a668e9552d2b72f',
    codeDepth: 6,
    data: (publicKey) => [[1n, 1], SEQNO, [V5_WALLET_ID, 32], [publicKey, 256], EMPTY_DICTIONARY],
  },
} as const satisfies Record<string, WalletContract>

/** Writes the user-friendly form: URL-safe base64, not bounceable, mainnet (`UQ…`; our choice, the sources are silent). */
export function tonAddress(version: keyof typeof CONTRACTS, publicKey: Uint8Array): string {
  const { codeHash, codeDepth, data }: WalletContract = CONTRACTS[version]
  const dataHash = cellHash(data(BigInt(`0x${encodeHex(publicKey)}`)))
  // StateInit: no split depth, not special, code, data, no library.
  const stateInit = cellHash(
    [[0b00110n, 5]],
    [
      { depth: codeDepth, hash: decodeHex(codeHash) },
      { depth: 0, hash: dataHash },
    ],
  )
  return friendlyTonAddress(stateInit)
}

/** Writes the hash of a contract of workchain 0 with its flags and checksum. @default flags 0x51: not bounceable */
export function friendlyTonAddress(hash: Uint8Array, flags = 0x51): string {
  const WORKCHAIN = 0
  const body = concatBytes(Uint8Array.of(flags, WORKCHAIN), hash)
  return encodeBase64Url(concatBytes(body, uint16(crc16(body))))
}

function cellHash(
  fields: readonly Field[],
  references: readonly { readonly depth: number; readonly hash: Uint8Array }[] = [],
): Uint8Array {
  const bits = fields.map(([value, width]) => value.toString(2).padStart(width, '0')).join('')
  const whole = bits.length % 8 === 0
  const padded = whole ? bits : `${bits}1`.padEnd(Math.ceil((bits.length + 1) / 8) * 8, '0')
  const bytes = Uint8Array.from(padded.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2))
  const descriptors = Uint8Array.of(references.length, 2 * bytes.length - (whole ? 0 : 1))
  return sha256(
    concatBytes(
      descriptors,
      bytes,
      ...references.map(({ depth }) => uint16(depth)),
      ...references.map(({ hash }) => hash),
    ),
  )
}

function uint16(value: number): Uint8Array {
  return Uint8Array.of(value >> 8, value & 0xff)
}
