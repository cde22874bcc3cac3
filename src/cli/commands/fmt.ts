import { type Formatted, formatDefinitions, formatPolicies } from '../../definitions/index.ts'
import { EXIT, type ExitCode, type Source, sortDiagnostics } from '../../diagnostics/index.ts'
import type { CommandInput } from '../command.ts'
import { differenceOf } from '../difference.ts'
import { writeText } from '../files.ts'
import { writeJson } from '../io.ts'
import { counted, line } from '../screen.ts'
import { sayDiagnostics, toDiagnosticJson } from '../views/diagnostics.ts'
import { readDefinitionFiles } from './policy/read-files.ts'

/** Formats files of definitions in place: the order of keys, columns, and policies' expressions. */
export const fmt = (input: CommandInput): Promise<ExitCode> => formatWith(input, formatDefinitions)

/** Formats the expressions in files of definitions, and nothing else. */
export const policyFmt = (input: CommandInput): Promise<ExitCode> => formatWith(input, formatPolicies)

/** With `--check` it says which files are not formatted, with `--diff` how; neither writes anything. */
async function formatWith(input: CommandInput, format: (source: Source) => Formatted): Promise<ExitCode> {
  const { io, json, args, options } = input
  const [check, diff] = [options['check'] === true, options['diff'] === true]
  const read = await readDefinitionFiles(args.length === 0 ? ['.'] : args)
  const formatted = read.sources.map((source) => ({ source, ...format(source) }))
  const diagnostics = sortDiagnostics([...read.diagnostics, ...formatted.flatMap((one) => one.diagnostics)])
  const changed = formatted.filter(({ source, text }) => source.text !== text)
  if (!check && !diff) for (const { source, text } of changed) writeText(source.path, text)
  const files = changed.map(({ source }) => source.path)
  sayDiagnostics(input, diagnostics)
  if (json) writeJson(io, { files, diagnostics: diagnostics.map(toDiagnosticJson) })
  else {
    if (diff) for (const { source, text } of changed) io.out(differenceOf(source, text, io.style))
    else for (const file of files) io.out(line`${check ? 'not formatted: ' : ''}${file}\n`)
    if (files.length === 0 && diagnostics.length === 0)
      io.say(line`${counted(read.sources.length, 'file')}, all formatted\n`)
  }
  return diagnostics.length > 0 || (check && files.length > 0) ? EXIT.error : EXIT.done
}
