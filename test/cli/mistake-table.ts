/**
 * Mistakes that people make with addresses, ports, files and keys. Each is told by a code of its own with the right next step, never
 * as a fault of the program, and no key that stands in an argument, a variable or a file comes back in what is said.
 */
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { environmentOf, type quorate, testFolder, writeFiles } from './harness.ts'

const ID = '7c244a54-083f-4745-98d0-7111fa0c8852'
const secret = generateP256KeyPair().privateKey
const good = `organization: acme\nid: ${ID}\ntags: { treasury: {} }\n`

type Env = Readonly<Record<string, string>>
export interface Mistake {
  readonly name: string
  /** `DIR` stands for the folder of the test, `PORT` for the port of a server that is not the API, `SERVICE` for a folder of the row's own. */
  readonly args: readonly string[]
  readonly env?: Env
  readonly code: string
  /** Words of what is to be done. */
  readonly next: string
  /** Words of what happened. */
  readonly says?: string
  readonly isUnprivileged?: boolean
}

type Told = readonly [code: string, next: string, says?: string]
function mistake(name: string, args: readonly string[], [code, next, says]: Told, env: Env = {}): Mistake {
  return { name: name.replaceAll(secret, 'KEY'), args, env, code, next, ...(says === undefined ? {} : { says }) }
}
const url = (baseUrl: string, ...told: Told) =>
  mistake(`the base URL \`${baseUrl}\``, ['whoami'], told, { QUORATE_BASE_URL: baseUrl })
const keyFile = (path: string, ...told: Told) =>
  mistake(`the key file ${path}`, ['whoami', '--key-file', path], told, { QUORATE_API_KEY_FILE: '' })
const option = (args: readonly string[], ...told: Told) => mistake(args.join(' '), args, told)
const serving = (args: readonly string[], ...told: Told) => option(['serve', '--folder', 'SERVICE', ...args], ...told)

/** Commands with a port of their own, each with what else it needs to come that far. */
const PORTS: readonly (readonly [option: string, ...command: string[]])[] = [
  ['--port', 'serve', '--folder', 'SERVICE'],
  ['--metrics-port', 'serve', '--folder', 'SERVICE'],
  ['--proxy-port', 'serve', '--folder', 'SERVICE'],
  ['--port', 'proxy'],
  ['--metrics-port', 'worker'],
  ['--webhook-port', 'worker'],
  ['--port', 'codec-server'],
  ['--port', 'webhooks', 'listen'],
]
const NO_PORTS = ['http', '65536', '-1', '1.5', '', '0x50', '127.0.0.1:PORT', secret]
const port = (name: string, command: readonly string[], value: string, ...told: Told) =>
  option([...command, `${name}=${value}`], ...told)
const noNumber = (value: string): string =>
  value === '' ? 'got nothing' : value === secret ? 'got `[looks like' : `got \`${value}\``

const HOST_AND_PORT = 'write it as `https://HOST` or `http://HOST:'
const KEY_FORMS = 'give 64 hex digits'
const OTHER_FOLDER = 'name a folder that exists or can be made'
const DEFINITIONS = 'name the folder, or make one with `quorate init FOLDER`'
const SAVED_PLAN = 'name a plan that `quorate plan --out` has written'
const COMMANDS = '`quorate --help` lists the commands'

