import { existsSync, statSync, watch } from 'node:fs'
import { createSource, EXIT, type ExitCode, QuorateError } from '../../../diagnostics/index.ts'
import { type Coverage, coverageOf, playSuite, worldOfDefinitions } from '../../../scenarios/index.ts'
import type { CommandInput } from '../../command.ts'
import { writeText } from '../../files.ts'
import { writeJson } from '../../io.ts'
import { listTestFiles, loadPolicies } from '../../policies.ts'
import { renderCoverageHtml, renderLcov } from '../../views/coverage-files.ts'
import { exitOfTests, renderTests, type TestReport, toTestJson } from '../../views/policy-test.ts'
import { renderJunit, renderTap } from '../../views/policy-test-files.ts'
import { readText } from './cases.ts'

/** Plays the scenarios beside definitions; with `--watch` again whenever a file changes, until it is interrupted. */
export async function test(input: CommandInput): Promise<ExitCode> {
  const folder = input.args[0] ?? '.'
  // A path that does not exist cannot be watched; playing it once reports that.
  const watched = input.options['watch'] === true && existsSync(folder)
  return watched ? testOnChange(input, folder) : testOnce(input, folder)
}

async function testOnce(input: CommandInput, folder: string): Promise<ExitCode> {
  const { options } = input
  const threshold = readThreshold(options['coverageThreshold'])
  const measured =
    options['coverage'] === true ||
    threshold !== undefined ||
    typeof options['coverageLcov'] === 'string' ||
    typeof options['coverageHtml'] === 'string'
  const loaded = await loadPolicies(input, folder)
  const world = loaded && worldOfDefinitions(loaded)
  if (!loaded || !world) return EXIT.error
  const sources = testSources(folder)
  const filter = options['filter'] as string | undefined
  const suite = await playSuite(sources, world, { filter, coverage: measured })
  const coverage: Coverage | undefined = measured ? coverageOf(suite.counts, loaded.expressions) : undefined
  const report: TestReport = {
    suite,
    ...(coverage === undefined ? {} : { coverage }),
    ...(threshold === undefined ? {} : { threshold }),
  }
  show(input, report)
  writeReport(options['junit'], () => renderJunit(suite.files))
  if (coverage) {
    writeReport(options['coverageLcov'], () => renderLcov(coverage))
    writeReport(options['coverageHtml'], () => renderCoverageHtml(coverage, loaded.sources))
  }
  return exitOfTests(report)
}

/** Starts to watch before it reads, so that a change in between is not lost. */
async function testOnChange(input: CommandInput, folder: string): Promise<ExitCode> {
  const stopped = Promise.withResolvers<'stop'>()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.resolve('stop'))
  let changed = Promise.withResolvers<'change'>()
  const watcher = watch(folder, (_, name) => {
    if (name === null || /\.ya?ml$/.test(name)) changed.resolve('change')
  })
  let exit: ExitCode = EXIT.done
  for (;;) {
    exit = await testOnce(input, folder)
    input.io.say(input.io.style.dim(`watching ${folder}; Ctrl-C stops\n`))
    if ((await Promise.race([changed.promise, stopped.promise])) === 'stop') break
    // An editor writes in several steps; what comes at once is one change.
    await new Promise((resolve) => setTimeout(resolve, 50))
    changed = Promise.withResolvers()
  }
  watcher.close()
  return exit
}

function testSources(folder: string) {
  const files = statSync(folder).isDirectory() ? listTestFiles(folder) : []
  if (files.length === 0) {
    throw new QuorateError('cli/no-tests', `there is no test in \`${folder}\``, {
      next: 'write scenarios into a file such as `policies.test.yaml` beside the definitions',
    })
  }
  return files.map((file) => createSource(file, readText(file, folder)))
}

function show({ io, json, options }: CommandInput, report: TestReport): void {
  if (json) writeJson(io, toTestJson(report))
  else if (options['tap'] === true) io.out(renderTap(report.suite.files))
  else io.out(renderTests(report, io.style))
}

function writeReport(file: unknown, render: () => string): void {
  if (typeof file !== 'string') return
  writeText(file, render())
}

function readThreshold(text: unknown): number | undefined {
  if (text === undefined) return undefined
  const percent = Number(text)
  if (String(text).trim() !== '' && percent >= 0 && percent <= 100) return percent
  throw new QuorateError(
    'cli/usage',
    `expected --coverage-threshold to be a percentage from 0 to 100, got \`${text}\``,
    {
      next: 'correct --coverage-threshold',
    },
  )
}
