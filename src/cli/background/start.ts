import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { environmentOfBackground } from '../../config/index.ts'
import { QuorateError } from '../../diagnostics/index.ts'
import { ensurePrivateFolder, tightenPrivate } from '../../local/index.ts'
import { mainPath } from '../main-path.ts'
import { bootstrapOrganization } from './bootstrap.ts'
import { askBackground, lookAtBackground, silentBackground } from './control.ts'
import { backgroundDown } from './down.ts'
import type { BackgroundNews, BackgroundStart, BackgroundStatus } from './model.ts'

/** How long the folder may be taken by a process that does not answer: it is about to, or is another command's. */
const SILENT_MS = 20_000
const PAUSE_MS = 200
/** Signals by which a person or a supervisor ends the command that starts it. */
const STOPS = ['SIGINT', 'SIGTERM'] as const
/** How long one that failed may take to close what it had started. */
const CLOSING_MS = 30_000

/**
 * Makes sure that a background process works for this data folder, organization and key, and says how to reach it. Of
 * several commands at once, one starts it and the others wait for it. What is needed is announced while it comes up (the
 * first time, Temporal may have to be built). A command that only looks (`isLook`) starts none: it throws
 * `cli/background-down`.
 */
export async function ensureBackground(
  start: BackgroundStart,
  {
    publicKey,
    announce,
    isLook = false,
  }: { readonly publicKey?: string; readonly announce: (text: string) => void; readonly isLook?: boolean },
): Promise<BackgroundStatus> {
  const { dataDir } = start
  let silentSince = performance.now()
  let waitsFor: string | undefined
  for (;;) {
    const answer = await (isLook ? lookAtBackground(dataDir) : askBackground(dataDir, 'status'))
    if (answer?.state === 'up') {
      assertIsOf(dataDir, answer.status)
      assertFits(answer.status, start, publicKey)
      return answer.status
    }
    if (answer) {
      if (answer.state !== 'silent') silentSince = performance.now()
      else if (isLook || performance.now() - silentSince > SILENT_MS) throw silentBackground(dataDir, answer.pid)
      const news = `background: process ${answer.pid} is ${answer.state}; waiting for it`
      if (news !== waitsFor) announce(news)
      waitsFor = news
    } else if (isLook) throw backgroundDown(dataDir)
    else {
      const status = await startBackground(start, announce)
      if (status) return status
      if (performance.now() - silentSince > SILENT_MS) throw inUse(dataDir)
    }
    await delay(PAUSE_MS)
  }
}

/** Throws where the background process serves another organization than that of the data folder. */
function assertIsOf(dataDir: string, { embeddedService, organizationId, pid }: BackgroundStatus): void {
  if (!embeddedService) return
  const own = bootstrapOrganization(dataDir)
  if (own === organizationId) return
  throw new QuorateError('cli/background-other', 'the background process works for another organization', {
    facts: { pid, organization: organizationId, 'organization of bootstrap.json': own },
    next: 'stop it with `quorate down` and run this again',
  })
}

function inUse(dataDir: string): QuorateError {
  return new QuorateError('cli/background-failed', `another process has \`${dataDir}\` and does not answer`, {
    facts: { folder: dataDir, 'its pid stands in': join(dataDir, 'lock.pid') },
    next: 'wait for it or end it, and run the command again',
  })
}

/** One background process serves one organization with one key: anything else would sign as the wrong user. */
function assertFits(running: BackgroundStatus, start: BackgroundStart, publicKey?: string): void {
  const differs =
    (start.baseUrl !== undefined && start.baseUrl !== running.baseUrl) ||
    (start.organizationId !== undefined && start.organizationId !== running.organizationId) ||
    (publicKey !== undefined && publicKey !== running.publicKey) ||
    (start.subOrganizationKeys !== undefined && start.subOrganizationKeys !== running.subOrganizationKeys)
  if (!differs) return
  throw new QuorateError('cli/background-other', 'the background process works for another organization or key', {
    facts: {
      pid: running.pid,
      baseUrl: running.baseUrl,
      organization: running.organizationId,
      publicKey: running.publicKey,
    },
    next: 'stop it with `quorate down` and run this again, or give this one a data folder of its own with --data-dir',
  })
}

/** Starts one; undefined when another process has the folder meanwhile. */
function startBackground(
  start: BackgroundStart,
  announce: (text: string) => void,
): Promise<BackgroundStatus | undefined> {
  ensurePrivateFolder(start.dataDir)
  const log = join(start.dataDir, 'background.log')
  const child = spawnBackground(log)
  return new Promise((resolve, reject) => {
    // Its terminal is not the child's: without this, Ctrl-C would leave behind what was on its way.
    const end = () => void child.kill('SIGTERM')
    for (const signal of STOPS) process.once(signal, end)
    const settle = (work: () => void) => {
      for (const signal of STOPS) process.removeListener(signal, end)
      child.removeAllListeners()
      if (child.connected) child.disconnect()
      child.unref()
      work()
    }
    const fail = (message: string) =>
      settle(() =>
        reject(
          new QuorateError('cli/background-failed', message, { facts: { log }, next: 'read the log, then try again' }),
        ),
      )
    child.once('error', (error) => fail(`the background process did not start: ${error.message}`))
    child.once('exit', (code, signal) => fail(`the background process ended with ${signal ?? code} while it came up`))
    child.on('message', (news: BackgroundNews) => {
      if (news.kind === 'announce') announce(news.text)
      if (news.kind === 'ready') settle(() => resolve(news.status))
      if (news.kind === 'taken') settle(() => resolve(undefined))
      if (news.kind === 'failed') {
        child.removeAllListeners()
        // It closes what it had started; a caller that is told sooner would find the rest of it.
        ended(child).then(() => settle(() => reject(toError(news.error, log))))
      }
    })
    child.send(start, (error) => {
      if (error) fail(`the background process did not start: ${error.message}`)
    })
  })
}

function spawnBackground(log: string): ChildProcess {
  tightenPrivate(log)
  const output = openSync(log, 'a', 0o600)
  try {
    return spawn(process.execPath, [mainPath, 'background'], {
      detached: true,
      env: environmentOfBackground(),
      stdio: ['ignore', output, output, 'ipc'],
    })
  } finally {
    closeSync(output)
  }
}

async function ended(child: ChildProcess): Promise<void> {
  const late = delay(CLOSING_MS, undefined, { ref: false })
  const exited = once(child, 'exit')
  if (child.exitCode === null && child.signalCode === null) await Promise.race([exited, late])
}

function toError(
  { code, message, facts, next }: Extract<BackgroundNews, { kind: 'failed' }>['error'],
  log: string,
): QuorateError {
  return new QuorateError(code as `${string}/${string}`, message, {
    facts: { ...(facts as Record<string, string>), log },
    ...(next ? { next } : {}),
  })
}
