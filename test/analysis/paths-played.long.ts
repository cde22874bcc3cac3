import { expect, test } from 'vitest'
import { runs } from '../runs.ts'
import { GOALS } from './path-goals.ts'
import { playWays } from './paths-played.ts'

test('who gets there by moves is told only where the moves lead to the power, also under a condition that some request meets', async () => {
  const count = runs(200)
  const { untrue, goals, ...figures } = await playWays({ count, each: count > 200 ? Number.POSITIVE_INFINITY : 3 })
  console.log(JSON.stringify({ ...figures, goals }))
  expect(untrue.join('\n\n'), JSON.stringify(figures)).toBe('')
  expect(figures.paths).toBeGreaterThan(count / 2)
  expect(figures.withPaths).toBeGreaterThan(count / 4)
  expect(figures.roots).toBeGreaterThan(count / 10)
  expect(figures.conditional).toBeGreaterThan(count / 20)
  expect(figures.notStaged).toBeLessThan(figures.paths / 20)
  expect(Object.keys(goals).sort()).toEqual(GOALS.map(({ called }) => called).sort())
})
