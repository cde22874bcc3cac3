import { type QuorateError, withoutKeys } from '../src/diagnostics/index.ts'
import { readPrivate, systemWords, tryPrivate, writePrivate } from '../src/local/index.ts'
import { parseKeyText, runCommand, withoutSecrets } from '../src/stamp/index.ts'
import { Secret } from '../src/telemetry/index.ts'
import { ApplyError } from './error.ts'
import type { RotationKey } from './rotation-keys.ts'
import type { RotationSink, StoreSink } from './rotation-model.ts'
import { putIntoStore, StoreAway, type StoreTools } from './rotation-stores.ts'

/** How long a command may take. */
const COMMAND_MS = 60_000

/** Called with the private key that a sink had, before another one takes its place. */
type Replacing = (privateKey: Secret) => void

interface Handing {
  /** Whose key it is, for a command that takes many. */
  readonly named: { readonly user: string; readonly key: string }
  readonly replacing: Replacing
  readonly tools: StoreTools
  /** Called before the key is given to the sink, which may have it from then on. */
  readonly offering: () => Promise<unknown>
  /** Whether it was given before: the sink may have it, whatever it says now. */
  readonly wasOffered: boolean
}

/**
 * Hands a new key to its sink. The private key that it replaces there is given to `replacing` first, where it can be read. Done
 * again, it leaves the same. Throws `rotate/sink-failed`, and `rotate/sink-away` for what another try may mend.
 */
export async function handTo(
  sink: RotationSink,
  key: RotationKey,
  { replacing, named, ...ofStores }: Handing,
): Promise<void> {
  try {
    switch (sink.kind) {
      case 'file':
        return await replaceFile(sink.path, key, { replacing, ...ofStores })
      case 'env-file':
        return await replaceLine(sink, key, { replacing, ...ofStores })
      case 'command':
        await ofStores.offering()
        return await runSink(sink.command, key, named)
      case 'store':
        return await putIntoStore(sink, key.privateKey, {
          ...ofStores,
          replacing: (before) => tell(replacing, /^\s*([0-9a-fA-F]{64})(?::p256)?\s*$/.exec(before)?.[1]),
        })
      default:
        return sink satisfies never
    }
  } catch (error) {
    // INVARIANT: a key that a sink may have is not taken away, or its reader would have none that works.
    if (error instanceof StoreAway || ofStores.wasOffered) {
      throw new ApplyError(
        'rotate/sink-away',
        `the new key waits for ${sinkInWords(sink)}: ${withoutKeys((error as Error).message)}`,
      )
    }
    const why = withoutKeys((error as QuorateError).message)
    throw new ApplyError('rotate/sink-failed', `the new key could not be handed over: ${why}`, {
      facts: { sink: sinkInWords(sink) },
    })
  }
}

/** Throws `rotate/sink-failed` where a file cannot take a new key, before one is registered. What else takes it is not asked. */
export function assertTakes(sink: RotationSink): void {
  if (sink.kind !== 'file' && sink.kind !== 'env-file') return
  try {
    if (sink.kind === 'file') readReplaced(sink.path)
    else readPrivate(sink.path)
    tryPrivate(sink.path)
  } catch (error) {
    if (error instanceof ApplyError) throw error
    const words = systemWords(error)
    const says = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'its folder is not there' : words?.says
    throw new ApplyError(
      'rotate/sink-failed',
      `${sinkInWords(sink)} cannot be written: ${says ?? withoutKeys((error as Error).message)}; no key was made`,
      { facts: { sink: sinkInWords(sink), submitted: 'nothing' } },
    )
  }
}

/** A sink without what a command's own text may hold. */
export function sinkInWords(sink: RotationSink): string {
  if (sink.kind === 'command') return `the command \`${withoutSecrets(sink.command)}\``
  if (sink.kind === 'store') return storeInWords(sink)
  return sink.kind === 'file' ? `the file ${sink.path}` : `${sink.variable} in ${sink.path}`
}

/** As `--to-store` takes it. */
const storeInWords = ({ store, path, field }: StoreSink) => `${store}:${path}${field === undefined ? '' : `#${field}`}`

/** The members of a key file in JSON; one with more, such as a `bootstrap.json`, would lose them. */
const OF_A_KEY: ReadonlySet<string> = new Set(['curve', 'publicKey', 'privateKey', 'apiPublicKey', 'apiPrivateKey'])

