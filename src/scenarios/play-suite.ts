import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Source } from '../diagnostics/index.ts'
import type { PolicyCount } from '../policy/index.ts'
import { type FileResult, type Played, type PlayOptions, playFiles } from './play-file.ts'
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

/** What another thread is given. */
export interface Share {
  readonly sources: readonly Source[]
  readonly world: World
  readonly options: PlayOptions
}

/** Plays files of scenarios, over several threads when they are large. */
export async function playSuite(
  sources: readonly Source[],
  world: World,
  { threads = availableParallelism(), ...options }: SuiteOptions = {},
): Promise<SuiteResult> {
  const size = sources.reduce((sum, { text }) => sum + text.length, 0)
  const most = Math.min(threads, sources.length, 1 + Math.floor(size / WORTH_A_THREAD))
  const [own = [], ...others] = shares(sources, most)
  const elsewhere = others.map((share) => playElsewhere({ sources: share, world, options }))
  const here = playFiles(own, world, options)
  const played = [here, ...(await Promise.all(elsewhere))]
  const byPath = new Map(played.flatMap((part) => part.files).map((file) => [file.path, file]))
  const files = sources.map(({ path }) => byPath.get(path)!)
  const results = files.flatMap((file) => file.results)
  const passed = results.filter(({ ok }) => ok).length
  const mistakes = files.flatMap(({ diagnostics }) => diagnostics).filter(({ severity }) => severity === 'error').length
  return {
    files,
    passed,
    failed: results.length - passed + mistakes,
    counts: addCounts(played.map(({ counts }) => counts)),
  }
}

/** Splits files into shares of about the same size, the largest files first. */
function shares(sources: readonly Source[], count: number): readonly (readonly Source[])[] {
  const parts = Array.from({ length: Math.max(1, count) }, () => ({ size: 0, sources: [] as Source[] }))
  for (const source of [...sources].sort((a, b) => b.text.length - a.text.length)) {
    const smallest = parts.reduce((least, part) => (part.size < least.size ? part : least))
    smallest.sources.push(source)
    smallest.size += source.text.length
  }
  return parts.map((part) => part.sources)
}

function playElsewhere(share: Share): Promise<Played> {
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
