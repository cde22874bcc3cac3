/** What `npm run test:quick` runs, and that with the rest it is everything. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { selectTests } from './selection.ts'

const { quick, whole, alone } = selectTests()

test('selection: every test file is in one group, and each group has some', () => {
  const all = globSync('test/**/*.test.ts', { cwd: join(import.meta.dirname, '..') })
  expect([...quick, ...whole, ...alone].sort()).toEqual(all.sort())
  expect(quick.length).toBeGreaterThan(100)
  expect(whole.length).toBeGreaterThan(100)
})

test.each([
  ['nothing of it', 'test/policy/lexer.test.ts', quick],
  ['a service', 'test/service/http/server.test.ts', whole],
  ['a command', 'test/cli/plan.test.ts', whole],
  ['Temporal', 'test/workflows/apply.test.ts', whole],
  ['workers', 'test/workflows/replay.test.ts', whole],
  ['a provider of logins', 'test/security/login-page.test.ts', whole],
  ['mistakes for the tests to find', 'test/analysis/laws.test.ts', whole],
  ['a module of its own', 'test/service/signing/wiping.test.ts', alone],
])('selection: what imports %s', (_, file, group) => {
  expect(group).toContain(file)
})

test('selection: a run with PostgreSQL has what keeps rows in the store of a service, and nothing else', () => {
  const { quick: none, whole: kept, alone: apart } = selectTests({ onPostgres: true })
  expect(none).toEqual([])
  expect(kept).toContain('test/service/engine/voting.test.ts')
  expect(apart).toContain('test/service/signing/wiping.test.ts')
  // They open stores of their own, the same in any run.
  expect(kept).not.toContain('test/service/store/sqlite.test.ts')
  expect(kept).not.toContain('test/service/store/postgres.test.ts')
})
