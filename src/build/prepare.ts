/**
 * Prepare: a door, and a program that npm runs after an install, and again before the first `npx quorate` of a clone: builds, unless
 * what is in `dist` was built from the sources as they are. A build takes long, and npx says nothing meanwhile.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

const SOURCES = ['src', 'activities', 'workflows']
const SETTINGS = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']
/** In `dist`, so that every other build takes it away. */
const NOTE = join('dist', '.built-from')

const digest = await digestOfSources()
if (existsSync(NOTE) && readFileSync(NOTE, 'utf8') === digest) process.exit(0)
execFileSync('npm', ['run', 'build'], { stdio: 'inherit', shell: process.platform === 'win32' })
writeFileSync(NOTE, digest)

async function digestOfSources(): Promise<string> {
  const hash = createHash('sha256').update(process.version)
  const folders = await Promise.all(SOURCES.map((folder) => readdir(folder, { recursive: true, withFileTypes: true })))
  const files = folders.flat().flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : []))
  for (const path of [...SETTINGS, ...files].sort()) hash.update(`\0${path}\0`).update(readFileSync(path))
  return hash.digest('hex')
}
