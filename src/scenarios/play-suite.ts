import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Source } from '../diagnostics/index.ts'
import type { PolicyCount } from '../policy/index.ts'
import { type FileResult, type Played, type PlayOptions, playFiles } from './play-file.ts'
import { type SuitePart, splitFile } from './split.ts'
import type { World } from './world.ts'

export interface SuiteResult {
  /** In the order of the sources. */
  readonly files: readonly FileResult[]
  readonly passed: number
  /** Scenarios that failed, and mistakes in files. */
  readonly failed: number
  /** Of all files together; empty without coverage. */
  readonly counts: readonly PolicyCount[]
}

export interface SuiteOptions extends PlayOptions {
  /** @default one for each processor */
  readonly threads?: number
}

/** Characters of scenarios from which another thread pays: starting one takes as long as reading about so many. */
const WORTH_A_THREAD = 100_000

/** The input of another thread. */
export interface ThreadInput {
  readonly parts: readonly SuitePart[]
  readonly world: World
  readonly options: PlayOptions
}

/** Plays files of scenarios, over several threads when they are large; a large file's scenarios are shared out too. */
export async function playSuite(
  sources: readonly Source[],
  world: World,
  { threads = availableParallelism(), ...options }: SuiteOptions = {},
): Promise<SuiteResult> {
  const size = sources.reduce((sum, { text }) => sum + text.length, 0)
  const most = Math.min(threads, 1 + Math.floor(size / WORTH_A_THREAD))
  // Pieces are small enough that threads end at about the same time.
  const piece = Math.max(WORTH_A_THREAD / 2, size / (4 * most))
  const split = sources.map((source) => splitFile(source, most < 2 ? 1 : Math.ceil(source.text.length / piece)))
  const played = await playParts(split, world, { most, options })
  const { files, counts } = played.files.some((file, i) => split[i]!.length > 1 && file.diagnostics.length > 0)
    ? // A mistake is told as it stands in the whole file.
      await playParts(
        sources.map((source) => [{ source }]),
        world,
        { most, options },
      )
    : played
  const results = files.flatMap((file) => file.results)
  const passed = results.filter(({ ok }) => ok).length
  const mistakes = files.flatMap(({ diagnostics }) => diagnostics).filter(({ severity }) => severity === 'error').length
  return { files, passed, failed: results.length - passed + mistakes, counts }
}

/** Plays the parts of files, and joins the results again, one for each file. */
async function playParts(
  files: readonly (readonly SuitePart[])[],
  world: World,
  { most, options }: { readonly most: number; readonly options: PlayOptions },
): Promise<Played> {
  const parts = files.flat()
  const [own = [], ...others] = shares(parts, Math.min(most, parts.length))
  const elsewhere = others.map((share) => playElsewhere({ parts: share, world, options }))
  const here = playFiles(own, world, options)
  const played = [here, ...(await Promise.all(elsewhere))]
  const found = new Map([own, ...others].flatMap((share, s) => share.map((part, i) => [part, played[s]!.files[i]!])))
  return {
    files: files.map((ofFile) => {
      const results = ofFile.map((part) => found.get(part)!)
      return {
        path: ofFile[0]!.source.path,
        results: results.flatMap((one) => one.results),
        diagnostics: results.flatMap((one) => one.diagnostics),
      }
    }),
    counts: addCounts(played.map(({ counts }) => counts)),
  }
}

/** Splits parts into shares that end at about the same time, the largest first; this thread need not be started. */
function shares(all: readonly SuitePart[], count: number): readonly (readonly SuitePart[])[] {
  const taken = Array.from({ length: Math.max(1, count) }, (_, i) => ({
    size: i === 0 ? 0 : WORTH_A_THREAD,
    parts: [] as SuitePart[],
  }))
  for (const part of [...all].sort((a, b) => b.source.text.length - a.source.text.length)) {
    const smallest = taken.reduce((least, one) => (one.size < least.size ? one : least))
    smallest.parts.push(part)
    smallest.size += part.source.text.length
  }
  return taken.map(({ parts }) => parts).filter((parts, i) => i === 0 || parts.length > 0)
}

function playElsewhere(share: ThreadInput): Promise<Played> {
  // Beside this file, in the source as in what is built from it.
  const entry = new URL(import.meta.url.endsWith('.ts') ? 'worker.ts' : 'worker.js', import.meta.url)
  const worker = new Worker(entry, { workerData: share })
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', (code) => {
      if (code !== 0) reject(new Error(`a thread of the tests ended with ${code}`))
    })
  })
}

function addCounts(all: readonly (readonly PolicyCount[])[]): readonly PolicyCount[] {
  const [first = [], ...others] = all
  return first.map((policy, p) => ({
    policyId: policy.policyId,
    fields: policy.fields.map(({ field, clauses }, f) => ({
      field,
      clauses: clauses.map((clause, c) => {
        const more = others.map((counts) => counts[p]!.fields[f]!.clauses[c]!)
        const sum = (of: (one: typeof clause) => number) => more.reduce((total, one) => total + of(one), of(clause))
        return {
          ...clause,
          timesTrue: sum(({ timesTrue }) => timesTrue),
          timesFalse: sum(({ timesFalse }) => timesFalse),
          timesError: sum(({ timesError }) => timesError),
        }
      }),
    })),
  }))
}
