/**
 * Servers of Temporal as `@temporalio/envconfig` names them: several profiles in one file, a real server with mTLS, and what a server
 * with API keys, such as Temporal Cloud, is sent by the client and by the worker.
 */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createSecureServer, createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeCertificates } from '../../src/worker/certificates.ts'
import { connectTemporal, type WorkerError } from '../../src/worker/index.ts'
import { keyFile, quorate, testFolder } from '../cli/harness.ts'
import { ORGANIZATION_ID } from '../definitions/harness.ts'
import { type TestTemporal, testTemporal } from '../temporal.ts'
import { testSeal } from '../test-seal.ts'

const API_KEY = 'key-of-the-cloud'
const folder = mkdtempSync(join(tmpdir(), 'quorate-profiles-'))
const file = join(folder, 'temporal.toml')
let temporal: TestTemporal
/** The metadata of each call on the stand-in. */
const calls: IncomingHttpHeaders[] = []
const cloud = createSecureServer()
/** The same without TLS. */
const inClear = createServer()

/** Answers every call with an empty message, and says that all went well. */
function answer(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  calls.push(headers)
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  stream.end(Buffer.alloc(5))
}

beforeAll(async () => {
  temporal = await testTemporal()
  const { authority, certificate, key } = temporal.tls
  const made = await makeCertificates()
  const cloudAuthority = join(folder, 'cloud.pem')
  writeFileSync(cloudAuthority, made.authority)
  cloud.setSecureContext({ key: made.server.key, cert: made.server.certificate })
  for (const server of [cloud, inClear]) await once(server.on('stream', answer).listen(0, '127.0.0.1'), 'listening')
  const { port } = cloud.address() as AddressInfo
  writeFileSync(
    file,
    `[profile.default]
address = "${temporal.address}"
[profile.default.tls]
server_name = "localhost"
server_ca_cert_path = "${authority}"
client_cert_path = "${certificate}"
client_key_path = "${key}"

[profile.cloud]
address = "127.0.0.1:${port}"
namespace = "acme.a1b2c"
api_key = "${API_KEY}"
[profile.cloud.tls]
server_name = "localhost"
server_ca_cert_path = "${cloudAuthority}"
[profile.cloud.grpc_meta]
x-team = "custody"

[profile.stranger]
address = "${temporal.address}"
[profile.stranger.tls]
server_name = "localhost"
server_ca_cert_path = "${authority}"
`,
  )
})
afterAll(async () => {
  for (const server of [cloud, inClear]) server.close()
  rmSync(folder, { recursive: true, force: true })
})

const connect = (environment: Readonly<Record<string, string>>) =>
  connectTemporal({ environment: { TEMPORAL_CONFIG_FILE: file, ...environment } }, testSeal)
const fails = (environment: Readonly<Record<string, string>>) =>
  connect(environment).catch((error: unknown) => error as WorkerError) as Promise<WorkerError>

describe('profiles of Temporal', () => {
  test('the one called default is used where none is named: its certificates let client and worker in', async () => {
    const connections = await connect({})
    expect([connections.address, connections.namespace]).toEqual([temporal.address, 'default'])
    await connections.client.workflowService.describeNamespace({ namespace: 'default' })
    await connections.openForWorker()
    await connections.close()
  })

  test('a named one: its namespace, its API key and its metadata go with each call of the client and the worker', async () => {
    const connections = await connect({ TEMPORAL_PROFILE: 'cloud' })
    expect(connections.namespace).toBe('acme.a1b2c')
    await connections.client.workflowService.describeNamespace({ namespace: 'acme.a1b2c' })
    const ofClient = calls.splice(0)
    await connections.openForWorker()
    await connections.close()
    expect(ofClient.map((call) => call[':path'])).toContain(
      '/temporal.api.workflowservice.v1.WorkflowService/DescribeNamespace',
    )
    for (const all of [ofClient, calls.splice(0)]) {
      expect(all.length).toBeGreaterThan(0)
      for (const call of all) expect([call.authorization, call['x-team']]).toEqual([`Bearer ${API_KEY}`, 'custody'])
    }
  })

  test('a variable goes over the profile', async () => {
    const connections = await connect({
      TEMPORAL_PROFILE: 'cloud',
      TEMPORAL_API_KEY: 'newer',
      TEMPORAL_NAMESPACE: 'other',
    })
    await connections.close()
    expect(connections.namespace).toBe('other')
    expect(calls.splice(0).map(({ authorization }) => authorization)).toContain('Bearer newer')
  })

  test('one without what the server wants says which certificates to give, and shows no key', async () => {
    const fault = await fails({ TEMPORAL_PROFILE: 'stranger', TEMPORAL_API_KEY: API_KEY })
    expect(fault).toMatchObject({
      code: 'worker/temporal-unreachable',
      facts: { address: temporal.address, tls: 'without a client certificate' },
      next: expect.stringContaining('TEMPORAL_TLS_CLIENT_CERT_PATH'),
    })
    expect(JSON.stringify(fault)).not.toContain(API_KEY)
  })

  test.each([
    ['a profile that the file does not have', { TEMPORAL_PROFILE: 'clowd' }, { profile: 'clowd' }],
    [
      'a file that is not there',
      { TEMPORAL_PROFILE: 'cloud', TEMPORAL_CONFIG_FILE: '/nowhere/temporal.toml' },
      { file: '/nowhere/temporal.toml' },
    ],
  ])('%s is named, and nothing is sent to the address of another', async (_, environment, facts) => {
    expect(await fails(environment)).toMatchObject({
      code: 'worker/temporal-settings',
      facts: { ...facts, submitted: 'nothing' },
    })
    expect(calls).toEqual([])
  })
})

