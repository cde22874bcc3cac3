import { keccak256, recoverAddress } from 'viem'
import { Transaction } from 'viem/tempo'
import { describe, expect, test } from 'vitest'
import { signTransaction } from '../../../src/chain/index.ts'
import { encodeHex } from '../../../src/encoding/index.ts'
import { ethereumAddress, secp256k1Key } from './keys.ts'

const token = `0x${'55'.repeat(20)}` as const
const base = {
  type: 'tempo',
  chainId: 42_431,
  nonce: 3,
  gas: 90_000n,
  maxFeePerGas: 20n,
  maxPriorityFeePerGas: 1n,
  calls: [{ to: token, data: '0xa9059cbb' }],
} as const

describe('signing: Tempo', () => {
  test.each([
    ['plain', {}],
    ['with two calls and a token that pays', { calls: [...base.calls, { to: token, value: 1n }], feeToken: token }],
    ['with a time and a key of nonces', { validBefore: 9, validAfter: 5, nonceKey: 7n }],
  ])('signing: a transaction, %s, is signed to the bytes of the chain’s own writer', async (_name, more) => {
    const unsigned = await Transaction.serialize({ ...base, ...more })
    const signed = `0x${encodeHex(signTransaction('TRANSACTION_TYPE_TEMPO', unsigned, secp256k1Key))}` as const
    const read = Transaction.deserialize(signed as never) as unknown as {
      signature: { signature: { r: bigint; s: bigint; yParity: number } }
    }
    const { r, s, yParity } = read.signature.signature
    const signature = { r: toHex(r), s: toHex(s), yParity }
    expect(await recoverAddress({ hash: keccak256(unsigned), signature })).toBe(ethereumAddress)
    const written = await Transaction.serialize({ ...base, ...more }, read.signature as never)
    expect(signed).toBe(written)
  })
})

const toHex = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}` as const
