/**
 * Runs Node scripts as another, unprivileged user of this machine: the attacker who shares the host, its temporary folder
 * and its loopback, and has no other right. Needs a test run as root; elsewhere `noOtherUser` says why, and tests are
 * skipped by name:
 *
 *     test.skipIf(noOtherUser)('sockets: a listener of another user is not believed', async () => {
 *       const { status, stdout } = await runAsOtherUser(`console.log(process.getuid())`)
 *     })
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** `nobody` on every Linux: the kernel's overflow user, which owns nothing. */
export const otherUid = 65_534

/** Why no script can run as another user here; undefined where it can. */
export const noOtherUser: string | undefined = whyNot()

/** The text of a script that runs `quorate` with the arguments that it gets: what another user of this machine would install. */
export const quorateScript = `await import(${JSON.stringify(new URL('../../src/cli/main.ts', import.meta.url).href)})`

/** Why another user cannot run `quorate` here: no other user, or a working copy that it may not read. */
export const noOtherQuorate: string | undefined = noOtherUser ?? whyNoQuorate()

export interface Ended {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface OtherUserOptions {
  readonly args?: readonly string[]
  /** Added to PATH, HOME and TMPDIR, which are all that the other user starts with. */
  readonly env?: Readonly<Record<string, string>>
  /** Another user than `otherUid`, also its group. */
  readonly uid?: number
  /** Where the script stands and runs. @default for `runAsOtherUser`, a new folder that is removed at the end */
  readonly home?: string
}

/** A folder that the other user owns, enters and writes, and that nobody but it and root can enter. */
export function otherUserHome(uid = otherUid): string {
  const home = mkdtempSync(join(tmpdir(), 'quorate-other-user-'))
  chownSync(home, uid, uid)
  chmodSync(home, 0o700)
  return home
}

/**
 * Starts a script as the other user: the text of an ES module (Node's own modules alone, or others by absolute file URL).
 * The caller reads its output, ends it, and removes its home (`otherUserHome()`).
 */
export function startAsOtherUser(
  source: string,
  { home, args = [], env = {}, uid = otherUid }: OtherUserOptions & { readonly home: string },
): ChildProcess {
  const script = join(home, `script-${process.hrtime.bigint()}.mjs`)
  writeFileSync(script, source)
  chownSync(script, uid, uid)
  return spawn(process.execPath, [script, ...args], { uid, gid: uid, cwd: home, env: ownEnvironment(home, env) })
}

/** Runs a script as the other user to its end; ends it by force after `timeoutMs`. */
export async function runAsOtherUser(
  source: string,
  { timeoutMs = 200_000, ...options }: OtherUserOptions & { readonly timeoutMs?: number } = {},
): Promise<Ended> {
  const home = options.home ?? otherUserHome(options.uid)
  const child = startAsOtherUser(source, { ...options, home })
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  let stdout = ''
  let stderr = ''
  child.stdout!.setEncoding('utf8').on('data', (part: string) => {
    stdout += part
  })
  child.stderr!.setEncoding('utf8').on('data', (part: string) => {
    stderr += part
  })
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (status, signal) => resolve({ status, signal, stdout, stderr }))
    })
  } finally {
    clearTimeout(timer)
    if (options.home === undefined) rmSync(home, { recursive: true, force: true })
  }
}

function ownEnvironment(home: string, more: Readonly<Record<string, string>>): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: home, TMPDIR: tmpdir(), ...more }
}

/** Runs Node.js as the other user to its end. */
function tryAsOther(home: string, args: readonly string[]) {
  const env = ownEnvironment(home, {})
  return spawnSync(process.execPath, args, { uid: otherUid, gid: otherUid, cwd: home, env, encoding: 'utf8' })
}

function whyNot(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can run a script as another user'
  const home = otherUserHome()
  try {
    const { stdout, error } = tryAsOther(home, ['-p', 'process.getuid()'])
    if (stdout?.trim() === String(otherUid)) return undefined
    return `another user cannot run ${process.execPath} in ${home}: ${error?.message ?? 'it failed'}`
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

function whyNoQuorate(): string | undefined {
  const home = otherUserHome()
  try {
    const script = join(home, 'script.mjs')
    writeFileSync(script, quorateScript)
    chownSync(script, otherUid, otherUid)
    const { status, stderr } = tryAsOther(home, [script, '--version'])
    return status === 0 ? undefined : `another user cannot run these sources: ${stderr}`
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
