/** The laws of the answers to who can do what hold, and are broken by a mistake; each by its own in `laws-mutants.long.ts`. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as analysis from '../../src/analysis/index.ts'
import { runs } from '../runs.ts'
import { asked, expectBroken, LAWS } from './laws.ts'

describe('laws of who can', () => {
  test.each(LAWS)('$name', ({ holds, cameUp }) => {
    fc.assert(holds(asked(analysis)), { numRuns: runs(60) })
    expect(cameUp?.() ?? true).toBe(true)
  })

  test.each(LAWS.slice(0, 1))('$name: not where $mutant.mistake', expectBroken)
})
