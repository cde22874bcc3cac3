import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const { summarize } = await import(new URL('../../.ci/summary.mjs', import.meta.url).href)

const counts = { numPassedTests: 7, numFailedTests: 0, numPendingTests: 1, numTodoTests: 1 }
const file = (status: string, results: readonly string[], message = '') => ({
  name: 'a.test.ts',
  status,
  message,
  assertionResults: results.map((result, n) => ({
    status: result,
    fullName: `test ${n}`,
    failureMessages: ['because'],
  })),
})
const passed = file('passed', ['passed'])

test.each([
  ['all passed', { ...counts, testResults: [passed] }, 0, 0, '7 passed, 0 failed, 2 skipped'],
  [
    'a test failed',
    { ...counts, numFailedTests: 1, testResults: [passed, file('failed', ['passed', 'failed'])] },
    1,
    0,
    '7 passed, 1 failed, 2 skipped',
  ],
  [
    'a file could not be loaded',
    { ...counts, testResults: [passed, file('failed', [], 'no such module')] },
    1,
    0,
    '7 passed, 1 failed, 2 skipped',
  ],
  ['nobody handled an error', { ...counts, testResults: [passed] }, 1, 0, '7 passed, 1 failed, 2 skipped'],
  ['other steps failed', { ...counts, testResults: [passed] }, 0, 2, '7 passed, 2 failed, 2 skipped'],
  ['the tests were killed', undefined, 137, 0, '0 passed, 1 failed, 0 skipped'],
  ['the tests were never begun', undefined, 0, 1, '0 passed, 1 failed, 0 skipped'],
])('summary: %s', (_, report, exit, others, wanted) => {
  expect(
    summarize([[report, exit]], others)
      .split('\n')
      .at(-1),
  ).toBe(wanted)
})

test('summary: of several runs of tests it is the sum, and a run that was killed is one that failed', () => {
  const report = { ...counts, testResults: [passed] }
  const of = (...runs: readonly unknown[]) => summarize(runs, 0).split('\n').at(-1)
  expect(of([report, 0], [report, 0])).toBe('14 passed, 0 failed, 4 skipped')
  expect(of([report, 0], [undefined, 124])).toBe('7 passed, 1 failed, 2 skipped')
})

test('summary: what failed is told with its reason', () => {
  const report = { ...counts, numFailedTests: 1, testResults: [file('failed', ['failed'])] }
  expect(summarize([[report, 1]], 0)).toContain('FAILED a.test.ts > test 0\nbecause')
})

const REPORT = `echo '{"numPassedTests":5,"testResults":[]}' >"$reports/test.json"`

test.each([
  ['all is well', `step test; ${REPORT}`, 0, '5 passed, 0 failed, 0 skipped'],
  ['it cannot be installed', 'step install; false; echo never', 1, '0 passed, 1 failed, 0 skipped'],
  ['a check fails', `step check; false || fail check; ${REPORT}`, 1, '5 passed, 1 failed, 0 skipped'],
  ['the tests fail', `step test; ${REPORT}; (exit 1) || tested=$?; true`, 1, '5 passed, 1 failed, 0 skipped'],
  ['the long tests fail', `step long; ${REPORT}; (exit 1) || long=$?; true`, 1, '5 passed, 1 failed, 0 skipped'],
])('run: the last line and the exit code where %s', (_, body, exit, wanted) => {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-ci-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const own = join(import.meta.dirname, '../../.ci')
  const [head] = readFileSync(join(own, 'run'), 'utf8').split("\nstep 'install'\n")
  mkdirSync(join(folder, '.ci'))
  cpSync(join(own, 'summary.mjs'), join(folder, '.ci/summary.mjs'))
  writeFileSync(join(folder, '.ci/run'), `${head}\n${body}\n`)
  const { status, stdout } = spawnSync('bash', [join(folder, '.ci/run')], { encoding: 'utf8' })
  expect(stdout.trimEnd().split('\n').at(-1)).toBe(wanted)
  expect(status).toBe(exit)
})
