/**
 * What a run of CI came to: `node .ci/summary.mjs OTHERS REPORT EXIT [REPORT EXIT …]`, with how many other steps failed, and of each
 * run of tests Vitest's JSON report and the exit code. Prints what failed, and last `N passed, N failed, N skipped`.
 */
import { readFileSync } from 'node:fs'

const SHOWN = 8_000

/**
 * What fails without a test that says so is counted as one: a file that cannot be loaded, an error that nobody handles.
 * @param runs of tests: `[report, exit code]` each
 */
export function summarize(runs, others) {
  const lines = []
  const sum = { passed: 0, failed: others, skipped: 0 }
  for (const [report, exit] of runs) {
    const {
      numPassedTests = 0,
      numFailedTests = 0,
      numPendingTests = 0,
      numTodoTests = 0,
      testResults = [],
    } = report ?? {}
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
    sum.passed += numPassedTests
    sum.failed += numFailedTests + withoutTest
    sum.skipped += numPendingTests + numTodoTests
  }
  lines.push(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`)
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
  const [others, ...rest] = process.argv.slice(2)
  const runs = rest.flatMap((path, at) => (at % 2 === 0 ? [[readReport(path), Number(rest[at + 1])]] : []))
  console.log(summarize(runs, Number(others)))
}
