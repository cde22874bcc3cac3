/** X.509 certificates (RFC 5280) for a server on the loopback interface and its clients. Node.js reads them but makes none. */
import { KeyObject, randomBytes, webcrypto } from 'node:crypto'
import type { Extension, X509CertificateCreateWithKeyParams } from '@peculiar/x509'

/** PEM texts: the holder of `key` is who `certificate` says. */
export interface KeyWithCertificate {
  readonly certificate: string
  readonly key: string
}

/** The certificates by which a server and its clients know each other. The authority's key is not kept. */
export interface MutualCertificates {
  /** The authority's certificate, PEM: both ends accept what it signed, and nothing else. */
  readonly authority: string
  /** For the server, which is also the client of its own parts. */
  readonly server: KeyWithCertificate
  readonly client: KeyWithCertificate
}

/** Certificates are kept across starts, and a start makes them anew when less than a year is left. */
const VALID_MS = 10 * 365 * 24 * 3_600_000
/** For a clock that is set back after the certificates were made. */
const EARLIER_MS = 24 * 3_600_000

export interface CertificateOptions {
  /** Names of hosts at which the server is reached, beside 127.0.0.1. @default ['localhost'] */
  readonly hosts?: readonly string[]
  /** @default now */
  readonly now?: number
}

/** Makes an authority (P-256) and one certificate each for a server on this machine and for its clients. */
export async function makeCertificates({
  hosts = ['localhost'],
  now = Date.now(),
}: CertificateOptions = {}): Promise<MutualCertificates> {
  const x509 = await loadX509()
  const issuer = await makeKeys()
  const make = async (name: string, { publicKey }: Keys, extensions: readonly Extension[]) => {
    const certificate = await x509.X509CertificateGenerator.create({
      // Positive, 128 bits of it random.
      serialNumber: `01${randomBytes(16).toString('hex')}`,
      issuer: 'CN=quorate authority',
      subject: `CN=${name}`,
      notBefore: new Date(now - EARLIER_MS),
      notAfter: new Date(now + VALID_MS),
      publicKey,
      signingKey: issuer.privateKey,
      signingAlgorithm: SIGNED_BY,
      extensions: [...extensions],
    })
    return `${certificate.toString('pem')}\n`
  }
  const names = hosts.map((value) => ({ type: 'dns' as const, value }))
  const issue = async (name: string, usages: readonly string[]): Promise<KeyWithCertificate> => {
    const keys = await makeKeys()
    const certificate = await make(name, keys, [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([...usages], true),
      new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }, ...names]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ])
    return { certificate, key: KeyObject.from(keys.privateKey).export({ format: 'pem', type: 'pkcs8' }) as string }
  }
  const { serverAuth, clientAuth } = x509.ExtendedKeyUsage
  return {
    authority: await make('quorate authority', issuer, [
      // An authority, with none below it.
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(issuer.publicKey),
    ]),
    server: await issue('quorate temporal server', [serverAuth, clientAuth]),
    client: await issue('quorate', [clientAuth]),
  }
}

const P256 = { name: 'ECDSA', namedCurve: 'P-256' }
const SIGNED_BY = { name: 'ECDSA', hash: 'SHA-256' }

/** As the library's types name a key, which is the browser's name: Node's own types do not have it. */
type LibraryKey = X509CertificateCreateWithKeyParams['signingKey']
type Keys = { readonly publicKey: LibraryKey; readonly privateKey: LibraryKey }

async function makeKeys(): Promise<Keys> {
  return (await webcrypto.subtle.generateKey(P256, true, ['sign', 'verify'])) as Keys
}

/** Loaded when certificates are made, once in years: it takes a quarter of a second. It wants the polyfill to be there first. */
async function loadX509() {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}
