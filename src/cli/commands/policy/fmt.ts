import { writeFileSync } from 'node:fs'
import { formatPolicies } from '../../../definitions/index.ts'
import {
  EXIT,
  type ExitCode,
  QuorateError,
  renderDiagnostics,
  type Source,
  sortDiagnostics,
} from '../../../diagnostics/index.ts'
import type { CommandInput } from '../../command.ts'
import { toDiagnosticJson } from '../../views/diagnostics.ts'
import { readDefinitionFiles } from './read-files.ts'

/** Formats the expressions in files of definitions in place; with `--check` says which are not, and writes nothing. */
export async function fmt(input: CommandInput): Promise<ExitCode> {
  const { io, json, args, options } = input
  const check = options['check'] === true
  const read = await readDefinitionFiles(args.length === 0 ? ['.'] : args)
  const formatted = read.sources.map((source) => ({ source, ...formatPolicies(source) }))
  const diagnostics = sortDiagnostics([...read.diagnostics, ...formatted.flatMap((one) => one.diagnostics)])
  const changed = formatted.filter(({ source, text }) => source.text !== text)
  if (!check) for (const { source, text } of changed) write(source, text)
  const files = changed.map(({ source }) => source.path)
  if (json) io.out(`${JSON.stringify({ files, diagnostics: diagnostics.map(toDiagnosticJson) }, null, 2)}\n`)
  else {
    io.say(renderDiagnostics(diagnostics, io.style))
    for (const file of files) io.out(`${check ? 'not formatted: ' : ''}${file}\n`)
    if (files.length === 0 && diagnostics.length === 0) io.say(`${read.sources.length} files, all formatted\n`)
  }
  return diagnostics.length > 0 || (check && files.length > 0) ? EXIT.error : EXIT.done
}

function write({ path }: Source, text: string): void {
  try {
    writeFileSync(path, text)
  } catch (cause) {
    throw new QuorateError('cli/unwritable', `\`${path}\` cannot be written: ${(cause as Error).message}`, {
      facts: { file: path },
      next: 'check who may write it, and run again',
      cause,
    })
  }
}
