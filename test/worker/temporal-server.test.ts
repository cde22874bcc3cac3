import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  atTemporal,
  connectTemporal,
  findTemporal,
  startTemporalServer,
  type TemporalServer,
  type WorkerError,
} from '../../src/worker/index.ts'
import { testTemporal, testTemporalEnvironment } from '../temporal.ts'
import { testSeal } from '../test-seal.ts'
import '../worker-runtime.ts'

let folder = ''
let binary = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-server-'))
  binary = await findTemporal({ announce })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const announce = () => {}

/** What a client finds after `end` has ended the server under it. */
async function restarted(name: string, end: (server: TemporalServer) => Promise<void>) {
  const state = join(folder, name)
  const first = await startTemporalServer({ binary, folder: state, announce })
  const before = await connectTemporal(first, testSeal)
  await before.client.workflow.start('anything', { workflowId: 'kept', taskQueue: 'nobody' })
  await end(first)
  await before.close()
  expect(() => process.kill(first.pid, 0)).toThrow()

  const second = await startTemporalServer({ binary, folder: state, retentionDays: 9, announce })
  const after = await connectTemporal(second, testSeal)
  const { status, runId } = await after.client.workflow.getHandle('kept').describe()
  const { config } = await after.client.workflowService.describeNamespace({ namespace: 'default' })
  await after.close()
  await second.stop()
  return { status: status.name, runId, retention: Number(config?.workflowExecutionRetentionTtl?.seconds), state }
}

