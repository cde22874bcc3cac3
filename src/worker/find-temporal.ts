/**
 * Finds a `temporal` binary for the embedded server, in this order: the PATH, the cache folder, the SDK's download
 * place, a build from source into the cache folder. Whoever has TEMPORAL_ADDRESS set needs none of it.
 */
import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access, chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { takeEnvironment } from '../config/index.ts'
import { WorkerError } from './error.ts'

/** The newest version that `go install` builds: later ones have replace directives. */
export const TEMPORAL_VERSION = '1.5.1'

export type Announce = (message: string) => void

export interface FindTemporalOptions {
  readonly announce: Announce
  /** @default the process's own */
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly fetch?: typeof globalThis.fetch
  /** Longest that asking for and fetching the download may take. @default 5 s to answer, 2 min in all */
  readonly downloadMs?: { readonly answer: number; readonly whole: number }
  readonly signal?: AbortSignal
}

/** What each way brought: a binary, or why not. */
type Attempt = { readonly binary: string } | { readonly failed: string }

/** Finds, downloads or builds the binary and returns its path. Throws `worker/temporal-missing` listing what was tried. */
export async function findTemporal(options: FindTemporalOptions): Promise<string> {
  const { announce, environment = takeEnvironment() } = options
  const cache = cacheFolder(environment)
  const ways: readonly [string, () => Promise<Attempt>][] = [
    ['PATH', () => onPath(environment)],
    ['cache', () => inCache(cache)],
    ['download', () => download(cache, options)],
    ['go install', () => build(cache, environment, options)],
  ]
  const tried: Record<string, string> = {}
  for (const [name, attempt] of ways) {
    const result = await attempt()
    if ('binary' in result) return result.binary
    tried[name] = result.failed
    announce(`temporal: ${name}: ${result.failed}`)
  }
  throw new WorkerError('worker/temporal-missing', 'no `temporal` binary could be found, downloaded or built', {
    facts: tried,
  })
}

/** `quorate/temporal-1.5.1` in the user's cache folder (XDG base directories). */
export function cacheFolder(environment: Readonly<Record<string, string | undefined>>): string {
  const base = environment.XDG_CACHE_HOME || join(environment.HOME || homedir(), '.cache')
  return join(base, 'quorate', `temporal-${TEMPORAL_VERSION}`)
}

async function onPath(environment: Readonly<Record<string, string | undefined>>): Promise<Attempt> {
  const binary = await findProgram('temporal', environment)
  return binary === undefined ? { failed: 'no `temporal` on the PATH' } : { binary }
}

async function inCache(cache: string): Promise<Attempt> {
  const binary = join(cache, 'temporal')
  return (await isProgram(binary)) ? { binary } : { failed: `nothing at ${binary}` }
}

/** Asks the place that Temporal's SDKs download their test server from for an archive, and unpacks it. */
async function download(cache: string, options: FindTemporalOptions): Promise<Attempt> {
  const { announce, fetch = globalThis.fetch, downloadMs = { answer: 5_000, whole: 120_000 } } = options
  const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch as string]
  const platform = { linux: 'linux', darwin: 'darwin' }[process.platform as string]
  if (!arch || !platform) return { failed: `there is no download for ${process.platform} on ${process.arch}` }
  announce(`temporal: looking for a download of version ${TEMPORAL_VERSION}`)
  const within = (ms: number) => AbortSignal.any([AbortSignal.timeout(ms), ...(options.signal ? [options.signal] : [])])
  try {
    const place = `https://temporal.download/cli/v${TEMPORAL_VERSION}?arch=${arch}&platform=${platform}&format=tar.gz`
    const answer = await fetch(place, { signal: within(downloadMs.answer) })
    if (!answer.ok) return { failed: `temporal.download answered with status ${answer.status}` }
    const { archiveUrl, fileToExtract } = (await answer.json()) as { archiveUrl: string; fileToExtract: string }
    announce('temporal: downloading')
    const archive = await fetch(archiveUrl, { signal: within(downloadMs.whole) })
    if (!archive.ok) return { failed: `the archive answered with status ${archive.status}` }
    return await unpack(cache, new Uint8Array(await archive.arrayBuffer()), fileToExtract)
  } catch (error) {
    return { failed: `no download: ${reasonOf(error)}` }
  }
}

async function unpack(cache: string, archive: Uint8Array, member: string): Promise<Attempt> {
  await mkdir(join(cache, '..'), { recursive: true })
  const folder = await mkdtemp(`${cache}-`)
  try {
    await writeFile(join(folder, 'archive.tar.gz'), archive)
    const { status, output } = await run('tar', ['-xzf', 'archive.tar.gz', member], { cwd: folder })
    if (status !== 0) return { failed: `the archive does not unpack: ${output}` }
    return await moveIn(cache, join(folder, member))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Builds from source through the Go module proxy: about five minutes on two cores, once. */
async function build(
  cache: string,
  environment: Readonly<Record<string, string | undefined>>,
  { announce, signal }: FindTemporalOptions,
): Promise<Attempt> {
  const go = await findProgram('go', environment)
  if (go === undefined) return { failed: 'no `go` on the PATH to build it with' }
  announce(`temporal: building version ${TEMPORAL_VERSION} from source; this takes about five minutes, once`)
  await mkdir(join(cache, '..'), { recursive: true })
  const folder = await mkdtemp(`${cache}-`)
  const startedAt = performance.now()
  const progress = setInterval(() => {
    announce(`temporal: still building (${Math.round((performance.now() - startedAt) / 1000)} s)`)
  }, 10_000)
  try {
    const { status, output } = await run(
      go,
      ['install', `github.com/temporalio/cli/cmd/temporal@v${TEMPORAL_VERSION}`],
      {
        env: { ...environment, GOBIN: folder, GOFLAGS: '-ldflags=-s' },
        ...(signal ? { signal } : {}),
      },
    )
    if (status !== 0) return { failed: `go install failed: ${output}` }
    return await moveIn(cache, join(folder, 'temporal'))
  } finally {
    clearInterval(progress)
    await rm(folder, { recursive: true, force: true })
  }
}

/** Puts a whole binary in its place at once: of two processes that make it, both end with a good one. */
async function moveIn(cache: string, made: string): Promise<Attempt> {
  const binary = join(cache, 'temporal')
  await mkdir(cache, { recursive: true })
  await chmod(made, 0o755)
  await rename(made, binary)
  return { binary }
}

async function findProgram(
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  for (const folder of (environment.PATH ?? '').split(delimiter)) {
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

/** Runs a program to its end; `output` is the last line of what it said. */
async function run(
  program: string,
  args: readonly string[],
  options: {
    readonly cwd?: string
    readonly env?: Readonly<Record<string, string | undefined>>
    readonly signal?: AbortSignal
  },
): Promise<{ readonly status: number | null; readonly output: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    const listen = (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4_000)
    }
    child.stdout.on('data', listen)
    child.stderr.on('data', listen)
    const last = () => said.trim().split('\n').at(-1) ?? ''
    child.on('error', (error) => resolve({ status: null, output: error.message }))
    child.on('close', (status) => resolve({ status, output: last() }))
  })
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
