/** Runs the CLI as people do: as a process, with an environment of its own and a folder of its own. */

import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Plan, readPlan } from '../../src/plan/index.ts'
import { builtMain, compileCache } from '../built.ts'
import { ROOMY_HEAP } from '../heap.ts'
import { TEST_PAYLOAD_KEY } from '../payload-key.ts'
import { programFile } from '../programs.ts'
import { temporaryFolder } from '../scratch.ts'
import type { TestService } from '../service/harness.ts'
import { spent } from '../spent.ts'
import { startBuilt } from '../started.ts'
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

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly input?: string
  /** The beginning of the command line that starts the process, such as `setpriv` with its options. */
  readonly by?: readonly string[]
}

/** Commands that have not ended. They end with this process, whatever became of the test that waits for them. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Runs `quorate` with nothing of this process's environment but the path. */
export function quorate(args: readonly string[], { env = {}, cwd, input, by = [] }: Surroundings = {}): Promise<Ran> {
  const [program, ...words] = [...by, process.execPath, builtMain(), ...args] as [string, ...string[]]
  const child = spawn(program, words, {
    env: { ...environment(), ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stdio: 'pipe',
  })
  running.add(child)
  child.once('close', () => running.delete(child))
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

const environment = () => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  ...temporaryFolder(),
  CI: 'true',
  // By which a run of CI finds what a test left running.
  ...(process.env['CI_RUN'] ? { CI_RUN: process.env['CI_RUN'] } : {}),
  ...compileCache(),
})

/**
 * The same for tests of what commands say and do, and not of their processes: one that asks or writes once shares a process with
 * others of its kind. To load everything costs several times what most of them do. It ends when a process of its own would.
 */
export function quorateShared(args: readonly string[], surroundings: Surroundings = {}): Promise<Ran> {
  const { env = {}, cwd = process.cwd() } = surroundings
  const free = mayShare(args, surroundings) ? freeProcess('QUORATE_PAYLOAD_KEY' in env) : undefined
  return free ? free.quorate(args, { env, cwd }) : quorate(args, surroundings)
}

/** The commands that need no service, and those that ask one. */
const WITHOUT_SERVICE = ['validate', 'fmt', 'completion', 'policy', 'snapshot']
const WITH_SERVICE = [
  ...['init', 'import', 'plan', 'apply', 'show', 'unmanaged', 'activities', 'whoami', 'status'],
  ...['approvals', 'review', 'approve', 'reject'],
  ...['send', 'sends', 'clock', 'fault', 'watch', 'push'],
  ...['who-can', 'evidence', 'rotate', 'incident'],
]

/** Whether a command starts nothing, stays no longer than it works, and keeps no secret of its environment but that of all tests. */
function mayShare([name = '', ...words]: readonly string[], { env = {}, input, by }: Surroundings): boolean {
  // An empty input is what the shared ones have.
  if (input || by !== undefined || words.includes('lsp') || words.includes('--watch')) return false
  const { QUORATE_PAYLOAD_KEY: payloadKey = TEST_PAYLOAD_KEY, ...rest } = env
  if (payloadKey !== TEST_PAYLOAD_KEY) return false
  if (Object.keys(rest).some((variable) => /^NODE_|(KEY|PASSWORD|SECRET|TOKEN|PLAN_STORE)$/.test(variable)))
    return false
  return WITHOUT_SERVICE.includes(name) || (WITH_SERVICE.includes(name) && env['QUORATE_BASE_URL'] !== undefined)
}

/** Those with the payload key and those without; a test that runs more commands at once starts a process for each other. */
const SHARED_AT_MOST = 2
const shared = { keyed: [] as OneProcess[], keyless: [] as OneProcess[] }

function freeProcess(isKeyed: boolean): OneProcess | undefined {
  const those = isKeyed ? shared.keyed : shared.keyless
  const free = those.find(({ isFree }) => isFree())
  if (free || those.length === SHARED_AT_MOST) return free
  const made = createOneProcess()
  those.push(made)
  return made
}

type OneProcess = ReturnType<typeof createOneProcess>

/**
 * Runs command lines one after the other in one process, which has loaded everything once. None may end its process by itself,
 * or tell another by its environment which key is in use.
 */
export function createOneProcess() {
  const child = fork(programFile('test/cli/one-process.ts'), {
    env: environment(),
    execArgv: [...ROOMY_HEAP],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  // It goes with this process, which does not wait for it.
  child.unref()
  child.channel?.unref()
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  let seconds = 0
  return {
    isFree: () => waiting === 0 && child.connected,
    quorate(args: readonly string[], { env, cwd }: Omit<Line, 'args'>): Promise<Ran> {
      waiting++
      const ran = last.then(async () => {
        const settled = new AbortController()
        const answered = ['message', 'exit'].map((event) => once(child, event, settled))
        child.send({ args, env, cwd })
        const [answer] = await Promise.race(answered)
        settled.abort()
        if (typeof answer !== 'object') throw new Error(`\`quorate ${args.join(' ')}\` ended its process: ${answer}`)
        const { seconds: spentUpToNow, ...rest } = answer as Ran & { readonly seconds: number }
        spent.seconds += spentUpToNow - seconds
        seconds = spentUpToNow
        return rest
      })
      last = ran.catch(() => {}).finally(() => waiting--)
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
  const { words, said, end } = startBuilt(['serve', '--json', '--folder', folder, ...args], env)
  const stop = () => end('SIGTERM')
  onTestFinished(stop)
  const { pid, baseUrl, organizationId } = (await words()) as Pick<Serving, 'pid' | 'baseUrl' | 'organizationId'>
  return { pid, folder, baseUrl, organizationId, said, stop }
}

/** The beginning of definitions of an organization whose id the environment gives. */
export const ACME = 'organization: acme\nid: ${env.ACME_ORGANIZATION_ID}\n'

/** Plans a folder, and reads the plan that the command prints. */
export async function planJson(
  env: Readonly<Record<string, string>>,
  folder: string,
  ...more: readonly string[]
): Promise<{ readonly exit: number | null; readonly plan: Plan }> {
  const { exit, stdout, stderr } = await quorateShared(['plan', folder, '--json', ...more], { env })
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
  service: Pick<TestService, 'url' | 'organizationId'>,
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
