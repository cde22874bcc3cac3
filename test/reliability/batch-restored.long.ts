import { beforeAll, expect, test } from 'vitest'
import { commandFile } from '../programs.ts'
import { testTemporal } from '../temporal.ts'
import { restoreAmidBatch } from './batch-restored.ts'
import { line } from './figures.ts'

beforeAll(async () => {
  commandFile()
  await testTemporal()
})

test('batch: with mistakes, corrected, stopped, edited, resumed, restored and killed, each row is paid once', async ({
  signal,
}) => {
  const rows = 60
  const temporal = await testTemporal()
  const figures = await restoreAmidBatch({ temporal, rows, requestsPerSecond: 5, mostMs: 540_000, signal })
  console.log(line(figures))
  expect(figures).toMatchObject({ rows, submittedBefore: 0, edited: 2, unpaid: 0, twice: 0, foreign: 0 })
  expect(figures.mistakes).toBeGreaterThan(3)
  expect(figures.beyondSnapshot).toBeGreaterThan(0)
  expect(figures.counts).toBe(`{"included":${rows}}`)
})
