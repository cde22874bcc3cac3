/**
 * Where a bench keeps its files: a folder of its own, which the process that has started the bench removes, however the bench
 * ends. A bench that is ended in the middle has filled a disk before.
 */
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The process that removes it stands in its name. */
const PREFIX = 'quorate-bench-'

/** What ends a bench at a terminal or in CI. */
const ENDS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Removes the folders of benches whose process is gone: SIGKILL leaves nobody who would. */
export function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir()).filter((name) => name.startsWith(PREFIX))) {
    const pid = Number(/^\d+(?=-)/.exec(name.slice(PREFIX.length))?.[0])
    if (!isThere(pid)) rmSync(join(tmpdir(), name), { recursive: true, force: true })
  }
}

/** Runs a file in a process of its own, whose temporary folder is removed once it and all that it has started are gone. */
export async function runInFolder(file: URL, args: readonly string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`))
  // PostgreSQL runs as another user, and reaches its own folder through this one.
  chmodSync(folder, 0o711)
  // A group of its own, so that what it has started can be ended with it.
  const child = spawn(process.execPath, [...process.execArgv, fileURLToPath(file), ...args], {
    env: { ...process.env, TMPDIR: folder },
    stdio: 'inherit',
    detached: true,
  })
  const end = (signal: NodeJS.Signals) => endGroup(child.pid, signal)
  for (const signal of ENDS) process.on(signal, end)
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve([code, signal]))
  })
  endGroup(child.pid, 'SIGKILL')
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  for (const one of ENDS) process.off(one, end)
  if (signal === null) return code ?? 1
  process.exit(128 + constants.signals[signal])
}

function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function isThere(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