/**
 * Reads a file that a new key is to replace: undefined where there is none. Throws `rotate/sink-failed` where it holds something
 * else than a private key, and `local/exposed`.
 */
export function readReplaced(path: string): string | undefined {
  const text = readPrivate(path)
  if (text === undefined || text.trim() === '') return undefined
  const others = othersIn(text, path)
  if (others === undefined) return text
  throw new ApplyError('rotate/sink-failed', `\`${path}\` holds ${others}, which a new key would replace`, {
    facts: { submitted: 'nothing' },
    next: 'give the new key a file of its own, or one that has a private key alone',
  })
}

/** What a file holds beside a private key; undefined where there is nothing. */
function othersIn(text: string, path: string): string | undefined {
  try {
    parseKeyText(text, path)
  } catch {
    return 'something else than a private key'
  }
  if (!text.trimStart().startsWith('{')) return undefined
  const others = Object.keys(JSON.parse(text) as object).filter((name) => !OF_A_KEY.has(name))
  return others.length === 0 ? undefined : 'more than a private key'
}

type HandingFile = Pick<Handing, 'replacing' | 'offering'>

async function replaceFile(
  path: string,
  { publicKey, privateKey }: RotationKey,
  { replacing, offering }: HandingFile,
): Promise<void> {
  const before = readReplaced(path)
  const found = /"(?:privateKey|apiPrivateKey)"\s*:\s*"([0-9a-fA-F]{64})"|^\s*([0-9a-fA-F]{64})(?::p256)?\s*$/.exec(
    before ?? '',
  )
  const had = found?.[1] ?? found?.[2]
  if (had?.toLowerCase() === privateKey.reveal()) return
  tell(replacing, had)
  await offering()
  writePrivate(path, `${JSON.stringify({ curve: 'p256', publicKey, privateKey: privateKey.reveal() }, undefined, 2)}\n`)
}

type EnvFile = Extract<RotationSink, { readonly kind: 'env-file' }>

async function replaceLine(
  { path, variable }: EnvFile,
  { privateKey }: RotationKey,
  { replacing, offering }: HandingFile,
): Promise<void> {
  const lines = (readPrivate(path) ?? '').split('\n')
  const isIt = (one: string) => one.replace(/^export /, '').startsWith(`${variable}=`)
  const before = lines.find(isIt)
  const line = `${before?.startsWith('export ') ? 'export ' : ''}${variable}=${privateKey.reveal()}`
  const rest = lines.at(-1) === '' ? lines.slice(0, -1) : lines
  const next = before === undefined ? [...rest, line] : rest.map((one) => (isIt(one) ? line : one))
  const had = /=["']?([0-9a-fA-F]{64})(?::p256)?["']?\s*$/.exec(before ?? '')?.[1]
  if (had?.toLowerCase() === privateKey.reveal()) return
  tell(replacing, had)
  await offering()
  writePrivate(path, `${next.join('\n')}\n`)
}

function tell(replacing: Replacing, hex: string | undefined): void {
  if (hex !== undefined) replacing(new Secret(hex.toLowerCase()))
}

/**
 * Runs a command with the key on its stdin, and whose key it is in variables: names are no part of its text. What it prints is
 * thrown away, as it may print the key.
 */
async function runSink(
  command: string,
  { publicKey, privateKey }: RotationKey,
  named: Handing['named'],
): Promise<void> {
  const variables = {
    QUORATE_ROTATED_USER: named.user,
    QUORATE_ROTATED_KEY: named.key,
    QUORATE_NEW_PUBLIC_KEY: publicKey,
  }
  const assigned = Object.entries(variables).map(([name, value]) => `${name}=${quoted(value)}`)
  await runCommand({
    command: `export ${assigned.join(' ')}\n{\n${command}\n} > /dev/null 2>&1`,
    input: Buffer.from(`${privateKey.reveal()}\n`),
    timeoutMs: COMMAND_MS,
    expected: 'nothing',
    // One that did not end by itself may have put the key where it belongs.
    failed: (reason, status) => {
      const why = `the command failed: ${reason}`
      return status === undefined ? new StoreAway(why) : new Error(why)
    },
  })
}

/** One word of a shell, whatever is in it (POSIX 2.2.2). */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
