import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { clearLeftOverTemporal, embeddedTemporalPid } from '../background/embedded-temporal.ts'
import { askBackground, isAlive, noteDown, pidOf } from '../background/index.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'

/**
 * Stops the background process of the data folder and waits until it has ended; of one that was killed, the Temporal server that it
 * has left behind.
 */
export async function down({ settings, io, json }: CommandInput): Promise<ExitCode> {
  const { dataDir } = settings
  const temporal = embeddedTemporalPid(dataDir)
  const answer = await askBackground(dataDir, 'stop')
  const pid = answer && pidOf(answer)
  if (answer?.state === 'silent') await endSilent(answer.pid, io)
  else if (pid !== undefined) await endInOrder(pid, io)
  // One that was killed has left it, and one that its own server kept from closing in time.
  const temporalPid = await clearLeftOverTemporal(dataDir, temporal)
  const stopped = pid ?? temporalPid
  noteDown(dataDir, pid)
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

/** Waits for one that was told to end. */
async function endInOrder(pid: number, io: CommandInput['io']): Promise<void> {
  while (!(await ended(pid, SAY_EVERY_S * 1000))) io.say(line`Process ${pid} is still closing what it has started …\n`)
}

/** How long one that does not answer may take to end in order: it may only be slow. */
const END_S = 30
const SAY_EVERY_S = 10

/** Ends one that does not answer: by a signal, and by force where it does not heed that. */
async function endSilent(pid: number, io: CommandInput['io']): Promise<void> {
  process.kill(pid, 'SIGTERM')
  for (let leftS = END_S; leftS > 0; leftS -= SAY_EVERY_S) {
    io.say(line`Process ${pid} does not answer; unless it ends by itself, it is killed in ${leftS} s …\n`)
    if (await ended(pid, SAY_EVERY_S * 1000)) return
  }
  process.kill(pid, 'SIGKILL')
  await ended(pid)
}

/** Whether no process has this id any more by then. */
async function ended(pid: number, withinMs = Number.POSITIVE_INFINITY): Promise<boolean> {
  const until = performance.now() + withinMs
  while (isAlive(pid)) {
    if (performance.now() > until) return false
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return true
}
