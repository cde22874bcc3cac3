/** The reports of tests that other programs read: JUnit's XML and TAP 14. */
import { positionAt, printable, printableLines } from '../../diagnostics/index.ts'
import type { FileResult, ScenarioResult } from '../../scenarios/index.ts'

/** JUnit's XML, as CI systems read it: a suite a file, a case a scenario. */
export function renderJunit(files: readonly FileResult[]): string {
  const suites = files.map(({ path, results, diagnostics }) => {
    const failures = results.filter(({ ok }) => !ok).length
    const cases = [
      ...results.map((result) => junitCase(result)),
      ...diagnostics.map(({ code, message, span }) => {
        const { line, column } = positionAt(span.source, span.start)
        return `    <testcase classname="${xml(path)}" name="${xml(`${path}:${line}:${column}`)}"><error type="${xml(code)}" message="${xml(message)}"/></testcase>\n`
      }),
    ]
    const counts = `tests="${cases.length}" failures="${failures}" errors="${diagnostics.length}"`
    return `  <testsuite name="${xml(path)}" ${counts}>\n${cases.join('')}  </testsuite>\n`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="quorate policy test">\n${suites.join('')}</testsuites>\n`
}

function junitCase(result: ScenarioResult): string {
  const { name, path, line, ok } = result
  const head = `    <testcase classname="${xml(path)}" name="${xml(name)}" file="${xml(path)}" line="${line}"`
  if (ok) return `${head}/>\n`
  const [first] = result.differences
  const message = first === undefined ? 'failed' : `${first.what}: expected ${first.expected}, got ${first.got}`
  return `${head}><failure type="scenarios/failed" message="${xml(message)}">${xml(details(result).join('\n'))}</failure></testcase>\n`
}

/** TAP 14 (testanything.org): a line a scenario, what failed as YAML below it. */
export function renderTap(files: readonly FileResult[]): string {
  const lines: string[] = []
  let number = 0
  for (const { results, diagnostics } of files) {
    for (const result of results) {
      number++
      lines.push(`${result.ok ? 'ok' : 'not ok'} ${number} - ${tap(result.name)}`)
      if (!result.ok)
        lines.push(
          '  ---',
          ...yaml('at', `${result.path}:${result.line}:${result.column}`),
          ...yaml('message', details(result).join('\n')),
          '  ...',
        )
    }
    for (const { message, span } of diagnostics) {
      number++
      const { line, column } = positionAt(span.source, span.start)
      lines.push(`not ok ${number} - ${tap(`${span.source.path}:${line}:${column}: ${message}`)}`)
    }
  }
  return `TAP version 14\n1..${number}\n${lines.map((line) => `${line}\n`).join('')}`
}

function details({ differences, because, why }: ScenarioResult): readonly string[] {
  return [
    ...differences.map(
      ({ what, expected, got, path, line, column }) =>
        `${path}:${line}:${column}: ${what}: expected ${expected}, got ${got}`,
    ),
    ...(why === undefined ? [] : [`why: ${why}`]),
    ...because,
  ]
}

/** A `#` would begin a directive, a backslash an escape. */
function tap(text: string): string {
  return printable(text.replace(/[\r\n]+/g, ' ')).replace(/[\\#]/g, '\\$&')
}

function yaml(key: string, text: string): readonly string[] {
  return [
    `  ${key}: |-`,
    ...printableLines(text)
      .split('\n')
      .map((line) => `    ${line}`),
  ]
}

/** Control characters are not allowed in XML 1.0, not even as references. */
function xml(text: string): string {
  return printableLines(text)
    .replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!)
    .replace(/\n/g, '&#10;')
}
