/**
 * Mistakes that people make with addresses, ports, files and keys. Each is told by a code of its own with a next step, never as a
 * fault of the program, and no key that stands in an argument, a variable or a file comes back in what is said.
 */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { environmentOf, quorateShared as quorate, quorate as quorateAlone, testFolder, writeFiles } from './harness.ts'

const ID = '7c244a54-083f-4745-98d0-7111fa0c8852'
const secret = generateP256KeyPair().privateKey
const good = `organization: acme\nid: ${ID}\ntags: { treasury: {} }\n`

const cleanups: (() => void)[] = []
let folder: string
let port: number
/** Something else than the API, which knows none of its paths. */
const other = createServer((_, answer) => answer.writeHead(404).end('no such page'))
beforeAll(async () => {
  folder = testFolder((work) => cleanups.push(work as () => void))
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  port = (other.address() as AddressInfo).port
  writeFiles(join(folder, 'defs'), { 'acme.yaml': good })
  writeFileSync(join(folder, 'file'), 'text')
  writeFileSync(join(folder, 'open.json'), JSON.stringify({ privateKey: secret }), { mode: 0o644 })
  chmodSync(join(folder, 'open.json'), 0o644)
  writeFileSync(join(folder, 'broken.json'), `{"privateKey": "${secret}`, { mode: 0o600 })
  writeFileSync(join(folder, 'short.json'), JSON.stringify({ privateKey: secret.slice(2) }), { mode: 0o600 })
  writeFileSync(join(folder, 'empty.json'), '', { mode: 0o600 })
  symlinkSync('loop', join(folder, 'loop'))
  mkdirSync(join(folder, 'locked'), { mode: 0o500 })
})
afterAll(() => {
  other.close()
  for (const clean of cleanups) clean()
})

type Env = Readonly<Record<string, string>>
interface Mistake {
  readonly name: string
  /** `DIR` stands for the folder of the test, `PORT` for the port of a server that is not the API. */
  readonly args: readonly string[]
  readonly env?: Env
  /** The code, and words of what is to be done. */
  readonly says: readonly (string | RegExp)[]
}

const url = (baseUrl: string, ...says: Mistake['says']): Mistake => ({
  name: `the base URL \`${baseUrl.replaceAll(secret, 'KEY')}\``,
  args: ['whoami'],
  env: { QUORATE_BASE_URL: baseUrl },
  says,
})
const keyFile = (path: string, ...says: Mistake['says']): Mistake => ({
  name: `the key file ${path}`,
  args: ['whoami', '--key-file', path],
  env: { QUORATE_API_KEY_FILE: '' },
  says,
})
const dataDir = (path: string, ...says: Mistake['says']): Mistake => ({
  name: `the service’s folder ${path}`,
  args: ['serve', '--folder', path],
  says,
})
const definitions = (path: string, ...says: Mistake['says']): Mistake => ({
  name: `definitions in ${path}`,
  args: ['validate', path],
  says,
})
const out = (path: string, ...says: Mistake['says']): Mistake => ({
  name: `a new folder of definitions at ${path}`,
  args: ['init', path],
  says,
})
const option = (args: readonly string[], ...says: Mistake['says']): Mistake => ({
  name: args.join(' ').replaceAll(secret, 'KEY'),
  args,
  says,
})

