/**
 * Which test files run how, by what they import: no list that somebody has to keep.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { importsIn } from './imports.ts'

const root = join(import.meta.dirname, '..')

/** What starts a process, a service or a Temporal server. */
const STARTERS = [
  'node:child_process',
  'test/temporal.ts',
  'test/worker-runtime.ts',
  'test/service/harness.ts',
  'src/service/index.ts',
  'src/service/service.ts',
]

export interface Selection {
  /** Starts nothing, itself or by what it imports from the tests: what a person runs after each edit. */
  readonly quick: readonly string[]
  readonly whole: readonly string[]
  /** Replaces modules, and so must be the first to load them: each has a process of its own. */
  readonly alone: readonly string[]
}

export function selectTests(): Selection {
  const all = globSync('test/**/*.test.ts', { cwd: root }).sort()
  const alone = all.filter((file) => readText(file).includes('\nvi.mock('))
  const quick = all.filter((file) => !alone.includes(file) && !reachesStarter(file, new Set()))
  return { quick, alone, whole: all.filter((file) => !alone.includes(file) && !quick.includes(file)) }
}

function reachesStarter(file: string, seen: Set<string>): boolean {
  if (STARTERS.includes(file)) return true
  if (seen.has(file) || !file.startsWith('test/') || !existsSync(join(root, file))) return false
  seen.add(file)
  // Types start nothing.
  return importsIn(file, readText(file)).some(({ to, typeOnly }) => !typeOnly && reachesStarter(to, seen))
}

function readText(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}