/** A key that everybody on the way would read. Every address of 0.0.0.0 leads to the loopback and is none, as one of a network. */
describe('an API key without TLS', () => {
  const port = () => (inClear.address() as AddressInfo).port
  const temporalOf = (host: string, more: Readonly<Record<string, string>>) => ({
    TEMPORAL_ADDRESS: `${host}:${port()}`,
    TEMPORAL_TLS: 'false',
    ...more,
  })
  const inFile = (profile: string) => {
    const written = join(folder, 'in-clear.toml')
    writeFileSync(written, profile)
    return { TEMPORAL_CONFIG_FILE: written, TEMPORAL_PROFILE: 'plain' }
  }

  test.each([
    ['a variable that switches TLS off', () => temporalOf('0.0.0.0', { TEMPORAL_API_KEY: API_KEY })],
    [
      '`yes`, which the SDK takes for no',
      () => temporalOf('0.0.0.0', { TEMPORAL_API_KEY: API_KEY, TEMPORAL_TLS: 'yes' }),
    ],
    ['an address in a form of gRPC', () => temporalOf('dns:0.0.0.0', { TEMPORAL_API_KEY: API_KEY })],
    [
      'a profile that switches TLS off',
      () =>
        inFile(`[profile.plain]
address = "0.0.0.0:${port()}"
api_key = "${API_KEY}"
[profile.plain.tls]
disabled = true
`),
    ],
    [
      'metadata, for which nothing switches TLS on',
      () => ({ TEMPORAL_ADDRESS: `0.0.0.0:${port()}`, TEMPORAL_GRPC_META_AUTHORIZATION: `Bearer ${API_KEY}` }),
    ],
  ])('%s: refused with what to do, and nothing is sent', async (_, environment) => {
    const outer = testFolder()
    const ran = await quorate(['watch', 'list'], {
      env: {
        QUORATE_BASE_URL: 'http://127.0.0.1:1',
        QUORATE_ORGANIZATION_ID: ORGANIZATION_ID,
        QUORATE_DATA_DIR: join(outer, 'data'),
        QUORATE_API_KEY_FILE: keyFile(outer, 'key', 'ab'.repeat(32)),
        ...environment(),
      },
    })
    expect(calls.splice(0)).toEqual([])
    expect(ran.exit).toBe(1)
    expect(ran.stderr).toContain('error worker/temporal-in-clear: ')
    expect(ran.stderr).toMatch(/would be sent to `\S*0\.0\.0\.0:\d+` without TLS/)
    expect(ran.stderr).toMatch(/submitted +nothing/)
    expect(ran.stderr).toContain('set TEMPORAL_TLS=true')
    expect(ran.stdout + ran.stderr).not.toContain(API_KEY)
  })

  test('so is the program that makes a namespace', async () => {
    const env = { PATH: process.env['PATH'], ...temporalOf('0.0.0.0', { TEMPORAL_API_KEY: API_KEY }) }
    const ran = promisify(execFile)(
      process.execPath,
      [join(import.meta.dirname, '../../src/worker/make-namespace.ts'), 'acme', '7'],
      { env },
    )
    await expect(ran).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('without TLS') })
    expect(calls.splice(0)).toEqual([])
  })

  test.each(['127.0.0.1', 'localhost'])('on this machine (%s) it is sent', async (host) => {
    const connections = await connect(temporalOf(host, { TEMPORAL_API_KEY: API_KEY }))
    await connections.close()
    expect(calls.splice(0).map(({ authorization }) => authorization)).toContain(`Bearer ${API_KEY}`)
  })
})
