import { globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { builtMain } from '../built.ts'

const root = join(import.meta.dirname, '../..')

describe('build', () => {
  test('what is loaded by its path stands beside the program, and nothing else asks where it stands', () => {
    // What a module finds by its own place must be an entry of the build, or lie where the build looks for it.
    const asking = ['src', 'workflows', 'activities']
      .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }))
      .filter((file) => !/\/generate\.ts$|^src\/build\//.test(file))
      .filter((file) => /^[^/*]*\bimport\.meta\b/m.test(readFileSync(join(root, file), 'utf8')))
    expect(asking.sort()).toEqual([
      'src/cli/main-path.ts',
      'src/cli/version.ts',
      'src/protocol/decoder.ts',
      'src/scenarios/play-suite.ts',
      'src/service/work/pool.ts',
      'src/testing/start-quorate.ts',
      'src/worker/worker.ts',
    ])
    const built = readdirSync(dirname(builtMain())).filter((name) => !name.startsWith('part-'))
    expect(built.sort()).toEqual([
      'main.js',
      'payload-converter.js',
      'start-quorate.js',
      'test-service.js',
      'thread.js',
      'worker.js',
      'workflow-bundle.cjs',
    ])
  })

  test('schemas are compiled, so that a command needs no compiler', () => {
    const folder = dirname(builtMain())
    const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
    // The service compiles what it reads at its first request; nobody else imports the compiler.
    expect(texts.filter((text) => /^import .* from "ajv\/dist\/2020\.js"/m.test(text))).toEqual([])
    expect(texts.filter((text) => text.includes('from "ajv/dist/runtime/ucs2length.js"')).length).toBeGreaterThan(0)
  })
})
