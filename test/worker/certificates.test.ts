import { execFileSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect as connectTcp } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer } from 'node:tls'
import { afterAll, describe, expect, test } from 'vitest'
import { clientTls, ensureCertificates } from '../../src/worker/certificate-files.ts'
import { type KeyWithCertificate, makeCertificates } from '../../src/worker/certificates.ts'

const folder = mkdtempSync(join(tmpdir(), 'quorate-certificates-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const DAY_MS = 24 * 3_600_000

describe('certificates', () => {
  test('the authority signs both, each is its key’s, and they say what they are for', async () => {
    const now = Date.parse('2026-11-22T10:00:00Z')
    const made = await makeCertificates({ now })
    const authority = new X509Certificate(made.authority)
    expect([authority.ca, authority.subject, authority.verify(authority.publicKey)]).toEqual([
      true,
      'CN=quorate authority',
      true,
    ])
    const rows: readonly [KeyWithCertificate, string, readonly string[]][] = [
      [made.server, 'CN=quorate temporal server', ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']],
      [made.client, 'CN=quorate', ['1.3.6.1.5.5.7.3.2']],
    ]
    for (const [one, subject, usages] of rows) {
      const certificate = new X509Certificate(one.certificate)
      expect(certificate.subject).toBe(subject)
      expect(certificate.ca).toBe(false)
      expect(certificate.verify(authority.publicKey)).toBe(true)
      expect(certificate.checkIssued(authority)).toBe(true)
      expect(certificate.checkPrivateKey(createPrivateKey(one.key))).toBe(true)
      expect(certificate.keyUsage).toEqual(usages)
      expect(certificate.subjectAltName).toBe('IP Address:127.0.0.1, DNS:localhost')
      expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1')
      expect(certificate.validFromDate.getTime()).toBe(now - DAY_MS)
      expect(certificate.validToDate.getTime()).toBe(now + 3650 * DAY_MS)
    }
  })

  test('a date past 2049 is written with four digits of its year', async () => {
    const { authority } = await makeCertificates({ now: Date.parse('2045-01-01T00:00:00Z') })
    expect(new X509Certificate(authority).validToDate.toISOString()).toBe('2054-12-30T00:00:00.000Z')
  })

  test('no two have a serial number in common, and every one can be read', async () => {
    const made = await Promise.all(Array.from({ length: 50 }, () => makeCertificates()))
    const serials = made.flatMap(({ authority, server, client }) =>
      [authority, server.certificate, client.certificate].map((text) => new X509Certificate(text).serialNumber),
    )
    expect(new Set(serials).size).toBe(150)
  })

  test('a server that wants them lets in its client, and nobody of another authority', async () => {
    const [ours, theirs] = await Promise.all([makeCertificates(), makeCertificates()])
    const server = createServer(
      {
        ca: ours.authority,
        cert: ours.server.certificate,
        key: ours.server.key,
        requestCert: true,
        rejectUnauthorized: true,
      },
      (socket) => socket.end('welcome'),
    ).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const hear = (pair: Partial<KeyWithCertificate>, ca = ours.authority) =>
      new Promise<string>((resolve) => {
        const own = pair.certificate ? { cert: pair.certificate, key: pair.key! } : {}
        const socket = connect({ socket: connectTcp(port, '127.0.0.1'), servername: 'localhost', ca, ...own })
        let heard = ''
        socket.on('data', (part) => {
          heard += String(part)
        })
        socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
        socket.on('close', () => resolve(heard || 'nothing'))
      })
    expect(await hear(ours.client)).toBe('welcome')
    expect(await hear(theirs.client)).not.toBe('welcome')
    expect(await hear({})).not.toBe('welcome')
    // A client does not believe a server of another authority either.
    expect(await hear(ours.client, theirs.authority)).toBe('SELF_SIGNED_CERT_IN_CHAIN')
    await new Promise((resolve) => server.close(resolve))
  })
})

describe('certificate files', () => {
  const read = (at: string) => readdirSync(at).map((name) => [name, readFileSync(join(at, name), 'utf8')] as const)

  test('are their owner’s alone, hold no key of the authority, and are kept while they last', async () => {
    const at = join(folder, 'kept')
    await ensureCertificates(at)
    const before = read(at)
    expect(before.map(([name]) => name)).toEqual([
      'authority.pem',
      'client.key',
      'client.pem',
      'server.key',
      'server.pem',
    ])
    expect(statSync(at).mode & 0o777).toBe(0o700)
    for (const [name] of before) expect(statSync(join(at, name)).mode & 0o777).toBe(0o600)
    await ensureCertificates(at)
    expect(read(at)).toEqual(before)
  })

  test('those that end within a year are made anew', async () => {
    const at = join(folder, 'old')
    await ensureCertificates(at, { now: Date.now() - 9.5 * 365 * DAY_MS })
    const before = read(at)
    await ensureCertificates(at)
    for (const [index, [, text]] of read(at).entries()) expect(text).not.toBe(before[index]![1])
  })

  test.each([
    ['is missing', (at: string) => rmSync(clientTls(at).key)],
    ['is cut off', (at: string) => writeFileSync(clientTls(at).certificate, '-----BEGIN CERTIFICATE-----\nMII')],
    ['is another’s', async (at: string) => writeFileSync(clientTls(at).key, (await makeCertificates()).client.key)],
    [
      'is of another authority',
      async (at: string) => writeFileSync(clientTls(at).authority, (await makeCertificates()).authority),
    ],
  ])('a set of which one %s is made anew as a whole', async (name, spoil) => {
    const at = join(folder, name)
    await ensureCertificates(at)
    const before = read(at)
    await spoil(at)
    await ensureCertificates(at)
    for (const [index, [, text]] of read(at).entries()) expect(text).not.toBe(before[index]![1])
  })
})

describe('certificates for a server in containers', () => {
  test('are made by a program of its own, for the names that it is given', () => {
    const at = join(folder, 'containers/temporal')
    const program = join(import.meta.dirname, '../../src/worker/make-certificates.ts')
    execFileSync(process.execPath, [program, at, 'temporal'])
    const certificate = new X509Certificate(readFileSync(join(at, 'server.pem')))
    expect(certificate.checkHost('temporal')).toBe('temporal')
    expect(certificate.checkHost('localhost')).toBeUndefined()
    expect(statSync(join(at, 'client.key')).mode & 0o777).toBe(0o600)
  })
})