describe('embedded temporal server', () => {
  test('what was started is there after a stop and a start on the same folder, which is its owner’s alone', async () => {
    const { status, retention, state } = await restarted('stopped', (server) => server.stop())
    expect([status, retention]).toEqual(['RUNNING', 9 * 24 * 3_600])
    expect(statSync(state).mode & 0o777).toBe(0o700)
    const files = readdirSync(state, { recursive: true, withFileTypes: true })
    for (const entry of files) {
      const { mode } = statSync(join(entry.parentPath, entry.name))
      expect([entry.name, mode & 0o777]).toEqual([entry.name, entry.isDirectory() ? 0o700 : 0o600])
    }
    expect(files.map(({ name }) => name)).toContain('client.key')
  })

  test('what was acknowledged is there after it was killed, and steps go on at once', async () => {
    const killed = await restarted('killed', async ({ pid, ended }) => {
      process.kill(pid, 'SIGKILL')
      expect(await ended).toBe('it ended with SIGKILL')
    })
    expect(killed.status).toBe('RUNNING')
  })

  test('its config holds no key, and its log neither', async () => {
    const { state } = await restarted('quiet', (server) => server.stop())
    const key = readFileSync(join(state, 'certificates/server.key'), 'utf8').split('\n')[1]!
    for (const name of ['config/quorate.yaml', 'config/dynamic.yaml', 'server.log']) {
      expect(readFileSync(join(state, name), 'utf8')).not.toContain(key)
    }
  })

  test('a binary that ends at once is an error with its last words', async () => {
    const broken = join(folder, 'broken')
    writeFileSync(broken, '#!/bin/sh\necho "database is locked" >&2\nexit 3\n')
    chmodSync(broken, 0o755)
    const fault = startTemporalServer({ binary: broken, folder: join(folder, 'ends'), announce })
    await expect(fault).rejects.toMatchObject({
      code: 'worker/temporal-failed',
      message: expect.stringContaining('it ended with status 3'),
      facts: { said: 'database is locked' },
    })
  })

  test('a start that is no longer wanted leaves no process', async () => {
    const sleeper = join(folder, 'sleeper')
    mkdirSync(join(folder, 'sleeps'), { mode: 0o700 })
    writeFileSync(sleeper, '#!/bin/sh\necho $$ > pid\nexec sleep 300\n')
    chmodSync(sleeper, 0o755)
    const wanted = new AbortController()
    const fault = startTemporalServer({
      binary: sleeper,
      folder: join(folder, 'sleeps'),
      signal: wanted.signal,
      announce,
    })
    const settled = expect(fault).rejects.toThrow('not wanted')
    const pid = () => Number(readFileSync(join(folder, 'sleeps/pid'), 'utf8'))
    while (!readdirSync(join(folder, 'sleeps')).includes('pid') || !pid()) await new Promise(setImmediate)
    wanted.abort(new Error('not wanted'))
    await settled
    expect(() => process.kill(pid(), 0)).toThrow()
  })

  test('no server at the address is an error that names it', async () => {
    await expect(connectTemporal({ address: '127.0.0.1:1' }, testSeal)).rejects.toMatchObject({
      code: 'worker/temporal-unreachable',
      message: 'no Temporal server answers at `127.0.0.1:1`',
    })
  })

  test('what listens and is no Temporal is told as what it is, within a limit', async () => {
    const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
    const silent = 'takes connections and does not answer'
    const rows: readonly [string, Readonly<Record<string, string>>, (socket: Socket) => void][] = [
      [silent, {}, () => {}],
      [silent, { TEMPORAL_TLS: 'true' }, () => {}],
      ['takes this client in, but does not answer as Temporal does', {}, (socket) => void socket.write(settings)],
      [
        "does not take this client as one of Temporal's",
        {},
        (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
      ],
    ]
    await Promise.all(
      rows.map(async ([says, tls, answer]) => {
        const open = new Set<Socket>()
        const server = createServer((socket) => {
          open.add(socket.on('error', () => {}).resume())
          answer(socket)
        }).listen(0, '127.0.0.1')
        await once(server, 'listening')
        const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
        const environment = { TEMPORAL_ADDRESS: address, ...tls }
        await expect(connectTemporal({ environment }, testSeal)).rejects.toMatchObject({
          code: 'worker/temporal-unreachable',
          message: `what listens at \`${address}\` ${says}`,
        })
        for (const socket of open) socket.destroy()
        await new Promise((resolve) => server.close(resolve))
      }),
    )
  })

  test('a server that hangs while it is asked is told as one that answers no more, within a limit', async () => {
    const temporal = await testTemporal()
    const open = new Set<Socket>()
    const relay = createServer((near) => {
      const far = createConnection(Number(temporal.address.split(':')[1]), '127.0.0.1')
      for (const end of [near, far]) open.add(end.on('error', () => {}))
      near.pipe(far).pipe(near)
    }).listen(0, '127.0.0.1')
    await once(relay, 'listening')
    const address = `127.0.0.1:${(relay.address() as AddressInfo).port}`
    const connections = await connectTemporal({ ...temporal, address, callMs: 500 }, testSeal)
    for (const end of open) end.unpipe()
    await expect(
      atTemporal(connections, () => connections.client.workflow.getHandle('kept').describe()),
    ).rejects.toMatchObject({
      code: 'worker/temporal-unreachable',
      message: `the Temporal server at \`${address}\` answers no more`,
    })
    for (const end of open) end.destroy()
    await connections.close()
    await new Promise((resolve) => relay.close(resolve))
  })

  test.each([
    ['a profile that is not there', { TEMPORAL_PROFILE: 'nobody' }, /^Profile 'nobody' not found/],
    ['a file that is no TOML', {}, /^Invalid TOML/],
    ['a certificate that is not there', { TEMPORAL_PROFILE: 'lost' }, /ENOENT.*lost\.pem/],
  ])('%s is named, and nothing of the file is shown', async (name, more, reason) => {
    const file = join(folder, 'profiles.toml')
    const key = '5f'.repeat(32)
    const broken = name.includes('TOML') ? `[profile.default\napi_key = "${key}"\n` : ''
    const tls = `client_cert_path = "/nowhere/lost.pem"\nclient_key_path = "/nowhere/lost.key"\n`
    writeFileSync(file, `${broken}[profile.lost]\naddress = "127.0.0.1:1"\n[profile.lost.tls]\n${tls}`)
    const environment = { TEMPORAL_ADDRESS: '127.0.0.1:1', TEMPORAL_CONFIG_FILE: file, ...more }
    const fault = await connectTemporal({ environment }, testSeal).catch((error: unknown) => error as WorkerError)
    expect(fault).toMatchObject({
      code: 'worker/temporal-settings',
      facts: { reason: expect.stringMatching(reason), file, submitted: 'nothing' },
    })
    expect(JSON.stringify(fault)).not.toContain(key)
  })

  test('a server that goes away while it is asked is the same error, of a call and of a query', async () => {
    const connection = Connection.lazy({ address: '127.0.0.1:1' })
    const client = new Client({ connection })
    const asked = [
      () => client.workflowService.getSystemInfo({}),
      () => client.workflow.getHandle('send/a/b').query('progress'),
    ]
    for (const ask of asked) {
      const soon = () => connection.withDeadline(Date.now() + 300, ask)
      await expect(atTemporal({ address: '127.0.0.1:1', namespace: 'default' }, soon)).rejects.toMatchObject({
        code: 'worker/temporal-unreachable',
        message: 'the Temporal server at `127.0.0.1:1` answers no more',
      })
    }
    await connection.close()
    const other = new Error('another')
    await expect(atTemporal({ address: '', namespace: '' }, () => Promise.reject(other))).rejects.toBe(other)
  })
})

describe('a temporal server that wants client certificates', () => {
  /** Starts a workflow, and connects as a worker does. */
  async function isLetIn(connections: Awaited<ReturnType<typeof connectTemporal>>): Promise<void> {
    try {
      const workflowId = `let-in-${randomUUID()}`
      await connections.client.workflow.start('anything', { workflowId, taskQueue: 'nobody' })
      await connections.openForWorker()
    } finally {
      await connections.close()
    }
  }

  test('lets in a client with the certificate of its folder', async () => {
    await isLetIn(await connectTemporal(await testTemporal(), testSeal))
  })

  test('lets in who has it from the variables of the environment', async () => {
    await isLetIn(await connectTemporal({ environment: await testTemporalEnvironment() }, testSeal))
  })

  test('lets in who has it from a profile of a configuration file', async () => {
    const { address, tls } = await testTemporal()
    const file = join(folder, 'temporal.toml')
    writeFileSync(
      file,
      `[profile.treasury]\naddress = "${address}"\n[profile.treasury.tls]\nclient_cert_path = "${tls.certificate}"\n` +
        `client_key_path = "${tls.key}"\nserver_ca_cert_path = "${tls.authority}"\nserver_name = "localhost"\n`,
    )
    const environment = { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'treasury' }
    await isLetIn(await connectTemporal({ environment }, testSeal))
  })

  test('refuses who has none, and the error says what to give', async () => {
    const { address } = await testTemporal()
    await expect(connectTemporal({ environment: { TEMPORAL_ADDRESS: address } }, testSeal)).rejects.toMatchObject({
      code: 'worker/temporal-unreachable',
      message: `what listens at \`${address}\` does not take this client as one of Temporal's`,
      facts: { tls: 'none' },
      next: expect.stringContaining('TEMPORAL_TLS_CLIENT_CERT_PATH'),
    })
  })
})
