/** Solana transactions written out, the other way round than `readSolanaParts` reads them. */
import { type Bytes, concatBytes, decodeBase58 } from '../../encoding/index.ts'
import type { SolanaMessage } from './solana-message.ts'

/** Writes a transaction: 64 bytes for each signer, zeros where nobody has signed, then the message. */
export function encodeSolana(signatures: readonly Uint8Array[], message: Uint8Array): Bytes {
  return concatBytes(compact(signatures.length), ...signatures, message)
}

/** Writes a message; what `readSolanaMessage` has read comes out as the same bytes. */
export function encodeSolanaMessage(message: SolanaMessage): Bytes {
  const { version, keys, signers, readonlySigners, readonlyOthers, blockhash, instructions, lookups } = message
  const header = Uint8Array.of(...(version === 0 ? [0x80] : []), signers, readonlySigners, readonlyOthers)
  const tables = lookups.map(({ key, writable, readonly }) =>
    concatBytes(decodeBase58(key), indexes(writable), indexes(readonly)),
  )
  return concatBytes(
    header,
    list(keys.map((text) => decodeBase58(text))),
    decodeBase58(blockhash),
    list(
      instructions.map(({ program, accounts, data }) =>
        concatBytes(Uint8Array.of(program), indexes(accounts), compact(data.length), data),
      ),
    ),
    ...(version === 0 ? [list(tables)] : []),
  )
}

/** Writes a whole number in that many bytes, the lowest first, as `ByteReader.unsigned` reads it. */
export function littleEndian(value: bigint, size: number): Bytes {
  return Uint8Array.from({ length: size }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn))
}

function list(items: readonly Uint8Array[]): Bytes {
  return concatBytes(compact(items.length), ...items)
}

function indexes(places: readonly number[]): Bytes {
  return concatBytes(compact(places.length), Uint8Array.from(places))
}

/** Compact-u16: seven bits a byte, the lowest first. */
function compact(length: number): Bytes {
  const bytes: number[] = []
  let left = length
  for (; left >= 0x80; left >>= 7) bytes.push((left & 0x7f) | 0x80)
  return Uint8Array.from([...bytes, left])
}
