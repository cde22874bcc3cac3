/**
 * What a run of CI came to: `node .ci/summary.mjs REPORT EXIT OTHERS`, with Vitest's JSON report, the exit code of the tests and
 * how many other steps failed. Prints what failed, and last `N passed, N failed, N skipped`.
 */
import { readFileSync } from 'node:fs'

const SHOWN = 8_000

/** What fails without a test that says so is counted as one: a file that cannot be loaded, an error that nobody handles. */
export function summarize(report, exit, others) {
  const {
    numPassedTests = 0,
    numFailedTests = 0,
    numPendingTests = 0,
    numTodoTests = 0,
    testResults = [],
  } = report ?? {}
  const lines = []
  let withoutTest = 0
  for (const { name, status, message, assertionResults } of testResults) {
    const failed = assertionResults.filter((result) => result.status === 'failed')
    if (message) lines.push(`FAILED ${name}\n${message}`)
    for (const { fullName, failureMessages } of failed)
      lines.push(`FAILED ${name} > ${fullName}\n${failureMessages.join('\n').slice(0, SHOWN)}`)
    if (status === 'failed' && failed.length === 0) withoutTest++
  }
  if (exit !== 0 && numFailedTests + withoutTest === 0) {
    lines.push(`FAILED the tests ended with ${exit}, and no test says why: look for "Unhandled" above`)
    withoutTest++
  }
  const failed = numFailedTests + withoutTest + others
  lines.push(`${numPassedTests} passed, ${failed} failed, ${numPendingTests + numTodoTests} skipped`)
  return lines.join('\n')
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

if (import.meta.filename === process.argv[1]) {
  const [path, exit, others] = process.argv.slice(2)
  console.log(summarize(readReport(path), Number(exit), Number(others)))
}
