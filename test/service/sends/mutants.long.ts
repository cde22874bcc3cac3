/** The service with a rule of paying once left out: a trial that it holds otherwise tells each from the service. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { createService } from '../../../src/service/index.ts'
import { type Mutant, mutated } from '../../mutated.ts'
import { TRIALS } from './judged.ts'
import { type LyingChain, startJudged, startLyingChain } from './judged-stage.ts'
import { ETHEREUM_MISTAKES, SOLANA_MISTAKES } from './mistakes.ts'
import { SOLANA_TRIALS } from './solana-judged.ts'

let chain: LyingChain
beforeAll(async () => {
  chain = await startLyingChain()
})
afterEach(() => chain.calm())
afterAll(() => chain.close())

const MOST_MS = 15_000

/** Whether a trial shows the mistake: it fails, or does not come to its end. */
async function isFound(trial: Promise<void>): Promise<boolean> {
  const holds = trial.then(
    () => true,
    () => false,
  )
  return !(await Promise.race([holds, pause(MOST_MS, false)]))
}

const serviceOf = async (mutant: Mutant) => {
  // What is thrown must be of one class for all who read it: nodes are copied for a mistake of theirs alone.
  const nodes = mutant.file.includes('/nodes/') ? ['service/nodes'] : []
  const of = { module: 'service/service.ts', copied: ['service/sends', 'service/chains', ...nodes] }
  return (await mutated<{ createService: typeof createService }>(mutant, of)).createService
}

test.each(ETHEREUM_MISTAKES)('sends: $mistake: found by "$by"', async ({ by, ...mutant }) => {
  const stage = await startJudged(chain, await serviceOf(mutant))
  try {
    expect(await isFound(TRIALS[by]!(stage))).toBe(true)
  } finally {
    await stage.close()
  }
})

test.each(SOLANA_MISTAKES)('sends: $mistake: found by "$by"', async ({ by, ...mutant }) => {
  expect(await isFound(SOLANA_TRIALS[by]!(await serviceOf(mutant)))).toBe(true)
})
