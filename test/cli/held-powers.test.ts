import { expect, test } from 'vitest'
import type { HeldPower } from '../../src/analysis/index.ts'
import { heldPowerTexts } from '../../src/cli/views/held-powers.ts'

const ways: HeldPower['ways'] = [{ sets: [], any: { count: 2, of: ['ann', 'bob', 'cy'] } }]
const held = (power: HeldPower['power'], over: readonly string[], more: Partial<HeldPower> = {}): HeldPower => ({
  ...{ power, over, activities: [], alone: false, ways },
  ...more,
})

test('held powers: what one may do alone is first, in both units; then a line for each set of people, with all of its powers', () => {
  const limit = 'eth.tx.value <= 100000000000000000'
  const texts = heldPowerTexts([
    held('sign', ['wallet.ops', 'wallet.main']),
    held('send', ['wallet.ops', 'wallet.main']),
    held('send', ['wallet.ops']),
    held('export', ['wallet.main', 'wallet.ops']),
    held('send', ['wallet.ops'], { alone: true, condition: limit }),
    held('import', []),
    held('policies', []),
    held('quorum', []),
  ])
  expect(texts).toEqual([
    `alone: send wallet.ops, under condition \`${limit}\` (0.1 ETH)`,
    'with others (any 2 of ann, bob, cy): sign, send and export wallet.main and wallet.ops; import, change policies and change the root quorum',
  ])
})

test('held powers: more than twelve lines are counted, and who-can named', () => {
  const texts = heldPowerTexts(
    Array.from({ length: 14 }, (_, n) => held('sign', ['wallet.a'], { condition: `x == ${n}` })),
  )
  expect(texts).toHaveLength(13)
  expect(texts.at(-1)).toBe('and 2 more; `quorate who-can` has them all')
})
