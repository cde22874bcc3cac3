/**
 * Finds the Temporal server's binary for the embedded server, in this order: the PATH, the cache folder, a build from
 * source into the cache folder. None of it is needed where TEMPORAL_ADDRESS is set. Nothing is downloaded ready-made: no
 * digest of a released archive is published where it could be checked, and what nobody checked is not run.
 */
import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access, chmod, lstat, mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { takeEnvironment, withoutSecrets } from '../config/index.ts'
import { messageOf } from '../diagnostics/index.ts'
import { assertPrivateFolder, ensurePrivateFolder } from '../local/index.ts'
import { WorkerError } from './error.ts'

export const TEMPORAL_VERSION = '1.29.1'
const MODULE = 'go.temporal.io/server'
/** Digest of the module's source as the public checksum database has it (`go mod download -json`, `Sum`). */
const MODULE_SUM = 'h1:sgiMveg/8e51lA62pWb9VzC5WTRitKFyT6XsjonHUhE='
const BINARY = 'temporal-server'

export type Announce = (message: string) => void
type Environment = Readonly<Record<string, string | undefined>>

export interface FindTemporalOptions {
  readonly announce: Announce
  /** @default the process's own */
  readonly environment?: Environment
  /** Ends the search, and a build that is under way. */
  readonly signal?: AbortSignal
}

/** The result of each way to find a server: a binary, or the reason why there is none. */
type Attempt = { readonly binary: string } | { readonly failed: string }

/** Finds or builds the binary and returns its path. Throws `worker/temporal-missing` listing what was tried. */
export async function findTemporal(options: FindTemporalOptions): Promise<string> {
  const { announce, environment = takeEnvironment(), signal } = options
  const ways: readonly [string, () => Promise<Attempt>][] = [
    ...waysAtHand(environment),
    ['go install', () => build(cacheFolder(environment), environment, options)],
  ]
  const tried: Record<string, string> = {}
  for (const [name, attempt] of ways) {
    signal?.throwIfAborted()
    const result = await attempt()
    if ('binary' in result) return result.binary
    tried[name] = result.failed
    announce(`temporal: ${result.failed}`)
  }
  signal?.throwIfAborted()
  throw new WorkerError('worker/temporal-missing', 'no Temporal server could be found or built', { facts: tried })
}

/** The binary that is here already; undefined when it would have to be built. */
export async function locateTemporal(environment: Environment): Promise<string | undefined> {
  for (const [, attempt] of waysAtHand(environment)) {
    const result = await attempt()
    if ('binary' in result) return result.binary
  }
  return undefined
}

function waysAtHand(environment: Environment): readonly [string, () => Promise<Attempt>][] {
  return [
    ['PATH', () => onPath(environment)],
    ['cache', () => inCache(cacheFolder(environment))],
  ]
}

/** `quorate/temporal-server-1.29.1` in the user's cache folder (XDG base directories). */
export function cacheFolder(environment: Environment): string {
  const base = environment['XDG_CACHE_HOME'] || join(environment['HOME'] || homedir(), '.cache')
  return join(base, 'quorate', `temporal-server-${TEMPORAL_VERSION}`)
}

async function onPath(environment: Environment): Promise<Attempt> {
  const binary = await findProgram(BINARY, environment)
  return binary === undefined ? { failed: `no \`${BINARY}\` on the PATH` } : { binary }
}

async function inCache(cache: string): Promise<Attempt> {
  const binary = join(cache, BINARY)
  if (!(await isProgram(binary))) return { failed: `nothing at ${binary}` }
  for (const path of [join(cache, '..'), cache, binary]) {
    const [itself, { uid, mode }] = [await lstat(path), await stat(path)]
    const others = (user: number) => user !== (process.getuid?.() ?? user) && user !== 0
    // A user who could replace it, or the link to it, would have it run as this user, with the keys of its data folders.
    if (others(itself.uid) || others(uid) || mode & 0o022) return { failed: `${path} can be written by another user` }
  }
  return { binary }
}

