/** A key that is typed where something else belongs is in the terminal, and in its history: what we say must not spread it further. */
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { expect, onTestFinished } from 'vitest'
import { commands } from '../../src/cli/commands/index.ts'
import { settingRows } from '../../src/config/index.ts'
import { keyFile, testFolder, writeFiles } from '../cli/harness.ts'
import { ORGANIZATION_ID } from '../definitions/harness.ts'

export const KEY = '7d4f0c1e2b3a4958677685949a3b2c1d0e0f1a2b3c4d5e6f708192a3b4c5d6e7'
export const MNEMONIC = 'legal winner thank year wave sausage worth useful legal winner thank yellow'

/** `--var name=value` takes it as `--var x=KEY` and, without the name, as `--var KEY`. */
const wordOf = (flags: string) => /^--[a-z-]+/.exec(flags)![0]
const takesValue = (flags: string) => /[<[]/.test(flags)

/** Every place of the command table in which something can be typed, one command line each. */
function linesWith(secret: string): readonly (readonly string[])[] {
  const ofCommands = commands.flatMap(({ name, args = '', options = [] }) => {
    const words = name.split(' ')
    const given = args.split(' ').filter((one) => one !== '')
    const needed = given.filter((one) => one.startsWith('<')).map(() => 'd')
    const inArguments = given.flatMap((_, at) => {
      const line = [...words, ...given.slice(0, at).map(() => 'd'), secret]
      return [line, [...line, '--json']]
    })
    const inOptions = options
      .filter(({ flags }) => takesValue(flags))
      .flatMap(({ flags }) => {
        // A folder that can be made would be, and a service started in it.
        if (flags.startsWith('--folder')) return [[...words, ...needed, '--folder', `file/${secret}`]]
        const values = /=/.test(flags) ? [secret, `x=${secret}`, `${secret}=x`] : [secret]
        return values.map((value) => [...words, ...needed, wordOf(flags), value])
      })
    return [
      ...inArguments,
      ...inOptions,
      [...words, ...needed, `--${secret}`],
      [...words, ...needed, 'd', 'd', 'd', secret],
    ]
  })
  const ofSettings = Object.values(settingRows).map(({ flag }) => ['status', flag, secret])
  return [[secret], [`--${secret}`], ['help', secret], ...ofCommands, ...ofSettings]
}

/**
 * Types a secret in every place of the command table, and looks for it in what is said.
 * @param options.every 5: in every fifth place alone
 */
export async function expectNotShown(secret: string, { every = 1 } = {}): Promise<void> {
  // It answers, and knows nothing: what is unreachable is tried again.
  const server = createServer((_request, answer) => answer.writeHead(403).end('{"code":7,"message":"no","details":[]}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const folder = writeFiles(testFolder(), { file: '', 'd/a.yaml': 'organization: acme\nid: ${env.ORG}\n' })
  const child = spawn(process.execPath, [join(import.meta.dirname, 'echo-runner.ts')], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      CI: 'true',
      ORG: ORGANIZATION_ID,
      QUORATE_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      QUORATE_ORGANIZATION_ID: ORGANIZATION_ID,
      QUORATE_API_KEY_FILE: keyFile(folder, 'key', 'ab'.repeat(32)),
      // No folder can be made there: nothing is started, and nothing of anybody is touched.
      QUORATE_DATA_DIR: join(folder, 'file', 'data'),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = linesWith(secret).filter((_, at) => at % every === 0)
  child.stdin.end(JSON.stringify(lines))
  const ran = (await json(child.stdout)) as readonly { readonly args: readonly string[]; readonly said: string }[]
  expect(ran.length).toBe(lines.length)
  expect(ran.length).toBeGreaterThan(200 / every)
  const shown = ran.filter(({ said }) => said.toLowerCase().includes(secret.slice(0, 20)))
  expect(shown.map(({ args, said }) => [args.join(' ').replaceAll(secret, 'SECRET'), said])).toEqual([])
  // Each said something, but for what waits for an editor.
  expect(ran.filter(({ args, said }) => said === '' && args[1] !== 'lsp').map(({ args }) => args.join(' '))).toEqual([])
}
