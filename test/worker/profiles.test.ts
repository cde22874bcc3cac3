/**
 * Servers of Temporal as `@temporalio/envconfig` names them: several profiles in one file, a real server with mTLS, and what a server
 * with API keys, such as Temporal Cloud, is sent by the client and by the worker.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createSecureServer, type IncomingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeCertificates } from '../../src/worker/certificates.ts'
import { connectTemporal, type WorkerError } from '../../src/worker/index.ts'
import { type TestTemporal, testTemporal } from '../temporal.ts'
import { testSeal } from '../test-seal.ts'

const API_KEY = 'key-of-the-cloud'
const folder = mkdtempSync(join(tmpdir(), 'quorate-profiles-'))
const file = join(folder, 'temporal.toml')
let temporal: TestTemporal
/** The metadata of each call on the stand-in. */
const calls: IncomingHttpHeaders[] = []
const cloud = createSecureServer()

beforeAll(async () => {
  temporal = await testTemporal()
  const { authority, certificate, key } = temporal.tls
  const made = await makeCertificates()
  const cloudAuthority = join(folder, 'cloud.pem')
  writeFileSync(cloudAuthority, made.authority)
  // It answers every call with an empty message, and says that all went well.
  cloud.setSecureContext({ key: made.server.key, cert: made.server.certificate })
  cloud.on('stream', (stream, headers) => {
    calls.push(headers)
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.end(Buffer.alloc(5))
  })
  await once(cloud.listen(0, '127.0.0.1'), 'listening')
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
  cloud.close()
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
