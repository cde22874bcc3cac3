import { expect, test } from 'vitest'
import { loseAnswers } from './lost-answers.ts'

test('lost answers: connections break at every third of both ways, and no call is two activities', async () => {
  const figures = await loseAnswers({ calls: 96, naive: false })
  console.log(
    Object.entries(figures)
      .map(([name, value]) => `${name}=${value}`)
      .join(' '),
  )
  expect(figures).toMatchObject({ calls: 96, faulted: 96, late: 0, lost: 0, dup: 0 })
  // Each of them was sent again, or nothing broke that mattered.
  expect(figures.attempts).toBe(2 * 96)
}, 60_000)

test('lost answers: a body that is made anew for each attempt makes twins', async () => {
  const { dup } = await loseAnswers({ calls: 32, naive: true })
  console.log(`naive: dup=${dup}`)
  expect(dup).toBeGreaterThan(0)
}, 60_000)
