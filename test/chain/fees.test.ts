import { describe, expect, test } from 'vitest'
import {
  encodeSolanaPayment,
  feeCeilingOf,
  mostOfUnitPrice,
  mostOfUsual,
  readSolanaPayment,
  solanaFee,
  solanaPaymentFee,
  solanaSendBytes,
  unitPriceWithin,
  usualUnitPriceOf,
  withSolanaFee,
} from '../../src/chain/index.ts'
import { encodeHex } from '../../src/encoding/index.ts'

const GWEI = 1_000_000_000n

describe('fee ceiling: for a unit of gas', () => {
  const usual = { baseFee: 10n * GWEI, tip: 3n * GWEI }
  test.each([
    { times: 4, cap: 500n, wei: 92n },
    { times: 1, cap: 500n, wei: 23n },
    { times: 4, cap: 50n, wei: 50n },
    { times: 999, cap: 500n, wei: 500n },
  ])('$times times what is usual, beneath $cap gwei, is $wei', ({ times, cap, wei }) => {
    expect(feeCeilingOf(usual, { cap: cap * GWEI, times })).toBe(wei * GWEI)
  })
  test('without anything usual it is the cap, and a tip counts as 2 gwei at least', () => {
    expect(feeCeilingOf(undefined, { cap: 7n, times: 4 })).toBe(7n)
    expect(mostOfUsual({ baseFee: 1n, tip: 0n }, 3)).toEqual({ baseFee: 3n, tip: 6n * GWEI })
  })
})

describe('fee ceiling: on Solana', () => {
  const from = '4R6HxGMeWUCUp8SHet6bwL22pS3UdiY5ECuCUxNRRE1S'
  const to = 'FMUEmtxhU46GzhKF4FW9MLJdQWiLgjiXP9TYRWSrqTpV'
  const plain = encodeHex(encodeSolanaPayment({ from, to, amount: 1n }))

  test('what is usual is the median, which one slot cannot move', () => {
    expect(usualUnitPriceOf([])).toBeUndefined()
    expect(usualUnitPriceOf([0, 0, 9_000_000])).toBe(0n)
    expect(usualUnitPriceOf([3, 1, 2])).toBe(2n)
    expect([mostOfUnitPrice(0n, 4), mostOfUnitPrice(50_000n, 4)]).toEqual([40_000n, 200_000n])
  })

  test.each([5_000n, 5_001n, 20_000n, 123_456n])('a payment for %d lamports costs no more, whole', (fee) => {
    const priced = withSolanaFee(plain, fee)
    const bytes = solanaSendBytes({ unsignedTransaction: priced })
    expect(solanaFee(bytes)).toBeLessThanOrEqual(fee)
    expect(solanaFee(bytes)).toBeGreaterThan(fee - 2n)
    expect(readSolanaPayment(bytes)).toEqual({ from, to, amount: 1n })
    expect(withSolanaFee(priced, undefined)).toBe(plain)
    expect(withSolanaFee(priced, 6_000n)).toBe(withSolanaFee(plain, 6_000n))
  })

  test('price × limit, rounded up, and the signature', () => {
    expect(solanaPaymentFee(plain, 0n)).toBe(5_000n)
    expect(solanaPaymentFee(plain, 1n)).toBe(5_001n)
    expect(solanaPaymentFee(plain, 1_000_000n)).toBe(5_450n)
    expect([unitPriceWithin(96n, 480), unitPriceWithin(0n, 480), unitPriceWithin(-1n, 480)]).toEqual([200_000n, 0n, 0n])
  })
})
