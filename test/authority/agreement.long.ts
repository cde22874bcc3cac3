/** Who may decide is told alike everywhere, and is what the service then does, in as many organizations as nobody waits for after each edit. */
import { expect, test } from 'vitest'
import * as analysis from '../../src/analysis/index.ts'
import { agree, agreeOnPowers } from './agreement.ts'
import { faultsOfTelling, playAtOtherTimes } from './other-times.ts'

const SEED = Number(process.env['CI'] ? 20_261_121 : Math.floor(Math.random() * 2 ** 31))

test('authority: plan, send --dry-run, policy explain --live, who-can and the approver’s view agree with the service', async () => {
  const figures = await agree({ count: 200, seed: SEED, tries: 40 })
  // Enough of each was seen, or this would show nothing.
  expect(figures.waits).toBeGreaterThan(40)
  expect(figures.denied).toBeGreaterThan(12)
  expect(figures.completes).toBeGreaterThan(12)
  expect(figures.otherCredentials).toBeGreaterThan(12)
  expect(figures.lapsed).toBeGreaterThan(8)
  expect(figures.deniedVotes).toBeGreaterThan(10)
  expect(figures.played).toBeGreaterThan(100)
  expect(figures.underConditions).toBeGreaterThan(15)
  expect(figures.atTimes).toBeGreaterThan(10)
  expect(figures.otherRequests).toBeGreaterThan(15)
  expect(figures.tried).toBeGreaterThan(25)
  expect(figures.unknown).toBeLessThan(20)
})

test('authority: who-can tells of all who can in organizations of up to six people and twelve policies, by every vote in every order', async () => {
  const figures = await agreeOnPowers({ count: 200, seed: SEED, tries: 200 })
  expect(figures.played).toBeGreaterThan(200)
  expect(figures.tried).toBeGreaterThan(1_000)
  expect(figures.cut).toBeLessThan(40)
  expect(figures.unknown).toBeLessThan(20)
})

test('authority: of what is submitted by day and voted on at night, reviews, who-can and backtests tell what the service does', async () => {
  const faults = [...faultsOfTelling(await playAtOtherTimes({ count: 40, seed: SEED }), analysis)]
  expect({ seed: SEED, faults }).toEqual({ seed: SEED, faults: [] })
})