export const MISTAKES: readonly Mistake[] = [
  url('127.0.0.1:PORT', 'config/invalid', 'did you mean `http://127.0.0.1:PORT`?'),
  url('localhost:PORT', 'config/invalid', 'did you mean `http://localhost:PORT`?', 'got `localhost:PORT`'),
  url('http//127.0.0.1', 'config/invalid', 'did you mean `http://127.0.0.1`?'),
  url('http:/127.0.0.1:PORT', 'client/malformed-answer', 'check the base URL'),
  url('ftp://127.0.0.1', 'config/invalid', 'did you mean `http://127.0.0.1`?'),
  url('file:///etc/hosts', 'config/invalid', 'it begins with http:// or https://'),
  url('https://', 'config/invalid', HOST_AND_PORT),
  url('http://127.0.0.1:99999', 'config/invalid', 'a port is a number up to 65535'),
  url('http://127.0.0.1:PORT', 'client/malformed-answer', 'check the base URL', 'http://127.0.0.1:PORT'),
  url('https://127.0.0.1:PORT', 'client/unreachable', 'the base URL may be `http://127.0.0.1:PORT`', 'EPROTO'),
  url('http://127.0.0.1:PORT/public/v1', 'config/invalid', 'each request adds: `http://127.0.0.1:PORT`'),
  url('http://127.0.0.1:PORT:PORT', 'config/invalid', HOST_AND_PORT),
  url(
    'http://127.0.0.1:9',
    'client/unreachable',
    'start the service (`quorate serve`), or correct the base URL',
    'ECONNREFUSED',
  ),
  url('http://nobody.invalid', 'client/unreachable', 'no host is called `nobody.invalid` here'),
  url('http://[::1', 'config/invalid', HOST_AND_PORT),
  url(`http://user:${secret}@127.0.0.1:PORT`, 'config/invalid', 'leave out the user, as in `http://127.0.0.1:PORT`'),
  url(`http://127.0.0.1:PORT/?key=${secret}`, 'config/invalid', 'leave out what follows the path'),
  url(secret, 'config/invalid', HOST_AND_PORT),
  url('http://127.0.0.1:PORT/public/v1/query/whoami', 'config/invalid', 'leave out `/public/v1/query/whoami`'),
  url('  ', 'config/invalid', HOST_AND_PORT),
  ...PORTS.flatMap(([name, ...command]) =>
    NO_PORTS.map((value) =>
      port(name, command, value, 'cli/usage', `give ${name} a number alone, such as 8080`, noNumber(value)),
    ),
  ),
  ...PORTS.filter(([, command]) => !['proxy', 'worker'].includes(command!)).map(([name, ...command]) =>
    port(name, command, 'PORT', 'local/address-in-use', 'end that process (`lsof -i :PORT` names it), or give another'),
  ),
  { ...serving(['--port=80'], 'local/address-denied', 'give a port above 1023'), isUnprivileged: true },
  serving(['--listen', '192.0.2.1', '--plain-http'], 'local/address-denied', 'give an address of this machine'),
  serving(['--listen', '0.0.0.0'], 'cli/usage', 'give --tls-cert and --tls-key'),
  serving(['--listen', 'localhost'], 'cli/usage', 'give 127.0.0.1 for this machine alone'),
  serving(['--listen', '127.0.0.1:8080'], 'cli/usage', 'the port goes to --port'),
  option(
    ['up', 'DIR/defs', '--port', '8080'],
    'cli/usage',
    '`quorate up --help` lists its options',
    'unknown option `--port`',
  ),
  keyFile('DIR/none.json', 'stamp/key-unreadable', 'make a key with `quorate key new FILE`', 'there is no such file'),
  keyFile('DIR', 'stamp/key-unreadable', 'name the file that holds the key', 'it is not an ordinary file'),
  keyFile('DIR/file', 'stamp/key-exposed', 'chmod 600 DIR/file'),
  keyFile('DIR/empty.json', 'stamp/key-malformed', KEY_FORMS, 'it is empty'),
  keyFile('DIR/broken.json', 'stamp/key-malformed', KEY_FORMS, 'it starts like JSON'),
  keyFile('DIR/short.json', 'stamp/key-malformed', KEY_FORMS, 'got 62 characters'),
  keyFile('DIR/open.json', 'stamp/key-exposed', 'chmod 600 DIR/open.json'),
  keyFile('DIR/loop', 'stamp/key-exposed', 'name the file itself'),
  keyFile('/dev/null', 'stamp/key-unreadable', 'name the file that holds the key'),
  keyFile('/proc/self/mem', 'stamp/key-unreadable', 'name the file that holds the key', '`/proc/self/mem`'),
  keyFile(secret, 'stamp/key-unreadable', 'correct the path', 'there is no such file'),
  ...(
    [
      ['DIR/file', 'move the file away'],
      ['/proc/foo', OTHER_FOLDER],
      ['/dev/null', 'name another folder'],
      ['DIR/loop', OTHER_FOLDER],
    ] as const
  ).map(([path, next]) => option(['serve', '--folder', path], 'local/no-folder', next, path)),
  option(['validate', 'DIR/none'], 'cli/no-definitions', DEFINITIONS),
  option(['validate', 'DIR/file'], 'cli/no-definitions', DEFINITIONS),
  option(['validate', '/dev/null'], 'cli/no-definitions', DEFINITIONS),
  option(['validate', 'DIR/loop'], 'cli/no-definitions', DEFINITIONS),
  option(['validate', 'DIR/locked'], 'definitions/empty-folder', 'make a first file with `quorate init`'),
  option(['validate', secret], 'cli/no-definitions', DEFINITIONS),
  option(['init', 'DIR/file'], 'cli/exists', 'choose another folder'),
  option(['init', '/proc/foo'], 'local/no-folder', OTHER_FOLDER),
  option(['init', '/dev/null'], 'cli/exists', 'choose another folder'),
  option(['init', 'DIR/defs'], 'cli/exists', 'choose another folder'),
  option(['apply', 'DIR/file', '--yes'], 'plan/foreign-format', SAVED_PLAN),
  option(
    ['apply', 'DIR/none.json', '--yes'],
    'cli/no-definitions',
    SAVED_PLAN,
    'a saved plan or a folder of definitions',
  ),
  option(['validate', 'DIR'], 'definitions/empty-folder', 'that holds `organization:`, such as `DIR/defs`, or make'),
  option(['apply', 'DIR/loop', '--yes'], 'local/no-folder', OTHER_FOLDER),
  option(['show', 'DIR'], 'cli/unreadable', SAVED_PLAN, 'it is a folder'),
  option(['show', 'DIR/none.json'], 'cli/unreadable', SAVED_PLAN, 'it does not exist'),
  option(['review', '7f3a-19c2', '--plan', 'DIR/file'], 'plan/foreign-format', SAVED_PLAN),
  option(['review', '7f3a-19c2', '--plan', 'DIR/none.json'], 'cli/unreadable', SAVED_PLAN),
  option(['approve', secret, '--yes'], 'client/malformed-answer', 'check the base URL'),
  option(['approve', '7f3a-19c2', '--reason', ' '], 'cli/usage', 'write the reason, or leave --reason out'),
  option(['approve', '7f3a-19c2', '--reason', secret], 'cli/key-in-file', 'take it out there'),
  option(['activities', '--limit', '0'], 'cli/usage', 'correct --limit', 'above 0'),
  option(['activities', '--limit', secret], 'cli/usage', 'correct --limit', 'above 0'),
  option(['keys', '--help'], 'cli/usage', 'did you mean `key`?', 'unknown command `keys`'),
  option(['policy', 'tset', '-h'], 'cli/usage', 'did you mean `test`?', 'unknown command `tset`'),
  option(
    ['reset', 'everything'],
    'cli/usage',
    COMMANDS,
    'too many arguments for `reset`: expected 0, got `everything`',
  ),
  option(
    ['review'],
    'cli/usage',
    'give it, such as `quorate review 7f3a-19c2 ',
    'missing required argument `activity`',
  ),
  option(
    ['init'],
    'cli/usage',
    'give it, such as `quorate init definitions/mine`',
    'missing required argument `folder`',
  ),
  option(['help', 'xyzzy'], 'cli/usage', COMMANDS, 'no command is called `xyzzy`'),
  option(['destroy'], 'cli/usage', 'what is taken out of the definitions is deleted', 'unknown command'),
  option(['apply', '-auto-approve', '--json'], 'cli/usage', '`--yes`', 'unknown option'),
  option(['review', '7f3a-19c2', '--url', 'http://127.0.0.1:1'], 'cli/usage', '`--base-url URL`', 'unknown option'),
  option(['up', 'DIR/defs', '--yes'], 'cli/usage', 'this command asks nothing', 'unknown option'),
  option([secret], 'cli/usage', COMMANDS, 'unknown command'),
  option(['plan', `--${secret}`], 'cli/usage', '`quorate plan --help` lists its options', 'unknown option'),
  option(['plan', 'DIR/defs', '--allow', secret], 'plan/unknown-bypass', 'use one of delete', 'no guard is called'),
  option(['plan', 'DIR/defs', '--var', secret], 'cli/usage', 'write --var name=value'),
  option(['plan', 'DIR/defs', '--organization-id', 'acme'], 'config/invalid', 'correct --organization-id', 'a UUID'),
  option(['plan', 'DIR/defs', '--requests-per-second', '-1'], 'config/invalid', 'correct --requests-per-second'),
  option(['plan', 'DIR/defs', '--requests-per-second', secret], 'config/invalid', 'correct --requests-per-second'),
  option(['completion', 'tcsh'], 'cli/usage', 'name one of bash, zsh, fish'),
  option(['completion', secret], 'cli/usage', 'name one of bash, zsh, fish'),
]

