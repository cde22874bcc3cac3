import { expect, test } from 'vitest'
import { amountNote, amountNotes, etherText } from '../../src/plan/amounts.ts'
import { peopleTexts } from '../../src/plan/gains.ts'

test.each([
  [0n, '0 wei'],
  [999_999_999_999n, '999999999999 wei'],
  [10n ** 12n, '0.000001 ETH'],
  [10n ** 18n - 1n, '0.999999999999999999 ETH'],
  [10n ** 18n, '1 ETH'],
  [123n * 10n ** 17n, '12.3 ETH'],
])('amounts: %d wei is %s', (wei, said) => {
  expect(etherText(wei)).toBe(said)
})

test('amounts: only what is compared with a value in wei is one', () => {
  expect(amountNote('eth.tx.value<=5000000000000000000')).toBe(' (5 ETH)')
  expect(amountNote('eth.tx.value > 1000000000000000000 && eth.tx.value < 2000000000000000000')).toBe(' (1 ETH, 2 ETH)')
  expect(amountNote('eth.tx.gas < 5000000000000000000 || eth.tx.value == 5')).toBe('')
})

test('amounts: are told by what an expression compares, whichever side it stands on, in ether and in SOL', () => {
  expect(amountNote('1000000000000000000 >= eth.tx.value && eth.tx.value in [2000000000000000000, 7]')).toBe(
    ' (1 ETH, 2 ETH)',
  )
  expect(amountNote("solana.tx.transfers.all(t, t.amount < 2500000000 && t.to == 'x')")).toBe(' (2.5 SOL)')
  expect(amountNote('solana.tx.spl_transfers.all(t, t.amount < 2500000000)')).toBe('')
  expect(amountNote("eth.tx.data == 'eth.tx.value < 1000000000000000000'")).toBe('')
  const line = amountNotes("wallet.id == '${wallet.ops}' && (eth.tx.value <\n 3000000000000000000)")
  expect(['(eth.tx.value <', '3000000000000000000)'].map(line)).toEqual(['', ' (3 ETH)'])
})

test('gains: each person once, by what they could and can; of what is not known, nothing', () => {
  const any = (count: number, ...of: readonly string[]) => ({ sets: [], any: { count, of } })
  const under = (condition: string, ...of: readonly string[]) => ({ condition, policies: [], ways: [any(1, ...of)] })
  const [two, limit] = [{ ways: [any(2, 'ann', 'bob')] }, 'eth.tx.value <= 5000000000000000000']
  expect(peopleTexts(two, { ...two, under: [under(limit, 'tara')] })).toEqual(['tara gains: alone up to 5 ETH'])
  // What is let through up to the highest of some limits is let through up to each.
  const limits = ['eth.tx.value < 9', 'eth.tx.value <= 24', 'eth.tx.value < 24'].map((one) => under(one, 'tara'))
  expect(peopleTexts({ ways: [], under: limits.slice(1) }, { ways: [], under: limits })).toEqual([])
  expect(peopleTexts({ ways: [], under: limits.slice(0, 1) }, { ways: [], under: limits })).toEqual([
    'tara: alone below 9 wei → alone up to 24 wei',
  ])
  expect(peopleTexts(two, { ways: [any(1, 'ann', 'cy')] })).toEqual([
    'ann and cy gain: alone',
    'bob loses: with others',
  ])
  expect(peopleTexts({ ...two, under: [under(limit, 'tara')] }, two)).toEqual(['tara loses: alone up to 5 ETH'])
  expect(peopleTexts({ ways: [] }, two)).toEqual([])
  expect(peopleTexts({ ...two, unknown: 'too many' }, { ways: [any(1, 'ann')] })).toEqual([])
  expect(peopleTexts({ ways: [{ sets: [['ann']], more: 3 }] }, { ways: [{ sets: [['bob']] }] })).toEqual([])
})
