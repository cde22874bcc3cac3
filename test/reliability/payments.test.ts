import { expect, test } from 'vitest'
import { line } from './figures.ts'
import { payUnderFaults } from './payments.ts'

/** Anything of a run but what the kinds of chance are; a seed that has failed stays here. */
const right = { unpaid: 0, twice: 0, wrong: 0, mistold: 0, dear: 0 }

// With seed 1 a first count that was false left a gap before a nonce.
test.each([20_261_123, 1])(
  'payments: to a node that fails in every way, each is paid once and told as it is (seed %d)',
  async (seed) => {
    const figures = await payUnderFaults({ count: 24, seed })
    console.log(line(figures))
    expect(figures).toMatchObject({ payments: 24, restarts: 1, ...right })
    expect(figures.kinds).toBeGreaterThan(8)
    expect(figures.reorganised).toBeGreaterThan(0)
  },
  120_000,
)
