import { expect, test } from 'vitest'
import { line } from './figures.ts'
import { FLOWS, killLogins } from './login-kills.ts'

test('login kills: service and proxy killed in the steps of each way to log in lose no session and no code, and let nothing serve twice', async () => {
  const figures = await killLogins({ killsOfEach: 1 })
  console.log(line(figures))
  const kept = { lost: 0, outlived: 0, unsent: 0, twice: 0, integrity: 'ok' }
  expect(figures).toMatchObject({ kills: FLOWS.length, ...kept })
  expect(figures.sessions).toBeGreaterThanOrEqual(FLOWS.length)
})
