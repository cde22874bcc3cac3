/**
 * The commands as they are shipped, built once for the whole test run by whatever needs them first: a process of them starts in
 * half the time of one from sources, and its worker finds the workflows bundled. `npm start` from sources is walked by
 * `test/readme.test.ts`, and what is loaded before the first line by `test/cli/first-line.test.ts`.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { inject } from 'vitest'
import type { Program } from './programs.ts'

const root = join(import.meta.dirname, '..')

/** The program, built as `npm run build` does, in a package of its own beside this one's dependencies. */
export function builtMain(): string {
  return join(builtFolder(), 'dist/bin/main.js')
}

/** What the workflows were bundled into. */
export function builtWorkflows(): string {
  return join(builtFolder(), 'dist/bin/workflow-bundle.cjs')
}

/** Where processes of this run keep what they have compiled, which goes with the run. */
export function compileCache(): Readonly<Record<string, string>> {
  return { NODE_COMPILE_CACHE: join(inject('temporalFolder'), 'compiled') }
}

/** One of the programs that tests start, bundled as the commands are. */
export function builtProgram(program: Program): string {
  return join(builtFolder('programs', 'test/build-programs.ts'), 'dist/bin', `${basename(program, '.ts')}.js`)
}

function builtFolder(name = 'package', by = 'src/build/build.ts'): string {
  const folder = join(inject('temporalFolder'), name)
  const done = join(folder, 'done')
  if (claim(folder)) {
    try {
      copyFileSync(join(root, 'package.json'), join(folder, 'package.json'))
      symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
      execFileSync(process.execPath, [join(root, by), join(folder, 'dist/bin')], {
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      say(done, 'built')
    } catch (error) {
      say(done, String(error))
      throw error
    }
  }
  // The other process of the run builds it; a test has nothing else to do meanwhile.
  while (!existsSync(done)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
  const outcome = readFileSync(done, 'utf8')
  if (outcome !== 'built') throw new Error(`the commands could not be built: ${outcome}`)
  return folder
}

function claim(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch {
    return false
  }
}

/** Whole or not at all: the other process reads it as soon as it is there. */
function say(file: string, text: string): void {
  writeFileSync(`${file}.draft`, text)
  renameSync(`${file}.draft`, file)
}
