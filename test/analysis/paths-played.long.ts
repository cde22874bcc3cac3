import { expect, test } from 'vitest'
import { runs } from '../runs.ts'
import { playWays } from './paths-played.ts'

test('who gets there by moves is told only where the moves lead to a signature or an export, also under a condition that some request meets', async () => {
  const count = runs(200)
  const { untrue, ...figures } = await playWays({ count })
  console.log(JSON.stringify(figures))
  expect(untrue.join('\n\n'), JSON.stringify(figures)).toBe('')
  expect(figures.paths).toBeGreaterThan(count / 10)
  expect(figures.withPaths).toBeGreaterThan(count / 4)
  expect(figures.roots).toBeGreaterThan(count / 10)
  expect(figures.conditional).toBeGreaterThan(count / 20)
  expect(figures.otherGoals).toBeGreaterThan(count / 20)
})
