import { expect, test } from 'vitest'
import { testTemporal } from '../temporal.ts'
import { line } from './figures.ts'
import { watchFleet } from './fleet.ts'

test('fleet: one worker looks at each of many sub-organizations within its rate, and tells a change by hand', async ({
  signal,
}) => {
  const figures = await watchFleet({ temporal: await testTemporal(), count: 24, requestsPerSecond: 60, signal })
  console.log(line(figures))
  expect(figures.fewestLooks).toBeGreaterThanOrEqual(3)
})
