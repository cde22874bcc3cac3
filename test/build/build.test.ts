import { execFileSync } from 'node:child_process'
import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { oldNode } from '../../src/cli/old-node.ts'
import { READY_TEXTS, TEXTS } from '../../src/cli/ready-text.ts'
import { builtMain } from '../built.ts'
import { quorateShared, testFolder, writeFiles } from '../cli/harness.ts'

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
      'src/cli/ready-text.ts',
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
      'texts',
      'thread.js',
      'worker.js',
      'workflow-bundle.cjs',
    ])
  })

  test('schemas are compiled, so that a command needs no compiler', () => {
    const folder = dirname(builtMain())
    const texts = globSync('*.{js,cjs}', { cwd: folder }).map((name) => readFileSync(join(folder, name), 'utf8'))
    // The service compiles what it reads at its first request; nobody else imports the compiler.
    expect(texts.filter((text) => /^import .* from "ajv\/dist\/2020\.js"/m.test(text))).toEqual([])
    expect(texts.filter((text) => text.includes('node_modules/ajv/dist/runtime/ucs2length.js')).length).toBeGreaterThan(
      0,
    )
  })

  test('what --help and completion print was made by the build, and is what the commands say', async () => {
    for (const [asked, file] of Object.entries(READY_TEXTS)) {
      const text = readFileSync(join(dirname(builtMain()), TEXTS, file), 'utf8')
      const { stdout } = await quorateShared(asked.split(' '))
      expect(stripVTControlCharacters(text), asked).toBe(stdout)
    }
  })

  test('a command loads no room that it does not use: validate needs neither Temporal nor a client nor a plan', () => {
    const loaded = validated(`
      const urls = []
      require('node:module').registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) })
      process.on('exit', () => console.log(urls.join('\\n')))
    `)
      .match(/^file:.*\.js$/gm)!
      .map((url) => readFileSync(new URL(url), 'utf8'))
      .join('\n')
    const everything = globSync('*.js', { cwd: dirname(builtMain()) })
      .map((name) => readFileSync(join(dirname(builtMain()), name), 'utf8'))
      .join('\n')
    expect(loaded).toContain('function loadFolder(')
    for (const one of ['createQueryClient', 'createPlanStore', 'planFolder']) {
      expect(loaded, one).not.toMatch(new RegExp(`function ${one}\\b`))
      expect(everything, one).toMatch(new RegExp(`function ${one}\\b`))
    }
    expect(loaded).not.toContain('@temporalio')
    // Only what a licence asks to be kept is text that nothing runs.
    expect(loaded).not.toMatch(/^\s*\/\*\* /m)
  })

  test('what a file imports by name is loaded when it is used: validate loads no process, no socket and no thread', () => {
    const said = validated("process.on('exit', () => console.log(process.moduleLoadList.join('\\n')))")
    const loaded = said.match(/(?<=^NativeModule )[a-z_/0-9]+$/gm)!
    expect(loaded).toContain('fs')
    for (const one of ['child_process', 'dgram', 'http', 'worker_threads', 'zlib']) expect(loaded).not.toContain(one)
  })

  test('a service is ready without what compiles the schemas of routes, of which it has none, and finds no file of its statements', () => {
    const folder = testFolder()
    const [hook, log] = [join(folder, 'hook.cjs'), join(folder, 'log')]
    writeFileSync(
      hook,
      `const urls = []
      require('node:module').registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) })
      process.on('exit', () => require('node:fs').appendFileSync(${JSON.stringify(log)}, urls.join('\\n') + '\\n'))`,
    )
    const { href } = pathToFileURL(join(dirname(builtMain()), 'start-quorate.js'))
    const start = `const { startQuorate } = await import('${href}'); await (await startQuorate()).close()`
    const env = { PATH: process.env['PATH'], HOME: folder, NODE_OPTIONS: `--require ${hook}` }
    execFileSync(process.execPath, ['--input-type=module', '--eval', start], { env })
    const loaded = readFileSync(log, 'utf8')
    expect(loaded).toContain('/node_modules/fastify/')
    for (const one of ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'kysely']) {
      expect(loaded, one).not.toContain(`/node_modules/${one}/`)
    }
  })

  test('an older Node.js is told which one is needed, before it reads anything that it may not know', () => {
    expect(['22.15.0', '22.16.1', '24.0.0', '26.1.0'].map(oldNode)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
    for (const version of ['18.20.8', '20.20.2', '22.14.0']) {
      expect(oldNode(version)).toContain(`error cli/old-node: expected Node.js 22.15 or newer, got ${version}\n  next`)
    }
    const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(engines.node).toBe('>=22.15')
    const main = readFileSync(builtMain(), 'utf8')
    expect(main.match(/^import .*/gm)?.filter((line) => !line.startsWith('import "./part-')) ?? []).toEqual([])
    for (const [, name = ''] of main.matchAll(/^import "\.\/(part-[^"]+)"/gm)) {
      expect(readFileSync(join(dirname(builtMain()), name), 'utf8')).not.toMatch(/^import |getBuiltinModule/m)
    }
  })
})

/** What a process prints that validates definitions, with a script that tells of it loaded before. */
function validated(script: string): string {
  const folder = testFolder()
  const defs = writeFiles(join(folder, 'defs'), {
    'a.yaml': 'organization: acme\nid: 7c244a54-083f-4745-98d0-7111fa0c8852\ntags: { one: {} }\n',
  })
  const told = join(folder, 'tell.cjs')
  writeFileSync(told, script)
  const args = ['--require', told, builtMain(), 'validate', defs]
  const said = execFileSync(process.execPath, args, { env: { PATH: process.env['PATH'], HOME: folder } }).toString()
  expect(said).toContain('is valid: 1 resource\n')
  return said
}
