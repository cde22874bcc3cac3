import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { askBackground, pidOf } from '../background/control.ts'
import { clearLeftOverTemporal } from '../background/embedded-temporal.ts'
import { isAlive } from '../background/is-alive.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'

/**
 * Stops the background process of the data folder and waits until it has ended; of one that was killed, the Temporal server that it
 * has left behind.
 */
export async function down({ settings, io, json }: CommandInput): Promise<ExitCode> {
  const { dataDir } = settings
  const answer = await askBackground(dataDir, 'stop')
  const pid = answer && pidOf(answer)
  if (pid !== undefined) await ended(pid)
  const temporalPid = pid === undefined ? await clearLeftOverTemporal(dataDir) : undefined
  const stopped = pid ?? temporalPid
  if (json) {
    const which = pid === undefined ? { temporalPid } : { pid }
    writeJson(io, { stopped: stopped !== undefined, ...(stopped === undefined ? {} : which) })
    return EXIT.done
  }
  const what =
    pid === undefined ? 'the Temporal server that a killed background process had left' : 'the background process'
  io.say(
    stopped === undefined
      ? 'Nothing runs in the background.\n'
      : line`Stopped ${what} (pid ${stopped}). Its state is kept in ${dataDir}.\n`,
  )
  return EXIT.done
}

/** Resolves when no process has this id any more. */
async function ended(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 50))
}
