/**
 * Keeps the workflows of a release, for the tests that replay today's histories against them: `node test/workflows/last-release/keep.ts REF`
 * after REF was released. What a worker bundles is kept, and what it imports, as one file of sources.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { KeptWorkflows } from './bundle.ts'

const [ref] = process.argv.slice(2)
if (ref === undefined) throw new Error('expected the tag or commit of a release')
const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8', maxBuffer: 16 * 1_048_576 })

/** What a worker hands to the bundler (`src/worker/worker.ts`). */
const ENTRIES = ['index', 'interceptors', 'payload-converter', 'failure-converter'].map(
  (name) => `workflows/${name}.ts`,
)
/** Types are gone when it runs. */
const IMPORT = /^(?:import|export) (?!type )[^'";]*?from '(\.[^']+)'|^import '(\.[^']+)'/gm

const commit = git('rev-parse', `${ref}^{commit}`).trim()
const files: Record<string, string> = {}
const wanted = [...ENTRIES]
for (let path = wanted.pop(); path !== undefined; path = wanted.pop()) {
  if (path in files) continue
  const text = git('show', `${commit}:${path}`)
  files[path] = text
  for (const [, one, other] of text.matchAll(IMPORT)) wanted.push(posix.join(posix.dirname(path), (one ?? other)!))
}
const sorted = Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)))
const kept: KeptWorkflows = { commit, date: git('log', '-1', '--format=%cs', commit).trim(), files: sorted }
writeFileSync(join(import.meta.dirname, 'workflows.json'), `${JSON.stringify(kept, null, 2)}\n`)
