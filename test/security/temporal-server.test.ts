/**
 * Another user of the machine at the embedded Temporal: the attack that let it list and start workflows, and sign with the
 * worker's key, when the server was a development server without authentication. Every port of every process that `up`
 * leaves running is tried; the same attack with the owner's certificate shows that it would have been let in.
 */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embeddedTemporalTls } from '../../src/cli/background/embedded-temporal.ts'
import { makeCertificates } from '../../src/worker/certificates.ts'
import { connectTemporal, type TemporalConnections } from '../../src/worker/index.ts'
import { quorate, testFolder } from '../cli/harness.ts'
import { testSeal } from '../test-seal.ts'
import { type Listener, listenersOf } from './listeners.ts'
import { noOtherUser, runAsOtherUser } from './other-user.ts'

const linux = process.platform === 'linux'
const attack = readFileSync(join(import.meta.dirname, 'temporal-stranger.mjs'), 'utf8')

interface Outcome {
  readonly port: number
  readonly way: string
  readonly calls: Readonly<Record<string, string>>
  readonly web: string
  readonly member: string
}

const dataDir = join(
  testFolder((work) => afterAll(work)),
  'data',
)
const env = { QUORATE_DATA_DIR: dataDir }
const tls = embeddedTemporalTls(dataDir)
let temporal: TemporalConnections
let listeners: readonly Listener[]
let ports: readonly number[]
let grpcPort: number
beforeAll(async () => {
  const up = await quorate(['up', '--json'], { env })
  const { pid, temporalAddress } = JSON.parse(up.stdout) as { pid: number; temporalAddress: string }
  temporal = await connectTemporal({ address: temporalAddress, tls }, testSeal)
  await temporal.client.workflow.start('anything', { workflowId: 'kept', taskQueue: 'nobody' })
  listeners = linux ? listenersOf(pid) : []
  ports = listeners.filter(({ program }) => program.startsWith('temporal')).map(({ port }) => port)
  grpcPort = Number(temporalAddress.split(':')[1])
})
afterAll(async () => {
  await temporal?.close()
  await quorate(['down'], { env })
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

async function attempt(certificates?: object): Promise<readonly Outcome[]> {
  const ran = await runAsOtherUser(attack, {
    args: [JSON.stringify({ ports: listeners.map(({ port }) => port), ...certificates })],
    timeoutMs: 200_000,
  })
  expect(ran.stderr).toBe('')
  return JSON.parse(ran.stdout) as Outcome[]
}

/** One record of TLS that ends a handshake: type 21, two bytes of version, two of length, two of what it says. */
const isAlert = (heard: string) => heard.length === 7 && heard.charCodeAt(0) === 21

describe.skipIf(!linux)('temporal server: what listens', () => {
  test('the service and its authentication proxy at a port each and Temporal at seven, on the loopback interface alone', () => {
    expect(ports).toHaveLength(7)
    expect(ports).toContain(grpcPort)
    expect(listeners.filter(({ program }) => !program.startsWith('temporal'))).toHaveLength(2)
    expect(new Set(listeners.map(({ host }) => host))).toEqual(new Set(['127.0.0.1']))
  })
})

describe.skipIf(!linux || noOtherUser !== undefined)('temporal server: another user of this machine', () => {
  test('cannot read a certificate, key, state or config', async () => {
    const files = [
      tls.authority,
      tls.certificate,
      tls.key,
      join(dataDir, 'temporal/state.db'),
      join(dataDir, 'temporal.json'),
    ]
    const script = `import { readFileSync } from 'node:fs'
for (const file of process.argv.slice(2)) { try { readFileSync(file); console.log('read', file) } catch ({ code }) { console.log(code) } }`
    const { stdout } = await runAsOtherUser(script, { args: files })
    expect(stdout.trim().split('\n')).toEqual(files.map(() => 'EACCES'))
  })

  test('can neither list, read, start, signal, query nor end a workflow at any port, in any way', async () => {
    const { client } = await makeCertificates()
    const outcomes = await attempt({ pair: client })
    expect(outcomes.map(({ way }) => way).slice(0, 3)).toEqual([
      'in clear',
      'without a certificate',
      'with a certificate',
    ])
    expect(outcomes).toHaveLength(3 * listeners.length)
    for (const { calls } of outcomes) {
      expect(Object.values(calls).filter((outcome) => outcome.startsWith('grpc'))).toEqual([])
    }
    // Not even a greeting: to what is no TLS a port of Temporal says at most an alert, and to a stranger over TLS nothing.
    for (const { port, way, web, member } of outcomes.filter((one) => ports.includes(one.port))) {
      for (const heard of [web, member]) expect([port, way, isAlert(heard) ? '' : heard]).toEqual([port, way, ''])
    }
    const { status, historyLength } = await temporal.client.workflow.getHandle('kept').describe()
    expect([status.name, historyLength]).toEqual(['RUNNING', 2])
    await expect(temporal.client.workflow.getHandle('stranger').describe()).rejects.toThrow()
  })

  test('would be let in with the certificate of the data folder: the attack is one', async () => {
    const [certificate, key, ca] = [tls.certificate, tls.key, tls.authority].map((file) => readFileSync(file, 'utf8'))
    const outcomes = await attempt({ pair: { certificate, key }, ca })
    const { calls } = outcomes.find(({ port, way }) => port === grpcPort && way === 'with a certificate')!
    expect(calls).toMatchObject({
      ListNamespaces: 'grpc 0',
      ListWorkflowExecutions: 'grpc 0',
      GetWorkflowExecutionHistory: 'grpc 0',
    })
    // The membership ports answer a member's greeting, which shows what TLS keeps from the stranger.
    const greeted = outcomes.filter(({ way, member }) => way === 'with a certificate' && member.includes('tchannel'))
    expect(greeted).toHaveLength(4)
  })
})
