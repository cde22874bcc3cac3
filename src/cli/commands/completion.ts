import { settingRows } from '../../config/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import type { CommandInput } from '../command.ts'
import { jsonText } from '../io.ts'
import { completedOption, renderCompletion, SHELLS } from '../views/completion.ts'

/** Prints the completion script of a shell. */
export async function completion({ io, json, args, commands }: CommandInput): Promise<ExitCode> {
  const shell = SHELLS.find((one) => one === args[0])
  if (shell === undefined) {
    throw new QuorateError('cli/usage', `expected a shell, got \`${args[0]}\``, {
      next: `name one of ${SHELLS.join(', ')}`,
    })
  }
  const shared = [
    completedOption('--json', 'print data as JSON'),
    ...Object.values(settingRows).map(({ flag, argument, meaning }) => completedOption(`${flag} ${argument}`, meaning)),
  ]
  const script = renderCompletion(shell, commands, shared)
  io.out(json ? jsonText({ shell, script }) : script)
  return EXIT.done
}
