/** The trial of two machines tells from the service one that has left out a rule of paying once. */
import { expect, test } from 'vitest'
import { buildMutated } from '../mutated.ts'
import { ETHEREUM_MISTAKES, SOLANA_MISTAKES } from '../service/sends/mistakes.ts'
import { line } from './figures.ts'
import { payBySchedule, type Scheduled, type ScheduleOptions } from './schedule.ts'

const COUNT = 20
/** What is drawn by chance may not need the rule. */
const MOST_RUNS = 3

type Faults = NonNullable<NonNullable<ScheduleOptions['naive']>['faults']>

const MISTAKES: readonly (readonly [mistake: string, red: keyof Scheduled, faults: Faults])[] = [
  [
    'a nonce is given back, and nobody asks what used it',
    'twice',
    { of: ['done, and refused', 'not found'], ofHundred: 60 },
  ],
  ['the first null receipt is believed', 'mistold', { of: ['not found'], ofHundred: 30 }],
  [
    'a node is believed at once that one would fail',
    'unpaid',
    { of: ['would fail', 'would fail there', 'would move nothing', 'without code'], ofHundred: 60 },
  ],
  [
    'a Solana node that says twice that a send is settled is not asked for the block',
    'mistold',
    { of: ['settled where it is not', 'failed where it is not'], ofHundred: 90 },
  ],
  ['one that was replaced is told as given up', 'mistold', { of: ['behind'], ofHundred: 10 }],
]

async function untilWrong(red: keyof Scheduled, naive: NonNullable<ScheduleOptions['naive']>): Promise<number> {
  for (let seed = 1; seed <= MOST_RUNS; seed++) {
    const figures = await payBySchedule({ seed, count: COUNT, naive, mostMs: 300_000 })
    console.log(`naive: ${line({ ...figures })}`)
    if (figures[red] !== 0) return Number(figures[red])
  }
  return 0
}

test.each(MISTAKES)('schedule: where %s, it finds payments %s', { timeout: 960_000 }, async (mistake, red, faults) => {
  const rule = [...ETHEREUM_MISTAKES, ...SOLANA_MISTAKES].find((one) => one.mistake === mistake)!
  const program = await buildMutated(rule, { module: '../test/service/serving.ts', copied: ['service'] })
  expect(await untilWrong(red, { program, faults })).toBeGreaterThan(0)
})

test('schedule: where a body is made anew for each try, it finds payments twice', { timeout: 960_000 }, async () => {
  expect(await untilWrong('twice', { remakesBodies: true })).toBeGreaterThan(0)
})
