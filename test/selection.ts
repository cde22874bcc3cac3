/**
 * Which test files run how, by what they import: no list that somebody has to keep.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { importsIn } from './imports.ts'

const root = join(import.meta.dirname, '..')

/** What starts a process, a service, a provider of logins, a Temporal server or a worker, and what builds copies of the source with mistakes in them. */
const STARTERS = [
  'node:child_process',
  '@temporalio/worker',
  'oidc-provider',
  'test/mutated.ts',
  'test/temporal.ts',
  'test/worker-runtime.ts',
  'test/service/harness.ts',
  'src/service/index.ts',
  'src/service/service.ts',
]

export interface Selection {
  /** Starts and builds nothing, itself or by what it imports from the tests: what a person runs after each edit. */
  readonly quick: readonly string[]
  readonly whole: readonly string[]
  /** Replaces modules, and so must be the first to load them: each has a process of its own. */
  readonly alone: readonly string[]
}

/** Starts services whose rows are in the store that `QUORATE_TEST_STORE` names. */
const HARNESS = 'test/service/harness.ts'

/**
 * @param options.onPostgres only what keeps rows in the store of a service, for a run with that store in PostgreSQL. The others, such as
 * what opens a SQLite file or a PostgreSQL of its own, do there what they do in any run.
 */
export function selectTests({ onPostgres = false }: { readonly onPostgres?: boolean } = {}): Selection {
  const found = globSync('test/**/*.test.ts', { cwd: root }).sort()
  const all = onPostgres ? found.filter((file) => reaches(file, [HARNESS], new Set())) : found
  const alone = all.filter((file) => readText(file).includes('\nvi.mock('))
  const quick = all.filter((file) => !alone.includes(file) && !reaches(file, STARTERS, new Set()))
  return { quick, alone, whole: all.filter((file) => !alone.includes(file) && !quick.includes(file)) }
}

function reaches(file: string, those: readonly string[], seen: Set<string>): boolean {
  if (those.includes(file)) return true
  if (seen.has(file) || !file.startsWith('test/') || !existsSync(join(root, file))) return false
  seen.add(file)
  // Types start nothing.
  return importsIn(file, readText(file)).some(({ to, typeOnly }) => !typeOnly && reaches(to, those, seen))
}

function readText(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}
