import { createPrivateKey, X509Certificate } from 'node:crypto'
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { assertPrivateFolder, createPrivate, ensurePrivateFolder, readPrivate } from '../local/index.ts'
import { type CertificateOptions, type MutualCertificates, makeCertificates } from './certificates.ts'

/** Files (PEM) with which a client shows who it is and knows the server. */
export interface TemporalTls {
  /** Of the authority that signed both certificates. */
  readonly authority: string
  readonly certificate: string
  readonly key: string
}

/** The files inside a folder of certificates; a server's config and the documentation name them. */
export const CERTIFICATE_FILES = {
  authority: 'authority.pem',
  server: { certificate: 'server.pem', key: 'server.key' },
  client: { certificate: 'client.pem', key: 'client.key' },
} as const

/** The certificates of a client of the server in this folder. */
export function clientTls(folder: string): TemporalTls {
  const { authority, client } = CERTIFICATE_FILES
  return {
    authority: join(folder, authority),
    certificate: join(folder, client.certificate),
    key: join(folder, client.key),
  }
}

/** Certificates that end sooner are made anew at the next start: no server should outlive its own. */
const RENEW_MS = 365 * 24 * 3_600_000

/**
 * Makes the certificates in this folder unless whole ones stand there that are valid for long. Throws `local/exposed` for what
 * others own, may write or have linked.
 */
export async function ensureCertificates(folder: string, options: CertificateOptions = {}): Promise<void> {
  const { now = Date.now() } = options
  assertPrivateFolder(folder)
  const found = readCertificates(folder)
  if (found && lastsUntil(found, now + RENEW_MS)) return
  const certificates = await makeCertificates({ ...options, now })
  // All at once: after a death in between there are the old ones, or none.
  const made = `${folder}.new`
  rmSync(made, { recursive: true, force: true })
  ensurePrivateFolder(made)
  for (const [name, text] of textsOf(certificates)) createPrivate(join(made, name), text)
  rmSync(folder, { recursive: true, force: true })
  renameSync(made, folder)
}

function textsOf({ authority, server, client }: MutualCertificates): [string, string][] {
  const files = CERTIFICATE_FILES
  return [
    [files.authority, authority],
    [files.server.certificate, server.certificate],
    [files.server.key, server.key],
    [files.client.certificate, client.certificate],
    [files.client.key, client.key],
  ]
}

function readCertificates(folder: string): MutualCertificates | undefined {
  const { authority, server, client } = CERTIFICATE_FILES
  const read = (name: string) => readPrivate(join(folder, name)) ?? ''
  const pair = (files: { certificate: string; key: string }) => ({
    certificate: read(files.certificate),
    key: read(files.key),
  })
  const found = { authority: read(authority), server: pair(server), client: pair(client) }
  return found.authority === '' ? undefined : found
}

/** Whether they belong together and are valid at that time; what cannot be read is not. */
function lastsUntil({ authority, server, client }: MutualCertificates, time: number): boolean {
  try {
    const issuer = new X509Certificate(authority)
    const lasts = (certificate: X509Certificate) => certificate.validToDate.getTime() > time
    return (
      lasts(issuer) &&
      [server, client].every((one) => {
        const certificate = new X509Certificate(one.certificate)
        return (
          lasts(certificate) &&
          certificate.verify(issuer.publicKey) &&
          certificate.checkPrivateKey(createPrivateKey(one.key))
        )
      })
    )
  } catch {
    return false
  }
}
