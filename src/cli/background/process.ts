import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { EXIT, type ExitCode, messageOf, QuorateError, toErrorJson } from '../../diagnostics/index.ts'
import { ensurePrivateFolder, explainSystemError } from '../../local/index.ts'
import { lockFolder } from '../../service/index.ts'
import type { CommandInput } from '../command.ts'
import { createLog } from '../logger.ts'
import { type Closer, comeUp } from './come-up.ts'
import { listenForControl } from './control.ts'
import { BY_DOWN, noteBegin, noteEnd, type Why } from './down.ts'
import type { BackgroundAnswer, BackgroundNews, BackgroundStart } from './model.ts'

/** Longest that what was started may take to end: the Temporal server is given 10 s before it is ended by force. */
const CLOSING_MS = 30_000
/** How long what comes up may take to notice that it is to end. */
const NOTICING_MS = 10_000

/**
 * What `up` runs in the background: the embedded service (unless another API is named), the Temporal server (unless
 * TEMPORAL_ADDRESS names one) and a worker. It ends on SIGTERM, SIGINT, or `quorate down`, at whatever moment they come, and
 * closes what it has started in reverse order. The lock on the data folder makes it the only one there.
 */
export async function background({ environment }: CommandInput): Promise<ExitCode> {
  const stopped = new AbortController()
  let why: Why | undefined
  const stop = (because: Why) => {
    why ??= because
    stopped.abort()
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => stop({ how: `was ended by ${signal}`, isWanted: true }))
  // Everything that it and its children make in the data folder is their user's alone.
  process.umask(0o077)
  const { logger } = createLog()
  const closers: Closer[] = []
  let answer = (): BackgroundAnswer => ({ state: 'starting', pid: process.pid })
  let own: string | undefined
  try {
    const start = await receiveStart(stopped.signal)
    const { dataDir } = start
    ensurePrivateFolder(dataDir)
    if (!(await takeLock(dataDir, closers))) {
      tell({ kind: 'taken' })
      return EXIT.error
    }
    own = dataDir
    noteBegin(dataDir)
    const control = await listenForControl(dataDir, { answer: () => answer(), stop: () => stop(BY_DOWN) })
    closers.push(() => control.close())
    const { signal } = stopped
    const coming = comeUp(start, { environment, closers, logger, signal, stop, announce })
    const status = await untilUpOrStopped(coming, signal)
    answer = () => ({ state: 'up', status: status() })
    tell({ kind: 'ready', status: status() })
    await untilAborted(signal)
    return EXIT.done
  } catch (error) {
    const told = stopped.signal.aborted ? stoppedWhileStarting() : explainSystemError(error)
    why ??= { how: `did not come up (${messageOf(told)})`, isWanted: false }
    logger.error('the background process did not come up', { error: toErrorJson(told) })
    tell({ kind: 'failed', error: toErrorJson(told) })
    return EXIT.error
  } finally {
    answer = () => ({ state: 'stopping', pid: process.pid })
    const failed = (error: unknown) => logger.error('something did not close', { error: toErrorJson(error) })
    // Before it closes: where that takes too long it is killed.
    if (own !== undefined && why) noteQuietly(own, why, failed)
    await closeAll(closers, failed)
  }
}

function receiveStart(signal: AbortSignal): Promise<BackgroundStart> {
  return new Promise((resolve, reject) => {
    process.once('message', (start) => resolve(start as BackgroundStart))
    process.once('disconnect', () => reject(new Error('the command that started it ended')))
    signal.addEventListener('abort', () => reject(signal.reason))
  })
}

/** Makes this the background process of a data folder; false when there is one already, or one is about to be. */
async function takeLock(dataDir: string, closers: Closer[]): Promise<boolean> {
  try {
    const lock = await lockFolder(dataDir)
    closers.push(() => lock.release())
    return true
  } catch (error) {
    if (error instanceof QuorateError && error.code === 'service/data-folder-in-use') return false
    throw error
  }
}

/** A note that cannot be written keeps nothing from being closed. */
function noteQuietly(dataDir: string, why: Why, failed: (error: unknown) => void): void {
  try {
    noteEnd(dataDir, why)
  } catch (error) {
    failed(error)
  }
}

/** Closes everything, also after something that did not close. */
async function closeAll(closers: Closer[], failed: (error: unknown) => void): Promise<void> {
  const late = setTimeout(() => process.exit(EXIT.error), CLOSING_MS)
  for (const close of closers.reverse()) {
    try {
      await close()
    } catch (error) {
      failed(error)
    }
  }
  clearTimeout(late)
  // What did not notice in time holds nothing that must be closed.
  setTimeout(() => process.exit(), 1_000).unref()
}

/** Once stopped, waits only as long as it takes to notice: what was on its way is then among what is closed. */
async function untilUpOrStopped<T>(coming: Promise<T>, signal: AbortSignal): Promise<T> {
  const stopped = untilAborted(signal).then(async (): Promise<never> => {
    await delay(NOTICING_MS, undefined, { ref: false })
    throw signal.reason
  })
  const up = await Promise.race([coming, stopped])
  signal.throwIfAborted()
  return up
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}

function stoppedWhileStarting(): QuorateError {
  return new QuorateError('cli/background-failed', 'the background process was stopped while it came up', {
    next: 'run the command again',
  })
}

const announce = (text: string) => tell({ kind: 'announce', text })

function tell(news: BackgroundNews): void {
  // The parent may have ended: a closed terminal only detaches.
  if (process.connected) process.send?.(news, undefined, undefined, () => {})
}
