/** Temporal's UI and CLI read sealed payloads: the real command, asked over HTTP as they ask. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Payload } from '@temporalio/common'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Secret } from '../../src/telemetry/index.ts'
import { createPayloadSeal } from '../../src/worker/index.ts'
import { createSealedConverter } from '../../workflows/sealed.ts'
import { builtMain } from '../built.ts'
import { quorateShared } from './harness.ts'

const UI = 'http://localhost:8233'
const [older, newest, strange] = ['ab', 'cd', 'ef'].map((pair) => pair.repeat(32)) as [string, string, string]
const place = { type: 'workflow', namespace: 'default', workflowId: 'apply/x' } as const

let folder: string
let url: string
let token: string
let stop: () => Promise<number | null>
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-codec-'))
  writeFileSync(join(folder, 'keys'), `${newest}\n${older}\n`, { mode: 0o600 })
  const args = ['codec-server', '--json', '--origin', UI, '--payload-key-file', join(folder, 'keys')]
  const server = spawn(process.execPath, [builtMain(), ...args, '--data-dir', join(folder, 'data')], {
    env: { PATH: process.env['PATH'], HOME: folder },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exit = once(server, 'exit')
  stop = async () => {
    server.kill('SIGTERM')
    return (await exit)[0] as number | null
  }
  let said = ''
  server.stdout.on('data', (chunk) => {
    said += chunk
  })
  await vi.waitFor(() => expect(said).toContain('\n'))
  url = (JSON.parse(said) as { readonly url: string }).url
  token = readFileSync(join(folder, 'data/codec.token'), 'utf8').trim()
})
afterAll(async () => {
  expect(await stop()).toBe(0)
  rmSync(folder, { recursive: true, force: true })
})

/** As Temporal writes a payload in JSON. */
async function sealedWith(key: string, value: unknown) {
  const made = createSealedConverter('outside').toPayload(value, place)!
  const [sealed] = await createPayloadSeal([new Secret(key)]).codec.encode([made], place)
  return jsonOf(sealed!)
}
const jsonOf = ({ metadata, data }: Payload) => ({
  metadata: Object.fromEntries(
    Object.entries(metadata!).map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]),
  ),
  data: Buffer.from(data!).toString('base64'),
})
const clear = (text: string | undefined) => Buffer.from(text!, 'base64').toString()

async function ask(path: string, payloads: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-namespace': 'default', ...headers },
    body: JSON.stringify({ payloads }),
  })
  const text = await answer.text()
  const read = JSON.parse(text) as { readonly payloads?: readonly Readonly<{ metadata: object; data: string }>[] }
  return {
    status: answer.status,
    text,
    payloads: read.payloads ?? [],
    origin: answer.headers.get('access-control-allow-origin'),
  }
}
const bearer = () => ({ authorization: `Bearer ${token}` })

test('payloads of the newest and of an older key are opened, and what no key opens is given back as it came', async () => {
  const foreign = await sealedWith(strange, 'mouse')
  const plain = { metadata: { encoding: 'anNvbi9wbGFpbg==' }, data: 'MQ==' }
  const moved = await sealedWith(newest, 'cat')
  const elsewhere = { ...moved.metadata, place: Buffer.from('["other"]').toString('base64') }
  const given = [
    await sealedWith(newest, { a: 1 }),
    await sealedWith(older, 'b'),
    foreign,
    plain,
    { metadata: elsewhere, data: moved.data },
    7,
  ]
  const { status, payloads } = await ask('/decode', given, bearer())
  expect(status).toBe(200)
  expect(payloads.slice(0, 2).map(({ data }) => clear(data))).toEqual(['{"a":1}', '"b"'])
  expect(clear((payloads[0]!.metadata as { encoding: string }).encoding)).toBe('json/plain')
  expect(payloads.slice(2)).toEqual(given.slice(2))
})

test('the UI of a named origin asks with the token in the path, after it has asked whether it may', async () => {
  const may = await fetch(`${url}/${token}/decode`, {
    method: 'OPTIONS',
    headers: {
      origin: UI,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,x-namespace',
    },
  })
  expect(may.status).toBe(204)
  expect(may.headers.get('access-control-allow-origin')).toBe(UI)
  expect(may.headers.get('access-control-allow-headers')).toContain('x-namespace')
  const { status, payloads, origin } = await ask(`/${token}/decode`, [await sealedWith(newest, 'x')], { origin: UI })
  expect([status, origin, clear(payloads[0]?.data)]).toEqual([200, UI, '"x"'])
})

test('nothing is opened for another origin, another name of this machine, or without the token', async () => {
  const payloads = [await sealedWith(newest, 'mouse')]
  const other = await ask('/decode', payloads, { ...bearer(), origin: 'http://localhost:9999' })
  expect([other.status, other.origin, other.payloads]).toEqual([403, null, []])
  expect((await fetch(`${url}/decode`, { method: 'OPTIONS', headers: { origin: 'null' } })).status).toBe(403)
  const wrong = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`
  for (const [path, headers] of [
    ['/decode', {}],
    ['/decode', { authorization: `Bearer ${wrong}` }],
    ['/decode', { authorization: `Basic ${token}` }],
    [`/${wrong}/decode`, {}],
    [`/${wrong}/decode`, { ...bearer(), origin: UI }],
  ] as const) {
    const refused = await ask(path, payloads, headers)
    expect([refused.status, refused.payloads]).toEqual([401, []])
  }
  const rebound = request(`${url}/${token}/decode`, { method: 'POST', headers: { host: 'evil.example' } })
  rebound.end('{"payloads":[]}')
  const [response] = await once(rebound, 'response')
  expect(response.statusCode).toBe(421)
  response.resume()
})

test('nothing is sealed, also with the token, and a body that is none is refused', async () => {
  const plain = [{ metadata: { encoding: 'anNvbi9wbGFpbg==' }, data: 'MQ==' }]
  const { status, text } = await ask('/encode', plain, bearer())
  expect(status).toBe(403)
  expect(text).toContain('nothing was sent to a workflow')
  expect((await ask('/decode', 'x', bearer())).status).toBe(400)
})

test('the token file is of its owner alone; one that could be guessed, or an origin that is none, is refused', async () => {
  expect(statSync(join(folder, 'data/codec.token')).mode & 0o777).toBe(0o600)
  writeFileSync(join(folder, 'short'), 'secret\n', { mode: 0o600 })
  const place = { cwd: folder }
  const short = await quorateShared(['codec-server', '--token-file', join(folder, 'short')], place)
  expect(short.stderr).toContain('worker/codec-token-unusable')
  expect(short.stderr).not.toContain('secret')
  const origin = await quorateShared(['codec-server', '--origin', 'localhost'], place)
  expect(origin.stderr).toContain('expected --origin')
})
