import fc from 'fast-check'
import { type Hex, parseTransaction, recoverTransactionAddress, serializeTransaction } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { encodeEthereum, ethereumSender, signTransaction } from '../../../src/chain/index.ts'
import { decodeHex, encodeHex } from '../../../src/encoding/index.ts'
import { ethereumAddress, SECRET, secp256k1Key } from './keys.ts'

const sign = (unsigned: string) =>
  `0x${encodeHex(signTransaction('TRANSACTION_TYPE_ETHEREUM', unsigned, secp256k1Key))}` as const

describe('signing: Ethereum', () => {
  test('signing: the transaction of EIP-155 is signed as the standard has it', () => {
    const unsigned = '0xec098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080018080'
    expect(sign(unsigned)).toBe(
      '0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83',
    )
  })

  const hex = (size: number) =>
    fc.uint8Array({ minLength: size, maxLength: size }).map((bytes) => `0x${encodeHex(bytes)}` as Hex)
  const amount = fc.bigInt({ min: 0n, max: 2n ** 128n })
  const accessList = fc.array(fc.record({ address: hex(20), storageKeys: fc.array(hex(32), { maxLength: 2 }) }), {
    maxLength: 2,
  })
  const fields = {
    chainId: fc.integer({ min: 1, max: 2 ** 31 }),
    nonce: fc.nat(),
    gas: fc.bigInt({ min: 21_000n, max: 2n ** 40n }),
    to: hex(20),
    value: amount,
    data: fc.nat(80).chain(hex),
  }
  const fees = { maxFeePerGas: fc.constant(2n ** 60n), maxPriorityFeePerGas: fc.bigInt({ min: 0n, max: 2n ** 60n }) }
  const authorization = fc.record({
    chainId: fc.nat(),
    address: hex(20),
    nonce: fc.nat(),
    yParity: fc.constantFrom(0, 1),
    r: fc.bigInt({ min: 1n, max: 2n ** 255n }).map((n) => `0x${n.toString(16)}` as Hex),
    s: fc.bigInt({ min: 1n, max: 2n ** 254n }).map((n) => `0x${n.toString(16)}` as Hex),
  })
  const { chainId: _, ...unchained } = fields
  const types = {
    'legacy, without a chain': fc.record({ type: fc.constant('legacy' as const), ...unchained, gasPrice: amount }),
    'legacy, EIP-155': fc.record({ type: fc.constant('legacy' as const), ...fields, gasPrice: amount }),
    'EIP-2930': fc.record({ type: fc.constant('eip2930' as const), ...fields, gasPrice: amount, accessList }),
    'EIP-1559': fc.record({ type: fc.constant('eip1559' as const), ...fields, ...fees, accessList }),
    'EIP-4844': fc.record({
      type: fc.constant('eip4844' as const),
      ...fields,
      ...fees,
      accessList,
      maxFeePerBlobGas: amount.filter((value) => value > 0n),
      blobVersionedHashes: fc.array(
        hex(31).map((hash) => `0x01${hash.slice(2)}` as Hex),
        { minLength: 1, maxLength: 3 },
      ),
    }),
    'EIP-7702': fc.record({
      type: fc.constant('eip7702' as const),
      ...fields,
      ...fees,
      accessList,
      authorizationList: fc.array(authorization, { minLength: 1, maxLength: 2 }),
    }),
  }

  test.each(Object.entries(types))(
    'signing: viem signs every transaction of %s to the same bytes',
    async (_name, made) => {
      await fc.assert(
        fc.asyncProperty(made as fc.Arbitrary<Parameters<typeof serializeTransaction>[0]>, async (transaction) => {
          const signed = sign(serializeTransaction(transaction))
          expect(signed).toBe(await privateKeyToAccount(`0x${SECRET}`).signTransaction(transaction as never))
          expect(await recoverTransactionAddress({ serializedTransaction: signed as never })).toBe(ethereumAddress)
          expect(ethereumSender(decodeHex(signed))).toBe(ethereumAddress.toLowerCase())
        }),
        { numRuns: 30 },
      )
    },
  )

  test('signing: what is encoded from fields is what viem encodes', () => {
    const common = { chainId: 1, nonce: 0, gas: 21_000n, value: 0n, maxFeePerGas: 5n, maxPriorityFeePerGas: 0n }
    const encoded = encodeEthereum(2, {
      chain_id: 1n,
      nonce: 0n,
      gas: 21_000n,
      value: 0n,
      max_fee_per_gas: 5n,
      max_priority_fee_per_gas: 0n,
      data: '0x1234',
    })
    expect(`0x${encodeHex(encoded)}`).toBe(serializeTransaction({ type: 'eip1559', ...common, data: '0x1234' }))
    expect(parseTransaction(`0x${encodeHex(encoded)}`)).toMatchObject({ gas: 21_000n, data: '0x1234' })
  })
})
