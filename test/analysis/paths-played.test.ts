import { expect, test } from 'vitest'
import { playWays } from './paths-played.ts'

test('who gets there by moves is told only where the moves lead to a signature or an export, also under a condition that some request meets', async () => {
  const { untrue, ...figures } = await playWays({ count: 30 })
  expect(untrue.join('\n\n'), JSON.stringify(figures)).toBe('')
  expect(figures.paths).toBeGreaterThan(0)
  expect(figures.roots).toBeGreaterThan(0)
})
