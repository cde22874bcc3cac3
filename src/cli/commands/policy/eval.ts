import { type ExitCode, QuorateError } from '../../../diagnostics/index.ts'
import type { CommandInput } from '../../command.ts'
import { runCases } from './cases.ts'

/** Decides one request, or every case of a file. */
export async function evaluate(input: CommandInput): Promise<ExitCode> {
  const { cases } = input.options
  if (typeof cases === 'string') return runCases(input, cases)
  throw new QuorateError('cli/usage', 'expected --cases FILE or --request FILE', {
    next: 'name the file that holds them',
  })
}