/**
 * Builds from source through the Go module proxy. The module must be the one whose digest stands here; what it is made
 * of is then fixed too, by the versions in its go.mod and the digests of those in the public checksum database, which is
 * asked whatever this machine's settings say of it.
 */
async function build(
  cache: string,
  environment: Environment,
  { announce, signal }: FindTemporalOptions,
): Promise<Attempt> {
  const go = await findProgram('go', environment)
  if (go === undefined) return { failed: 'no `go` on the PATH to build it with' }
  try {
    ensurePrivateFolder(join(cache, '..'))
    assertPrivateFolder(cache)
  } catch (error) {
    return { failed: messageOf(error) }
  }
  announce(`temporal: building server ${TEMPORAL_VERSION} from source; this takes about two minutes, once`)
  const folder = await mkdtemp(`${cache}-`)
  const startedAt = performance.now()
  const progress = setInterval(() => {
    announce(`temporal: still building (${Math.round((performance.now() - startedAt) / 1000)} s)`)
  }, 10_000)
  const env = { ...withoutSecrets(environment), ...CHECKED, GOBIN: folder, GOFLAGS: '-ldflags=-s' }
  try {
    const module = await run(go, ['mod', 'download', '-json', `${MODULE}@v${TEMPORAL_VERSION}`], { env, signal })
    if (module.status !== 0) return { failed: `go mod download failed: ${reasonOf(module.output)}` }
    const sum = sumOf(module.output)
    if (sum !== MODULE_SUM) return { failed: `the source has the digest ${sum}, expected ${MODULE_SUM}` }
    const built = await run(go, ['install', `${MODULE}/cmd/server@v${TEMPORAL_VERSION}`], { env, signal })
    if (built.status !== 0) return { failed: `go install failed: ${reasonOf(built.output)}` }
    return await moveIn(cache, join(folder, 'server'))
  } finally {
    clearInterval(progress)
    await rm(folder, { recursive: true, force: true })
  }
}

/** Go's settings that could leave a download unchecked, set to what checks it. */
const CHECKED = { GOSUMDB: 'sum.golang.org', GONOSUMDB: '', GOPRIVATE: '', GOINSECURE: '', GOWORK: 'off' }

function sumOf(output: string): string {
  try {
    return String((JSON.parse(output) as { Sum?: unknown }).Sum)
  } catch {
    return 'that cannot be read'
  }
}

/** Puts a whole binary in its place at once: of two processes that make it, both end with a good one. */
async function moveIn(cache: string, made: string): Promise<Attempt> {
  const binary = join(cache, BINARY)
  ensurePrivateFolder(cache)
  await chmod(made, 0o755)
  await rename(made, binary)
  return { binary }
}

async function findProgram(name: string, environment: Environment): Promise<string | undefined> {
  for (const folder of (environment['PATH'] ?? '').split(delimiter)) {
    if (folder !== '' && (await isProgram(join(folder, name)))) return join(folder, name)
  }
  return undefined
}

async function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

/** Runs a program to its end; `output` is what it said on stdout, or when it fails the end of all that it said. */
async function run(
  program: string,
  args: readonly string[],
  { env, signal }: { readonly env: Environment; readonly signal: AbortSignal | undefined },
): Promise<{ readonly status: number | null; readonly output: string }> {
  return new Promise((resolve) => {
    // A group of its own, so that the compilers that it starts end with it.
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    const end = () => child.pid !== undefined && process.kill(-child.pid, 'SIGTERM')
    signal?.addEventListener('abort', end, { once: true })
    let [said, all] = ['', '']
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        all = (all + chunk.toString()).slice(-4_000)
      })
    }
    child.on('error', (error) => resolve({ status: null, output: error.message }))
    child.on('close', (status) => {
      signal?.removeEventListener('abort', end)
      resolve({ status, output: status === 0 ? said : all })
    })
  })
}

function reasonOf(output: string): string {
  return output.trim().split('\n').at(-1) ?? ''
}
