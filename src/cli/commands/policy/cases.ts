import { readFileSync } from 'node:fs'
import { readInside } from '../../../definitions/index.ts'
import {
  createSource,
  EXIT,
  type ExitCode,
  printableJson,
  QuorateError,
  renderDiagnostics,
  unreadWords,
} from '../../../diagnostics/index.ts'
import { readCases, runCase } from '../../../scenarios/index.ts'
import type { CommandInput } from '../../command.ts'
import { line } from '../../screen.ts'

/** Runs a file of cases: one JSON line a run, then the count. What cannot be read as a case counts as failed. */
export function runCases({ io }: CommandInput, file: string): ExitCode {
  const { cases, diagnostics } = readCases(createSource(file, readText(file)))
  io.say(renderDiagnostics(diagnostics, io.style))
  let failed = diagnostics.length
  let lines = ''
  for (const one of cases) {
    const result = runCase(one)
    if (!result.ok) failed++
    lines += `${printableJson(JSON.stringify(result))}\n`
  }
  const passed = Math.max(0, cases.length + diagnostics.length - failed)
  io.out(lines + line`${passed} passed, ${failed} failed\n`)
  return failed === 0 ? EXIT.done : EXIT.error
}

/** Reads a file that was named on the command line, or found in `folder`. Throws `cli/unreadable`. */
export function readText(file: string, folder?: string): string {
  try {
    return folder === undefined ? readFileSync(file, 'utf8') : new TextDecoder().decode(readInside(folder, file))
  } catch (cause) {
    throw new QuorateError('cli/unreadable', `\`${file}\` cannot be read: ${unreadWords(cause)}`, {
      next: 'check that it exists and who may read it',
      cause,
    })
  }
}
