import { expect, test } from 'vitest'
import { line } from './figures.ts'
import { loseAnswers } from './lost-answers.ts'

test('lost answers: connections break at every third of both ways, and no call is two activities', async () => {
  const figures = await loseAnswers({ calls: 96, naive: false })
  console.log(line(figures))
  expect(figures).toMatchObject({ calls: 96, late: 0, lost: 0, dup: 0 })
  // Each was sent again, or nothing broke that mattered; a busy machine may time out before a fault is met.
  expect(figures.faulted).toBeGreaterThan(90)
  expect(figures.attempts).toBeGreaterThanOrEqual(96 + figures.faulted)
})

test('lost answers: a body that is made anew for each attempt makes twins', async () => {
  const { dup } = await loseAnswers({ calls: 32, naive: true })
  console.log(`naive: dup=${dup}`)
  expect(dup).toBeGreaterThan(0)
})
