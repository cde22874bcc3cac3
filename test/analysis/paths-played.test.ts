import { expect, test } from 'vitest'
import { playWays } from './paths-played.ts'

test('who gets there by moves is told only where the moves lead to the power, also under a condition that some request meets', async () => {
  const { untrue, goals, ...figures } = await playWays({ count: 24 })
  expect(untrue.join('\n\n'), JSON.stringify(figures)).toBe('')
  expect(figures.paths).toBeGreaterThan(24)
  expect(figures.roots).toBeGreaterThan(0)
  expect(Object.keys(goals).length).toBeGreaterThan(8)
})