const MISTAKES: readonly Mistake[] = [
  url('127.0.0.1:PORT', 'config/invalid', 'did you mean `http://127.0.0.1:PORT`?'),
  url('localhost:PORT', 'got `localhost:PORT`', 'did you mean `http://localhost:PORT`?'),
  url('http//127.0.0.1', 'config/invalid', 'did you mean `http://127.0.0.1`?'),
  url('http:/127.0.0.1:PORT', /(config|client)\//),
  url('ftp://127.0.0.1', 'config/invalid', 'did you mean `http://127.0.0.1`?'),
  url('file:///etc/hosts', 'config/invalid', 'it begins with http:// or https://'),
  url('https://', /config\//),
  url('http://127.0.0.1:99999', 'config/invalid', 'a port is a number up to 65535'),
  url('http://127.0.0.1:PORT', /client\//, 'http://127.0.0.1:PORT', 'check the base URL'),
  url('https://127.0.0.1:PORT', 'client/unreachable', 'what listens there speaks no TLS', '`http://127.0.0.1:PORT`'),
  url('http://127.0.0.1:PORT/public/v1', 'config/invalid', 'leave out `/public/v1`', '`http://127.0.0.1:PORT`'),
  url('http://127.0.0.1:PORT:PORT', /config\//),
  url('http://127.0.0.1:9', 'client/unreachable', 'ECONNREFUSED', 'check that the service runs'),
  url('http://nobody.invalid', 'client/unreachable', /no host is called `nobody.invalid`|quorate doctor/),
  url('http://[::1', /config\//),
  url(`http://user:${secret}@127.0.0.1:PORT`, 'config/invalid', 'leave out the user, as in `http://127.0.0.1:PORT`'),
  url(`http://127.0.0.1:PORT/?key=${secret}`, 'config/invalid', 'leave out what follows the path'),
  url(`${secret}`, /config\//),
  url('http://127.0.0.1:PORT/public/v1/query/whoami', 'leave out `/public/v1/query/whoami`'),
  url('  ', /(config|client)\//),
  keyFile('DIR/none.json', /(stamp|config)\//),
  keyFile('DIR', /(stamp|config)\//),
  keyFile('DIR/file', /(stamp|config)\//),
  keyFile('DIR/empty.json', /(stamp|config)\//),
  keyFile('DIR/broken.json', /(stamp|config)\//),
  keyFile('DIR/short.json', /(stamp|config)\//),
  keyFile('DIR/open.json', 'stamp/key-exposed', 'chmod 600'),
  keyFile('DIR/loop', /(stamp|config)\//),
  keyFile('/dev/null', /(stamp|config)\//),
  keyFile('/proc/self/mem', /(stamp|config|local)\//),
  keyFile(secret, /(stamp|config)\//),
  dataDir('DIR/file', /error (local|service|cli|config)\//),
  dataDir('/proc/foo', /error (local|service|cli|config)\//),
  dataDir('/dev/null', /error (local|service|cli|config)\//),
  dataDir('DIR/loop', /error (local|service|cli|config)\//),
  definitions('DIR/none', 'cli/no-definitions'),
  definitions('DIR/file', 'cli/no-definitions'),
  definitions('/dev/null', 'cli/no-definitions'),
  definitions('DIR/loop', /cli\/no-definitions|definitions\//),
  definitions('DIR/locked', /definitions\//),
  definitions(secret, 'cli/no-definitions'),
  out('DIR/file', /error (local|cli|definitions|client)\//),
  out('/proc/foo', /error (local|cli|definitions|client)\//),
  out('/dev/null', /error (local|cli|definitions|client)\//),
  out('DIR/defs', /error (local|cli|definitions|client)\//),
  option(['apply', 'DIR/file', '--yes'], 'plan/foreign-format'),
  option(['apply', 'DIR/loop', '--yes'], 'local/no-folder'),
  option(['show', 'DIR'], /cli\/|plan\//),
  option(['show', 'DIR/none.json'], 'cli/unreadable'),
  option(['review', '7f3a-19c2', '--plan', 'DIR/file'], 'plan/foreign-format'),
  option(['review', '7f3a-19c2', '--plan', 'DIR/none.json'], 'cli/unreadable'),
  option(['approve', secret, '--yes'], /client\/|cli\//),
  option(['approve', '7f3a-19c2', '--reason', ' '], 'cli/usage'),
  option(['approve', '7f3a-19c2', '--reason', secret], /cli\/key-in-file/),
  option(['activities', '--limit', '0'], /cli\/usage|client\//),
  option(['activities', '--limit', secret], /cli\/|client\//),
  option(['keys', '--help'], "unknown command 'keys'"),
  option(['policy', 'tset', '-h'], "unknown command 'tset'", 'test'),
  option(['destroy'], 'unknown command', 'next  what is taken out of the definitions is deleted'),
  option(['apply', '-auto-approve', '--json'], 'unknown option', 'next  `--yes`'),
  option(['review', '7f3a-19c2', '--url', 'http://127.0.0.1:1'], 'unknown option', 'next  `--base-url URL`'),
  option(['up', 'DIR/defs', '--yes'], 'unknown option', 'this command asks nothing'),
  option([secret], /cli\/usage|unknown command/),
  option(['plan', `--${secret}`], /cli\/usage|unknown option/),
  option(['plan', 'DIR/defs', '--allow', secret], /cli\/|client\//),
  option(['plan', 'DIR/defs', '--var', secret], /cli\//),
  option(['plan', 'DIR/defs', '--organization-id', 'acme'], /config\//),
  option(['plan', 'DIR/defs', '--requests-per-second', '-1'], /config\//),
  option(['plan', 'DIR/defs', '--requests-per-second', secret], /config\//),
  option(['completion', 'tcsh'], /cli\/usage/),
  option(['completion', secret], /cli\/usage/),
]

describe('mistakes', () => {
  test('there are at least sixty', () => {
    expect(MISTAKES.length).toBeGreaterThanOrEqual(60)
  })

  test.each(MISTAKES)('$name', async ({ args, env: more = {}, says }) => {
    const filled = (text: string) => text.replaceAll('DIR', folder).replaceAll('PORT', String(port))
    const env = environmentOf(
      { url: `http://127.0.0.1:${port}`, organizationId: ID } as never,
      folder,
      secret,
      Object.fromEntries(Object.entries(more).map(([name, value]) => [name, filled(value)])),
    )
    const { exit, stdout, stderr } = await quorate(args.map(filled), { env })
    expect(stderr).not.toContain('internal/unexpected')
    for (const one of says) {
      if (typeof one === 'string') expect(stderr).toContain(filled(one))
      else expect(stderr).toMatch(one)
    }
    expect(`${stdout}${stderr}`).not.toContain(secret.slice(0, 32))
    expect(stderr).toMatch(/^ *(next|=|help)|usage|Usage|did you mean|help:/m)
    expect(exit).toBe(1)
  })

  test('the key in use is no reason, also for a process that has met no key before', async () => {
    const own = generateP256KeyPair().privateKey
    const env = environmentOf({ url: `http://127.0.0.1:${port}`, organizationId: ID } as never, folder, own)
    const { exit, stdout, stderr } = await quorateAlone(['approve', '7f3a-19c2', '--reason', own], { env })
    expect([exit, stderr]).toEqual([1, expect.stringContaining('cli/key-in-file')])
    expect(`${stdout}${stderr}`).not.toContain(own.slice(0, 32))
  })
})
