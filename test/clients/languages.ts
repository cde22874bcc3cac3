/**
 * The programs of other languages that speak to a service by the published clients, built once and kept in the user's cache
 * folder. `node test/clients/languages.ts` builds what can be: CI does before its tests, and a test what is missing then.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from './cache.ts'

const run = promisify(execFile)

/** A program that is ready, or why there is none. */
export type Program = { readonly command: readonly string[] } | { readonly missing: string }

interface Language {
  /** Must run, or the toolchain is missing. */
  readonly probe: readonly [string, ...string[]]
  /** Builds in a folder that holds the program's files and is kept for the next time. */
  readonly build: (folder: string) => Promise<readonly string[]>
  /** A build of minutes is done where somebody waits for it: in CI. @default false */
  readonly long?: boolean
}

const languages = {
  Python: {
    probe: ['python3', '--version'],
    async build(folder) {
      const python = join(folder, 'venv/bin/python')
      await run('python3', ['-m', 'venv', join(folder, 'venv')])
      await run(python, ['-m', 'pip', 'install', '--quiet', '--requirement', join(folder, 'requirements.txt')])
      return [python, join(folder, 'main.py')]
    },
  },
  Go: {
    probe: ['go', 'version'],
    async build(folder) {
      await run('go', ['build', '-mod=mod', '-o', 'languages', '.'], { cwd: folder })
      return [join(folder, 'languages')]
    },
  },
  Rust: {
    probe: ['cargo', '--version'],
    long: true,
    async build(folder) {
      await run('cargo', ['build', '--quiet', '--locked'], { cwd: folder, maxBuffer: 2 ** 26 })
      return [join(folder, 'target/debug/languages')]
    },
  },
} as const satisfies Readonly<Record<string, Language>>
export type LanguageName = keyof typeof languages
const names = Object.keys(languages) as LanguageName[]

/** Makes a program ready: at once where it was built before from the same files. */
export async function prepareProgram(name: LanguageName): Promise<Program> {
  const {
    probe: [tool, ...args],
    build,
    long = false,
  }: Language = languages[name]
  const source = join(import.meta.dirname, name.toLowerCase())
  const folder = join(cacheFolder(), `${name.toLowerCase()}-${digestOf(source)}`)
  const ready = join(folder, 'ready.json')
  if (existsSync(ready)) return { command: JSON.parse(readFileSync(ready, 'utf8')) }
  try {
    await run(tool, args)
  } catch {
    return { missing: `no ${tool}` }
  }
  if (long && !process.env['CI']) return { missing: 'not built yet, which takes minutes; CI=1 builds it' }
  mkdirSync(folder, { recursive: true })
  cpSync(source, folder, { recursive: true })
  try {
    const command = await build(folder)
    writeFileSync(ready, JSON.stringify(command))
    return { command }
  } catch (error) {
    return {
      missing: `the client cannot be had: ${String((error as { stderr?: string }).stderr ?? error)
        .trim()
        .split('\n')
        .at(-1)}`,
    }
  }
}

function digestOf(folder: string): string {
  const hash = createHash('sha256')
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(folder, name)
    if (statSync(path).isFile()) hash.update(`${name}\0`).update(readFileSync(path))
  }
  return hash.digest('hex').slice(0, 16)
}

if (process.argv[1] === import.meta.filename) {
  const programs = await Promise.all(names.map(async (name) => ({ name, program: await prepareProgram(name) })))
  for (const { name, program } of programs)
    if ('missing' in program) console.log(`${name}: ${program.missing}; its tests will be skipped`)
}
