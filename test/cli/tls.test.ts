/** TLS of the service and its proxy, with an authority of one's own, as an operator and the commands meet it. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readListening } from '../../src/cli/listening.ts'
import { type MutualCertificates, makeCertificates } from '../../src/worker/certificates.ts'
import { startTestService } from '../service/harness.ts'
import { quorate, serve, testFolder } from './harness.ts'

/** Puts a server's certificate and key where its options name them. */
function write(folder: string, { authority, server }: MutualCertificates) {
  const files = { certificate: join(folder, 'server.pem'), key: join(folder, 'server.key') }
  writeFileSync(files.certificate, server.certificate)
  writeFileSync(files.key, server.key, { mode: 0o600 })
  const ca = join(folder, 'authority.pem')
  writeFileSync(ca, authority)
  return { ...files, ca }
}

/** A connection to a server, whose certificate this authority has signed. */
async function connectTo(url: string, ca: string): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), ca, servername: 'localhost' })
  onTestFinished(() => void socket.destroy())
  await once(socket, 'secureConnect')
  return socket
}

async function fingerprintOf(url: string, cas: readonly string[]): Promise<string> {
  const socket = await connectTo(url, cas.join('\n'))
  const { fingerprint256 } = socket.getPeerX509Certificate()!
  socket.destroy()
  return fingerprint256
}

/** Asks whether it answers; gives the status. */
async function ask(url: string, ca: string): Promise<number> {
  const asked = request(`${url}/healthz`, { ca, servername: 'localhost', agent: false }).end()
  const [response] = await once(asked, 'response')
  response.resume()
  await once(response, 'end')
  return response.statusCode
}

describe('tls', () => {
  test.each([
    { options: {}, expected: { host: '127.0.0.1' } },
    { options: { listen: '127.8.8.8' }, expected: { host: '127.8.8.8' } },
    { options: { listen: '::1' }, expected: { host: '::1' } },
    { options: { listen: '0.0.0.0', plainHttp: true }, expected: { host: '0.0.0.0' } },
    {
      options: { listen: '::', tlsCert: 'c', tlsKey: 'k' },
      expected: { host: '::', tls: { certificate: 'c', key: 'k' } },
    },
    { options: { listen: '0.0.0.0' }, refused: 'would let others reach the service over plain HTTP' },
    { options: { listen: '192.0.2.1' }, refused: 'would let others reach the service over plain HTTP' },
    { options: { listen: '::ffff:192.0.2.1' }, refused: 'would let others reach the service over plain HTTP' },
    { options: { listen: 'example.com', plainHttp: true }, refused: 'expected --listen to be an IP address' },
    { options: { tlsCert: 'c' }, refused: '--tls-cert was given without --tls-key' },
    { options: { tlsKey: 'k' }, refused: '--tls-key was given without --tls-cert' },
    { options: { tlsCert: 'c', tlsKey: 'k', plainHttp: true }, refused: '--plain-http was given together with' },
  ])('options: $options', ({ options, expected, refused }) => {
    const read = () => readListening({ options })
    if (refused === undefined) expect(read()).toEqual(expected)
    else expect(read).toThrow(refused)
  })

  test('commands trust an authority of one’s own, and a certificate is replaced by a signal or by itself', async () => {
    const folder = testFolder()
    const [first, second, third] = await Promise.all([makeCertificates(), makeCertificates(), makeCertificates()])
    const { certificate, key, ca } = write(folder, first)
    const service = await serve(join(folder, 'service'), { args: ['--tls-cert', certificate, '--tls-key', key] })
    expect(service.baseUrl).toMatch(/^https:/)
    const place = ['--base-url', service.baseUrl, '--organization-id', service.organizationId]
    const whoami = ['whoami', '--json', ...place, '--key-file', join(folder, 'service/bootstrap.json')]
    const trusting = await quorate(whoami, { env: { NODE_EXTRA_CA_CERTS: ca }, cwd: folder })
    expect(JSON.parse(trusting.stdout)).toMatchObject({ username: 'root' })
    // Nobody else has heard of that authority.
    const strange = await quorate(whoami, { cwd: folder })
    expect(strange.stderr).toContain('name the file of its authority in NODE_EXTRA_CA_CERTS')
    expect(strange.stderr).not.toContain('try 1 of')

    const cas = [first, second, third].map(({ authority }) => authority)
    const before = await fingerprintOf(service.baseUrl, cas)
    write(folder, second)
    process.kill(service.pid, 'SIGHUP')
    await expect.poll(() => fingerprintOf(service.baseUrl, cas)).not.toBe(before)
    const signalled = await fingerprintOf(service.baseUrl, cas)
    // A key that does not belong to the certificate changes nothing.
    writeFileSync(key, third.server.key, { mode: 0o600 })
    process.kill(service.pid, 'SIGHUP')
    await expect.poll(() => service.said()).toContain('is not the key of the certificate')
    expect(await fingerprintOf(service.baseUrl, cas)).toBe(signalled)
    write(folder, third)
    await expect.poll(() => fingerprintOf(service.baseUrl, cas)).not.toBe(signalled)
  })

  test('files that no server can be run with are refused', async () => {
    const folder = testFolder()
    const [one, other] = await Promise.all([makeCertificates(), makeCertificates()])
    const { certificate, key } = write(folder, one)
    const theirs = join(folder, 'theirs.key')
    writeFileSync(theirs, other.server.key, { mode: 0o600 })
    const open = join(folder, 'open.key')
    writeFileSync(open, one.server.key, { mode: 0o644 })
    const start = (tls: { certificate: string; key: string }) =>
      startTestService({ dataDir: join(folder, 'service'), database: undefined, tls })
    await expect(start({ certificate, key: theirs })).rejects.toMatchObject({
      code: 'service/tls-invalid',
      message: expect.stringContaining('is not the key of the certificate'),
    })
    await expect(start({ certificate: key, key })).rejects.toThrow('is no certificate in PEM')
    await expect(start({ certificate, key: join(folder, 'none') })).rejects.toThrow('is not there')
    await expect(start({ certificate, key: open })).rejects.toMatchObject({ code: 'local/exposed' })
  })

  test('connections are counted and ended like those without encryption', async () => {
    const made = await makeCertificates()
    const { certificate, key } = write(testFolder(), made)
    const service = await startTestService({
      tls: { certificate, key },
      limits: { connectionsPerSource: 2, drainMs: 5_000 },
    })
    onTestFinished(() => service.close())
    const held = await connectTo(service.url, made.authority)
    expect(await ask(service.url, made.authority)).toBe(200)
    const second = await connectTo(service.url, made.authority)
    await expect(connectTo(service.url, made.authority)).rejects.toThrow()
    second.destroy()
    await expect.poll(() => ask(service.url, made.authority).catch(String)).toBe(200)
    // What is no TLS gets nothing.
    await expect(fetch(service.url.replace('https', 'http'))).rejects.toThrow()
    const ended = once(held, 'close')
    await service.service.close()
    await ended
  })
})
