import { EXIT, type ExitCode, printable, renderDiagnostics } from '../../diagnostics/index.ts'
import type { Coverage, ScenarioResult, SuiteResult } from '../../scenarios/index.ts'
import type { Style } from '../io.ts'
import { view } from '../screen.ts'
import { toDiagnosticJson } from './diagnostics.ts'

/** The report of `quorate policy test`. */
export interface TestReport {
  readonly suite: SuiteResult
  readonly coverage?: Coverage
  /** Percent that coverage must reach. */
  readonly threshold?: number
}

/** Whether everything passed and enough is covered. */
export function exitOfTests({ suite, coverage, threshold }: TestReport): ExitCode {
  return suite.failed > 0 || isBelow({ coverage, threshold }) ? EXIT.error : EXIT.done
}

function isBelow({
  coverage,
  threshold,
}: {
  coverage?: Coverage | undefined
  threshold?: number | undefined
}): boolean {
  return coverage !== undefined && threshold !== undefined && coverage.percent < threshold
}

/** The JSON form, from which the others are made. */
export function toTestJson({ suite, coverage, threshold }: TestReport) {
  return {
    passed: suite.passed,
    failed: suite.failed,
    files: suite.files.map(({ path, results, diagnostics }) => ({
      path,
      diagnostics: diagnostics.map(toDiagnosticJson),
      scenarios: results,
    })),
    ...(coverage === undefined ? {} : { coverage: { ...coverage, ...(threshold === undefined ? {} : { threshold }) } }),
  }
}

/** The report for people: what failed, with expected and got and why, then the count. */
export function renderTests(report: TestReport, style: Style): string {
  const { suite, coverage, threshold } = report
  const parts = suite.files.flatMap(({ diagnostics, results }) => [
    ...(diagnostics.length > 0 ? [renderDiagnostics(diagnostics, style)] : []),
    ...results.filter(({ ok }) => !ok).map((result) => renderFailure(result, style)),
  ])
  const count = `${suite.passed} passed, ${suite.failed} failed`
  return [
    ...parts.map((part) => `${part}\n`),
    ...(coverage === undefined ? [] : [`${renderCoverage(coverage, style)}\n`]),
    ...(isBelow(report)
      ? [`${style.error('error')} coverage of ${coverage!.percent} % is below the threshold of ${threshold} %\n`]
      : []),
    `${suite.failed === 0 ? style.good(count) : style.error(count)}\n`,
  ].join('')
}

const renderFailure = view(
  ({ name, why, path, line, column, differences, because }: ScenarioResult, style: Style): string => {
    const faults = differences.map(
      (one) =>
        `${one.path}:${one.line}:${one.column}: ${style.error('error')} scenarios/failed: \`${name}\`: ${one.what}\n` +
        `  expected  ${one.expected}\n  got       ${one.got}\n`,
    )
    const reasons = because.map((reason) => `  ${style.dim('because')}   ${reason}\n`)
    return [
      faults.length === 0 ? `${path}:${line}:${column}: ${name}\n` : faults.join(''),
      ...(why === undefined ? [] : [`  why       ${why}\n`]),
      ...reasons,
    ].join('')
  },
)

/** What no scenario saw, at its line, then how much was seen. */
export const renderCoverage = view(
  ({ clauses, covered, outcomes, percent }: Coverage, style: Style): string => {
    const missing = clauses.flatMap((clause) =>
      clause.missing === undefined
        ? []
        : [
            `${clause.path}:${clause.line}:${clause.column}: ${style.warning(clause.missing)}: \`${printable(clause.text.replace(/\s+/g, ' '))}\` (${clause.policy}, ${clause.field})\n`,
          ],
    )
    return `${missing.join('')}coverage: ${percent} %, ${covered} of ${outcomes} outcomes of ${clauses.length} clauses\n`
  },
  { lines: ['text'] },
)
