import { expect, test } from 'vitest'

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
  expect(summarize(report, exit, others).split('\n').at(-1)).toBe(wanted)
})

test('summary: what failed is told with its reason', () => {
  const report = { ...counts, numFailedTests: 1, testResults: [file('failed', ['failed'])] }
  expect(summarize(report, 1, 0)).toContain('FAILED a.test.ts > test 0\nbecause')
})
