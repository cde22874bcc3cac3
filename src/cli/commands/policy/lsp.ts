import { EXIT, type ExitCode } from '../../../diagnostics/index.ts'
import { serveEditor } from '../../../lsp/index.ts'
import type { CommandInput } from '../../command.ts'
import { parseVars } from '../../values.ts'

/** Serves one editor over stdin and stdout, until it leaves. */
export async function lsp({ environment, options }: CommandInput): Promise<ExitCode> {
  await serveEditor({
    input: process.stdin,
    output: process.stdout,
    env: environment,
    vars: parseVars((options['var'] as string[] | undefined) ?? []),
  })
  return EXIT.done
}
