import { sha256 } from 'viem'
import { recoverAddress } from 'viem/utils'
import { describe, expect, test } from 'vitest'
import { signTransaction } from '../../../src/chain/index.ts'
import { encodeHex } from '../../../src/encoding/index.ts'
import { readVectors } from '../../vectors/read-vectors.ts'
import { ethereumAddress, secp256k1Key } from './keys.ts'

const vectors = readVectors<{ readonly name: string; readonly bytes: string }>('tron-transactions/raw-data.jsonl')

describe('signing: Tron', () => {
  test.each(vectors)('signing: $name: the raw data, then a signature of 65 bytes that recovers', async ({ bytes }) => {
    const signed = encodeHex(signTransaction('TRANSACTION_TYPE_TRON', bytes, secp256k1Key))
    const length = bytes.length / 2
    const varint = length < 128 ? [length] : [(length & 0x7f) | 0x80, length >> 7]
    const head = `0a${encodeHex(Uint8Array.from(varint))}${bytes}1241`
    expect(signed.slice(0, head.length)).toBe(head)
    const signature = `0x${signed.slice(head.length)}` as const
    expect(signature).toMatch(/^0x[0-9a-f]{128}1[bc]$/)
    expect(await recoverAddress({ hash: sha256(`0x${bytes}`), signature })).toBe(ethereumAddress)
  })
})
