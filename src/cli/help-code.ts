/** `quorate help CODE`: what the reference page of codes (`docs/errors.md`) says of one that an error has printed. */
import { type CodeRow, EXIT, type ExitCode, QuorateError, suggest } from '../diagnostics/index.ts'
import { type Io, writeJson } from './io.ts'
import { allCodes } from './reference/errors.ts'
import { line } from './screen.ts'

/** Says what a code means and how to solve it. Throws `cli/usage` where there is no such code. */
export function explainCode(code: string, { io, json }: { readonly io: Io; readonly json: boolean }): ExitCode {
  const rows: Readonly<Record<string, CodeRow>> = allCodes
  const row = Object.hasOwn(rows, code) ? rows[code]! : undefined
  if (row === undefined) throw unknownCode(code, Object.keys(rows))
  const { summary, solve, exit = EXIT.error, retryable = false } = row
  if (json) writeJson(io, { code, summary, solve, exit, mayPassByItself: retryable })
  else {
    io.out(line`${io.style.strong(code)}: ${summary}\n  next       ${solve}\n  exit code  ${exit}\n`)
    if (retryable) io.out('  It may pass by itself.\n')
  }
  return EXIT.done
}

function unknownCode(code: string, known: readonly string[]): QuorateError {
  const meant = suggest(code, known).map((one) => `\`${one}\``)
  return new QuorateError('cli/usage', `there is no error code \`${code}\``, {
    next:
      meant.length > 0
        ? `did you mean ${meant.join(' or ')}?`
        : 'give the code as the error printed it, such as `quorate help cli/usage`',
  })
}
