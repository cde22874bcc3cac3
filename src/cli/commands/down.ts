import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { askBackground, pidOf } from '../background/control.ts'
import { isAlive } from '../background/is-alive.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'

/** Stops the background process of the data folder and waits until it has ended. */
export async function down({ settings, io, json }: CommandInput): Promise<ExitCode> {
  const answer = await askBackground(settings.dataDir, 'stop')
  const pid = answer && pidOf(answer)
  if (pid !== undefined) await ended(pid)
  if (json) writeJson(io, { stopped: pid !== undefined, ...(pid === undefined ? {} : { pid }) })
  else
    io.say(
      pid !== undefined
        ? line`Stopped the background process (pid ${pid}). Its state is kept in ${settings.dataDir}.\n`
        : 'Nothing runs in the background.\n',
    )
  return EXIT.done
}

/** Resolves when no process has this id any more. */
async function ended(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 50))
}
