/** The first line of output is to come within 300 ms: so it may need little, which is counted here and not timed. */
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { testFolder } from './harness.ts'

const root = join(import.meta.dirname, '../..')

/** Notes what is loaded until something is written, and writes that to descriptor 3. */
const NOTES = `
import { registerHooks } from 'node:module'
import { writeSync } from 'node:fs'
const loaded = []
registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context) } })
for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write
  stream.write = (...given) => {
    if (loaded.length > 0) writeSync(3, JSON.stringify({ text: String(given[0]), loaded: loaded.splice(0) }) + '\\n')
    return write.apply(stream, given)
  }
}
`

/** What a command line writes first, and the rooms and packages that are loaded until then. */
async function beginningOf(args: readonly string[]) {
  const cwd = testFolder()
  mkdirSync(join(cwd, 'defs'))
  const hook = `data:text/javascript,${encodeURIComponent(NOTES)}`
  const child = spawn(process.execPath, ['--import', hook, join(root, 'src/cli/main.ts'), ...args], {
    cwd,
    env: { PATH: process.env['PATH'], QUORATE_BASE_URL: 'http://127.0.0.1:9' },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  let notes = ''
  for await (const part of child.stdio[3] as NodeJS.ReadableStream) {
    notes += String(part)
    if (notes.includes('\n')) break
  }
  child.kill('SIGKILL')
  const { text, loaded } = JSON.parse(notes.split('\n')[0]!) as { text: string; loaded: readonly string[] }
  const names = loaded.flatMap((url) => {
    const path = url.split('?')[0]!
    if (path.startsWith('node:')) return []
    const inside = path.split('/node_modules/').at(-1)!
    if (inside !== path)
      return inside
        .split('/')
        .slice(0, inside.startsWith('@') ? 2 : 1)
        .join('/')
    return path.split('/src/').at(-1)!.split('/')[0]!
  })
  return { text, needs: [...new Set(names)].sort(), modules: loaded.length }
}

describe('the first line', () => {
  test.each([
    { args: ['--help'], text: 'Usage: quorate' },
    { args: ['plan', 'defs'], text: 'Planning defs' },
    { args: ['apply', 'defs'], text: 'Applying defs' },
    { args: ['import', 'defs'], text: 'Reading http://127.0.0.1:9 into defs' },
    { args: ['validate', 'defs'], text: 'Checking defs' },
    { args: ['unmanaged', 'defs'], text: 'Reading defs and' },
    { args: ['status'], text: 'Asking Temporal' },
    { args: ['activities'], text: 'Reading activities' },
    { args: ['doctor'], text: 'Looking at this machine' },
  ])('cli: `quorate $args` says something before it loads what it works with', async ({ args, text }) => {
    const beginning = await beginningOf(args)
    expect(beginning.text).toContain(text)
    expect(beginning.needs).toEqual(['cli', 'commander', 'config', 'diagnostics', 'local', 'telemetry'])
    expect(beginning.modules).toBeLessThan(66)
  })

  test.each(['clock', 'fault list'])('cli: `quorate %s` asks the service without loading it', async (command) => {
    const beginning = await beginningOf(command.split(' '))
    expect(beginning.text).toContain('service/no-operator')
    expect(beginning.needs).toContain('service')
    expect(beginning.needs.filter((name) => ['fastify', 'kysely', 'policy', 'chain', 'stamp'].includes(name))).toEqual(
      [],
    )
  })
})
