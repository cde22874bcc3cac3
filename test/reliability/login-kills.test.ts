import { expect, test } from 'vitest'
import { line } from './figures.ts'
import { killLogins } from './login-kills.ts'

test('login kills: service and proxy killed in the steps of a login lose no session and no code, and let nothing serve twice', async () => {
  const figures = await killLogins({ kills: 4 })
  console.log(line(figures))
  expect(figures).toMatchObject({ kills: 4, lost: 0, unsent: 0, twice: 0, integrity: 'ok' })
  expect(figures.sessions).toBeGreaterThan(1)
}, 120_000)
