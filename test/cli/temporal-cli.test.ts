/**
 * A sealed history is read through `quorate codec-server`: by Temporal's own CLI where it is there (`temporal` 1.5 on the PATH, or
 * built into the cache folder by `go install github.com/temporalio/cli/cmd/temporal@v1.5.1`), and always by what asks as it does.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test, vi } from 'vitest'
import { builtMain } from '../built.ts'
import { historyToText } from '../workflows/history-json.ts'
import { quorateShared as quorate, writeFiles } from './harness.ts'
import { connectScene, onlyTags, scene } from './scene.ts'

const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'quorate/temporal-cli-1.5.1')
const binary = [cache, ...(process.env['PATH'] ?? '').split(delimiter)]
  .map((folder) => join(folder, 'temporal'))
  .find((path) => existsSync(path))

/** An apply that has ended, and the codec server of its data folder. */
async function appliedScene() {
  const place = await scene()
  const { folder, env } = place
  const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': onlyTags(['treasury']) })
  const applied = await quorate(['apply', defs, '--yes'], { env })
  expect(applied.exit, applied.stderr).toBe(0)
  const server = spawn(process.execPath, [builtMain(), 'codec-server', '--json'], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exit = once(server, 'exit')
  onTestFinished(async () => {
    server.kill('SIGTERM')
    await exit
  })
  let said = ''
  server.stdout.on('data', (chunk) => {
    said += chunk
  })
  await vi.waitFor(() => expect(said).toContain('\n'))
  const { url } = JSON.parse(said) as { readonly url: string }
  const token = readFileSync(join(env['QUORATE_DATA_DIR']!, 'codec.token'), 'utf8').trim()
  return { ...place, url, token, workflowId: `apply/${place.service.organizationId}` }
}

/** A payload as Temporal writes it in JSON. */
interface JsonPayload {
  readonly metadata: Readonly<Record<string, string>>
  readonly data?: string
}

const SEALED = Buffer.from('binary/quorate-sealed').toString('base64')
const textOf = (base64 = '') => Buffer.from(base64, 'base64').toString()

/** Every list of payloads, and every single one as a list, wherever in a history it stands. */
function payloadsIn(value: unknown): readonly (readonly JsonPayload[])[] {
  if (typeof value !== 'object' || value === null) return []
  const { payloads, metadata, data } = value as Readonly<Record<string, unknown>>
  if (Array.isArray(payloads)) return [payloads as JsonPayload[]]
  if (typeof metadata === 'object' && typeof data === 'string') return [[value as JsonPayload]]
  return Object.values(value).flatMap(payloadsIn)
}

test('codec server: each sealed payload of a real history is opened, in one question for each list, as the CLI asks', async () => {
  const { env, url, token, workflowId } = await appliedScene()
  const temporal = await connectScene(env)
  const history = await temporal.client.workflow.getHandle(workflowId).fetchHistory()
  await temporal.close()
  let opened = ''
  let count = 0
  for (const payloads of payloadsIn(JSON.parse(historyToText(history)))) {
    // The marker of a patch, and the types of search attributes, are Temporal's own.
    const isSealed = payloads.map(({ metadata }) => textOf(metadata['encoding']) === 'binary/quorate-sealed')
    const answer = await fetch(`${url}/decode`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-namespace': 'default', authorization: `Bearer ${token}` },
      body: JSON.stringify({ payloads }),
    })
    expect(answer.status).toBe(200)
    const read = ((await answer.json()) as { readonly payloads: readonly JsonPayload[] }).payloads
    expect(read.length).toBe(payloads.length)
    for (const [index, { metadata, data }] of read.entries()) {
      if (!isSealed[index]) continue
      expect(textOf(metadata['encoding'])).toMatch(/^(json\/plain|binary\/null)$/)
      opened += `${textOf(data)}\n`
      count++
    }
  }
  expect(count).toBeGreaterThan(10)
  expect(opened).toMatch(/"planDigest":"[0-9a-f]{64}"/)
})

test.skipIf(binary === undefined)(
  'codec server (needs Temporal’s CLI): `temporal workflow show` opens an apply with the token, and nothing of it without',
  async () => {
    const { service, folder, env, url, token, workflowId } = await appliedScene()
    const temporal = (subcommand: string, ...more: readonly string[]) => {
      const args = [
        ...['workflow', subcommand, '--workflow-id', workflowId, '--output', 'json'],
        ...['--address', env['TEMPORAL_ADDRESS']!, '--tls-server-name', 'localhost'],
        ...['--tls-cert-path', env['TEMPORAL_TLS_CLIENT_CERT_PATH']!],
        ...['--tls-key-path', env['TEMPORAL_TLS_CLIENT_KEY_PATH']!],
        ...['--tls-ca-path', env['TEMPORAL_TLS_SERVER_CA_CERT_PATH']!],
      ]
      const options = { env: { HOME: folder }, maxBuffer: 16 * 1_048_576 }
      return promisify(execFile)(binary!, [...args, ...more], options)
    }
    const endpoint = ['--codec-endpoint', url, '--codec-auth']
    const opened = await temporal('show', ...endpoint, `Bearer ${token}`)
    const [input] = payloadsIn(JSON.parse(opened.stdout))[0]!
    expect(JSON.parse(textOf(input!.data))).toMatchObject({
      organizationId: service.organizationId,
      planDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(opened.stdout).not.toContain(SEALED)
    // What has an encoding and nothing else it writes as the JSON that it is.
    const ended = await temporal('result', ...endpoint, `Bearer ${token}`)
    expect(ended.stdout).toMatch(/"state": ?"done"/)

    const sealed = await temporal('show')
    expect(sealed.stdout).toContain(SEALED)
    expect(sealed.stdout).not.toContain(input!.data)
    const refused = await temporal('show', ...endpoint, 'Bearer another').then(
      () => undefined,
      (error: { readonly stdout: string; readonly stderr: string }) => error.stdout + error.stderr,
    )
    expect(refused).toContain('ERROR')
    expect(refused).not.toContain(input!.data)
  },
)
