/** Runs the CLI as people do: as a process, with an environment of its own and a folder of its own. */

import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Plan, readPlan } from '../../src/plan/index.ts'
import { builtMain, compileCache } from '../built.ts'
import type { TestService } from '../service/harness.ts'
import type { Line } from './one-process.ts'

export interface Ran {
  readonly exit: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A folder of one test's own, removed after it, or when `atEnd` says. */
export function testFolder(atEnd: (work: () => Promise<void>) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-cli-'))
  atEnd(async () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** Writes files under a folder. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

/** Runs `quorate` with nothing of this process's environment but the path. */
export function quorate(
  args: readonly string[],
  { env = {}, cwd, input }: { env?: Readonly<Record<string, string>>; cwd?: string; input?: string } = {},
): Promise<Ran> {
  const child = spawn(process.execPath, [builtMain(), ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], CI: 'true', ...compileCache(), ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stdio: 'pipe',
  })
  child.stdin.end(input)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (part) => {
    stdout += part
  })
  child.stderr.setEncoding('utf8').on('data', (part) => {
    stderr += part
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exit) => resolve({ exit, stdout, stderr }))
  })
}

/**
 * Runs command lines one after the other in one process, which has loaded everything once: for what all commands have in common.
 * None may end its process by itself, or tell another by its environment which key is in use.
 */
export function createOneProcess() {
  const child = fork(join(import.meta.dirname, 'one-process.ts'), {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], CI: 'true', ...compileCache() },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  let last: Promise<unknown> = Promise.resolve()
  return {
    quorate(args: readonly string[], { env, cwd }: Omit<Line, 'args'>): Promise<Ran> {
      const ran = last.then(async () => {
        const answered = Promise.race([once(child, 'message'), once(child, 'exit')])
        child.send({ args, env, cwd })
        const [answer] = await answered
        if (typeof answer !== 'object') throw new Error(`\`quorate ${args.join(' ')}\` ended its process: ${answer}`)
        return answer as Ran
      })
      last = ran.catch(() => {})
      return ran
    },
    close() {
      child.kill('SIGKILL')
    },
  }
}

/** `quorate serve` as a process, which is ended after the test. */
export interface Serving {
  readonly pid: number
  readonly folder: string
  readonly baseUrl: string
  readonly organizationId: string
  /** What it said on stderr up to now. */
  said(): string
  stop(): Promise<void>
}

/** Serves a folder as a process of its own, and waits until it answers. */
export async function serve(
  folder: string,
  { args = [], env = {} }: { args?: readonly string[]; env?: Readonly<Record<string, string>> } = {},
): Promise<Serving> {
  const child = spawn(process.execPath, [builtMain(), 'serve', '--json', '--folder', folder, ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...compileCache(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (part) => {
    said += part
  })
  const exit = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await exit
  }
  onTestFinished(stop)
  const [line] = await Promise.race([once(child.stdout, 'data'), exit])
  if (!(line instanceof Buffer)) throw new Error(`it did not start: ${said}`)
  const { pid, baseUrl, organizationId } = JSON.parse(String(line))
  return { pid, folder, baseUrl, organizationId, said: () => said, stop }
}

/** The beginning of definitions of an organization whose id the environment gives. */
export const ACME = 'organization: acme\nid: ${env.ACME_ORGANIZATION_ID}\n'

/** Plans a folder as a process, and reads the plan that it prints. */
export async function planJson(
  env: Readonly<Record<string, string>>,
  folder: string,
  ...more: readonly string[]
): Promise<{ readonly exit: number | null; readonly plan: Plan }> {
  const { exit, stdout, stderr } = await quorate(['plan', folder, '--json', ...more], { env })
  if (!stdout.startsWith('{')) throw new Error(stderr)
  return { exit, plan: readPlan(stdout) }
}

/** A private key in a file that only its owner may read. */
export function keyFile(folder: string, name: string, privateKey: string): string {
  const path = join(folder, `${name}.key`)
  writeFileSync(path, privateKey, { mode: 0o600 })
  chmodSync(path, 0o600)
  return path
}

/** The environment of somebody who works in a test service with one key. */
export function environmentOf(
  service: TestService,
  folder: string,
  privateKey: string,
  more: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  return {
    QUORATE_BASE_URL: service.url,
    QUORATE_ORGANIZATION_ID: service.organizationId,
    QUORATE_API_KEY_FILE: keyFile(folder, 'key', privateKey),
    QUORATE_DATA_DIR: join(folder, 'data'),
    ACME_ORGANIZATION_ID: service.organizationId,
    ...more,
  }
}

/** How many activities the organization has: what was submitted and stored, counted at the service. */
export async function countActivities(service: TestService): Promise<number> {
  const { activities } = await service.root.query('list_activities', { paginationOptions: { limit: '100' } })
  return activities.length
}

/** Every file below a folder with its text, for a search through all that a run left behind. */
export function readAll(folder: string): readonly { readonly path: string; readonly text: string }[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
    .map((path) => ({ path, text: readFileSync(path, 'latin1') }))
}
