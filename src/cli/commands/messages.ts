import { setTimeout as delay } from 'node:timers/promises'
import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { listWrittenMessages, type WrittenMessage } from '../../service/index.ts'
import type { CommandInput } from '../command.ts'
import { writeJson, writeJsonLine } from '../io.ts'
import { line } from '../screen.ts'
import { serviceFolder } from '../service-folder.ts'

/** How often the outbox is looked at again. */
const PAUSE_MS = 200

/** Shows what a service has put into the outbox of its folder, and with `--follow` what it puts there from now on. */
export async function messages(input: CommandInput): Promise<ExitCode> {
  const { io, json, options } = input
  const folder = serviceFolder(input)
  const seen = new Set<string>()
  const show = (all: readonly WrittenMessage[]) => {
    for (const one of all) {
      seen.add(one.id)
      if (json) writeJsonLine(io, one)
      else io.out(render(one))
    }
  }
  const written = listWrittenMessages(folder)
  if (json && options['follow'] !== true) {
    writeJson(io, { messages: written })
    return EXIT.done
  }
  show(written)
  if (seen.size === 0 && !json) io.say(line`There are no messages in ${folder}.\n`)
  if (options['follow'] !== true) return EXIT.done
  const stopped = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopped.abort())
  while (!stopped.signal.aborted) {
    await delay(PAUSE_MS, undefined, { signal: stopped.signal }).catch(() => {})
    show(listWrittenMessages(folder, seen))
  }
  return EXIT.done
}

function render({ at, message }: WrittenMessage): string {
  const subject = message.kind === 'email' ? line`${message.subject}\n` : ''
  const text = message.text
    .trimEnd()
    .split('\n')
    .map((one) => line`  ${one}`.trimEnd())
    .join('\n')
  return `${line`${at} ${message.kind} to ${message.to}`}\n${subject && `  ${subject}\n`}${text}\n\n`
}