/** What the rows refer to, for one file of tests; gives the check of a row. */
export function mistakeScene(run: typeof quorate): (row: Mistake) => Promise<void> {
  const cleanups: (() => unknown)[] = []
  let folder: string
  let portOfOther: number
  /** Something else than the API, which knows none of its paths. */
  const other = createServer((_, answer) => answer.writeHead(404).end('no such page'))
  beforeAll(async () => {
    folder = testFolder((work) => cleanups.push(work))
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    portOfOther = (other.address() as AddressInfo).port
    writeFiles(join(folder, 'defs'), { 'acme.yaml': good })
    writeFileSync(join(folder, 'file'), 'text')
    writeFileSync(join(folder, 'open.json'), JSON.stringify({ privateKey: secret }), { mode: 0o644 })
    for (const name of ['file', 'open.json']) chmodSync(join(folder, name), 0o644)
    writeFileSync(join(folder, 'broken.json'), `{"privateKey": "${secret}`, { mode: 0o600 })
    writeFileSync(join(folder, 'short.json'), JSON.stringify({ privateKey: secret.slice(2) }), { mode: 0o600 })
    writeFileSync(join(folder, 'empty.json'), '', { mode: 0o600 })
    symlinkSync('loop', join(folder, 'loop'))
    mkdirSync(join(folder, 'locked'), { mode: 0o500 })
  })
  afterAll(async () => {
    other.close()
    for (const clean of cleanups) await clean()
  })

  return async ({ args, env: more = {}, code, next, says = '', isUnprivileged }) => {
    const filled = (text: string) =>
      text
        .replaceAll('SERVICE', join(folder, randomUUID()))
        .replaceAll('DIR', folder)
        .replaceAll('PORT', String(portOfOther))
    const env = environmentOf(
      { url: `http://127.0.0.1:${portOfOther}`, organizationId: ID } as never,
      folder,
      secret,
      Object.fromEntries(Object.entries(more).map(([name, value]) => [name, filled(value)])),
    )
    const by = isUnprivileged ? unprivileged() : undefined
    const { exit, stdout, stderr } = await run(args.map(filled), { env, ...(by ? { by } : {}) })
    const told = /(?:^|: )error ([\w/-]+): (.*\n(?: {2}(?!next).*\n|.* │.*\n)*) *(?:next|help:) +(.*)$/m.exec(stderr)
    expect({ exit, stderr, code: told?.[1] }).toEqual({ exit: 1, stderr, code })
    expect(told?.[2]).toContain(filled(says))
    expect(told?.[3]).toContain(filled(next))
    expect(`${stdout}${stderr}`).not.toContain(secret.slice(0, 32))
  }
}

/** Whether a process can be started here that may not listen below 1024: Linux, by setpriv(1) where this one is root. */
export const MAY_BE_DENIED: boolean = (() => {
  try {
    const first = Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'))
    if (process.geteuid?.() === 0) execFileSync('setpriv', ['--version'], { stdio: 'ignore' })
    return first > 80
  } catch {
    return false
  }
})()

function unprivileged(): readonly string[] | undefined {
  return process.geteuid?.() === 0
    ? ['setpriv', '--bounding-set=-net_bind_service', '--inh-caps=-net_bind_service']
    : undefined
}
