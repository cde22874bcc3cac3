import { asksForTraces, readSettings, takeEnvironment } from '../config/index.ts'
import { EXIT, QuorateError, renderError, toErrorJson, withoutKeys } from '../diagnostics/index.ts'
import { explainSystemError } from '../local/index.ts'
import type { CommandInput } from './command.ts'
import { commands } from './commands/index.ts'
import type { CommandDeadline } from './deadline.ts'
import { createIo, type Io, writeJson } from './io.ts'
import { commandOf, readCommandLine } from './program.ts'
import { line, workflowCommands } from './screen.ts'

import { version } from './version.ts'

/** Runs one command line and gives the process its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  const environment = takeEnvironment()
  const terminal = createIo(environment)
  let hasData = false
  const io: Io = {
    ...terminal,
    out: (text) => {
      hasData = true
      terminal.out(text)
    },
  }
  let json = false
  let deadline: CommandDeadline | undefined
  try {
    const say = (text: string) => io.say(withoutKeys(text))
    const code = errorCodeOf(argv)
    if (code !== undefined) {
      json = argv.includes('--json')
      process.exitCode = (await import('./help-code.ts')).explainCode(code, { io, json })
      return
    }
    let invocation: ReturnType<typeof readCommandLine>
    try {
      invocation = readCommandLine(argv, { version, style: io.style, out: io.out, say })
    } catch (error) {
      json = argv.includes('--json')
      throw await advised(error, argv)
    }
    if (typeof invocation === 'number') {
      process.exitCode = invocation
      return
    }
    const { row, args, options, flags, writes } = invocation
    json = options['json'] === true
    const settings = readSettings(environment, flags)
    const opening = row.opening?.(args, settings, options)
    if (opening !== undefined) io.say(line`${withoutKeys(opening)}\n`)
    deadline = (await import('./deadline.ts')).createDeadline(options)
    const input = { settings, environment, io, args, options, json, deadline, commands }
    for (const path of writes) (await import('./files.ts')).assertWritable(path)
    const run = async () => (await row.load())(input)
    process.exitCode = asksForTraces(environment)
      ? await (await import('./tracing.ts')).runTraced(row.name, environment, run)
      : await run()
  } catch (thrown) {
    // What is read at the same time would keep the process until its wait is over.
    deadline?.end()
    const error = explainSystemError(thrown)
    // What is on stdout is one document: after a plan, why it is refused is talk.
    await report(error, { io, json: json && !hasData, environment })
    process.exitCode = error instanceof QuorateError ? error.exit : EXIT.error
  }
}

/** The code of an error that help is asked about, such as `apply/guarded`: no command has a slash in its name. */
function errorCodeOf([word, ...rest]: readonly string[]): string | undefined {
  const [asked, ...more] = rest.filter((one) => !one.startsWith('-'))
  return word === 'help' && more.length === 0 && asked?.includes('/') ? asked : undefined
}

/** A command line that was refused, with what to do about it. */
async function advised(error: unknown, argv: readonly string[]): Promise<unknown> {
  if (!(error instanceof QuorateError)) return error
  const { adviceFor } = await import('./habits.ts')
  return new QuorateError(error.code, error.message, { next: adviceFor(argv, error.next, commandOf(argv)) })
}

async function report(
  error: unknown,
  { io, json, environment }: Pick<CommandInput, 'io' | 'json' | 'environment'>,
): Promise<void> {
  const { annotates, toGithubError } = await import('./views/github.ts')
  if (annotates(environment)) io.say(workflowCommands(toGithubError(error)))
  if (json) writeJson(io, { error: toErrorJson(error) })
  io.say(renderError(error, { error: io.style.error }))
}
