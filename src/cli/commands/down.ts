import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { askBackground } from '../background/control.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'

/** Stops the background process of the data folder and waits until it has ended. */
export async function down({ settings, io, json }: CommandInput): Promise<ExitCode> {
  const status = await askBackground(settings.dataDir, 'stop')
  if (status) await ended(status.pid)
  if (json) writeJson(io, { stopped: status !== undefined, ...(status ? { pid: status.pid } : {}) })
  else
    io.say(
      status
        ? line`Stopped the background process (pid ${status.pid}). Its state is kept in ${settings.dataDir}.\n`
        : 'Nothing runs in the background.\n',
    )
  return EXIT.done
}

/** Resolves when no process has this id any more. */
async function ended(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 50))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
