import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { extname, join } from 'node:path'
import { QuorateError } from '../../diagnostics/index.ts'
import { askBackground } from './control.ts'
import type { BackgroundNews, BackgroundStart, BackgroundStatus } from './model.ts'

/**
 * Makes sure that a background process works for this data folder, organization and key, and says how to reach it.
 * What is needed is announced while it comes up (the first time, Temporal may have to be built).
 */
export async function ensureBackground(
  start: BackgroundStart,
  { publicKey, announce }: { readonly publicKey?: string; readonly announce: (text: string) => void },
): Promise<BackgroundStatus> {
  const running = await askBackground(start.dataDir, 'status')
  if (!running) return startBackground(start, announce)
  assertFits(running, start, publicKey)
  return running
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

function startBackground(start: BackgroundStart, announce: (text: string) => void): Promise<BackgroundStatus> {
  mkdirSync(start.dataDir, { recursive: true, mode: 0o700 })
  const log = join(start.dataDir, 'background.log')
  const output = openSync(log, 'a', 0o600)
  const main = join(import.meta.dirname, `../main${extname(import.meta.filename)}`)
  const child = spawn(process.execPath, [main, 'background'], {
    detached: true,
    stdio: ['ignore', output, output, 'ipc'],
  })
  closeSync(output)
  return new Promise((resolve, reject) => {
    const fail = (message: string, next: string) =>
      reject(new QuorateError('cli/background-failed', message, { facts: { log }, next }))
    child.once('error', (error) =>
      fail(`the background process did not start: ${error.message}`, 'read the log, then try again'),
    )
    child.once('exit', (code, signal) =>
      fail(`the background process ended with ${signal ?? code} while it came up`, 'read the log, then try again'),
    )
    child.on('message', (news: BackgroundNews) => {
      if (news.kind === 'announce') announce(news.text)
      if (news.kind === 'failed') {
        child.removeAllListeners('exit')
        const { code, message, facts, next } = news.error
        reject(
          new QuorateError(code as `${string}/${string}`, message, {
            facts: { ...(facts as Record<string, string>), log },
            ...(next ? { next } : {}),
          }),
        )
      }
      if (news.kind === 'ready') {
        child.removeAllListeners()
        child.disconnect()
        child.unref()
        resolve(news.status)
      }
    })
    child.send(start)
  })
}
