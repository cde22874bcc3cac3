/**
 * X.509 certificates (RFC 5280) for a server on the loopback interface and its clients. Node.js reads certificates but
 * makes none, and the few fields that are needed here are fewer lines than a library's configuration.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

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

/** Object identifiers, encoded (RFC 5280 §4.2.1 and appendix A; RFC 5758 §3.2). */
const COMMON_NAME = [0x55, 0x04, 0x03]
const SUBJECT_KEY_IDENTIFIER = [0x55, 0x1d, 0x0e]
const KEY_USAGE = [0x55, 0x1d, 0x0f]
const SUBJECT_ALT_NAME = [0x55, 0x1d, 0x11]
const BASIC_CONSTRAINTS = [0x55, 0x1d, 0x13]
const AUTHORITY_KEY_IDENTIFIER = [0x55, 0x1d, 0x23]
const EXTENDED_KEY_USAGE = [0x55, 0x1d, 0x25]
const SERVER_AUTH = [0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01]
const CLIENT_AUTH = [0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02]
const ECDSA_WITH_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]

export interface CertificateOptions {
  /** Names of hosts at which the server is reached, beside 127.0.0.1. @default ['localhost'] */
  readonly hosts?: readonly string[]
  /** @default now */
  readonly now?: number
}

/** Makes an authority (P-256) and one certificate each for a server on this machine and for its clients. */
export function makeCertificates({
  hosts = ['localhost'],
  now = Date.now(),
}: CertificateOptions = {}): MutualCertificates {
  const issuer = { name: 'quorate authority', ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) }
  const issue = (name: string, usages: readonly (readonly number[])[]): KeyWithCertificate => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    return {
      certificate: makeCertificate(
        { name, publicKey },
        { issuer, extensions: endEntity(usages, { hosts, issuer: issuer.publicKey }), now },
      ),
      key: privateKey.export({ format: 'pem', type: 'pkcs8' }) as string,
    }
  }
  return {
    authority: makeCertificate(issuer, { issuer, extensions: authority(issuer.publicKey), now }),
    server: issue('quorate temporal server', [SERVER_AUTH, CLIENT_AUTH]),
    client: issue('quorate', [CLIENT_AUTH]),
  }
}

interface Subject {
  readonly name: string
  readonly publicKey: KeyObject
}

function makeCertificate(
  { name, publicKey }: Subject,
  {
    issuer,
    extensions,
    now,
  }: {
    readonly issuer: Subject & { readonly privateKey: KeyObject }
    readonly extensions: readonly Buffer[]
    readonly now: number
  },
): string {
  const algorithm = sequence(der(OBJECT_IDENTIFIER, ECDSA_WITH_SHA256))
  // TBSCertificate, RFC 5280 §4.1
  const toBeSigned = sequence(
    der(0xa0, der(INTEGER, [2])), // version 3
    der(INTEGER, [0x01], randomBytes(16)), // serial number: positive, 128 bits of it random
    algorithm,
    nameOf(issuer.name),
    sequence(timeOf(now - EARLIER_MS), timeOf(now + VALID_MS)),
    nameOf(name),
    publicKey.export({ format: 'der', type: 'spki' }),
    der(0xa3, sequence(...extensions)),
  )
  const signature = sign('sha256', toBeSigned, issuer.privateKey)
  return pem(sequence(toBeSigned, algorithm, der(BIT_STRING, [0], signature)))
}

function authority(publicKey: KeyObject): Buffer[] {
  return [
    // An authority, with none below it.
    critical(BASIC_CONSTRAINTS, sequence(der(BOOLEAN, [0xff]), der(INTEGER, [0]))),
    critical(KEY_USAGE, der(BIT_STRING, [2, 0x04])), // keyCertSign
    extension(SUBJECT_KEY_IDENTIFIER, der(OCTET_STRING, identifierOf(publicKey))),
  ]
}

function endEntity(
  usages: readonly (readonly number[])[],
  { hosts, issuer }: { readonly hosts: readonly string[]; readonly issuer: KeyObject },
): Buffer[] {
  const names = hosts.map((host) => der(0x82, Buffer.from(host)))
  return [
    critical(BASIC_CONSTRAINTS, sequence()),
    critical(KEY_USAGE, der(BIT_STRING, [7, 0x80])), // digitalSignature
    critical(EXTENDED_KEY_USAGE, sequence(...usages.map((usage) => der(OBJECT_IDENTIFIER, usage)))),
    // An iPAddress and dNSNames.
    extension(SUBJECT_ALT_NAME, sequence(der(0x87, [127, 0, 0, 1]), ...names)),
    extension(AUTHORITY_KEY_IDENTIFIER, sequence(der(0x80, identifierOf(issuer)))),
  ]
}

function extension(identifier: readonly number[], value: Buffer): Buffer {
  return sequence(der(OBJECT_IDENTIFIER, identifier), der(OCTET_STRING, value))
}

/** An extension that must be understood: a reader that does not know it refuses the certificate. */
function critical(identifier: readonly number[], value: Buffer): Buffer {
  return sequence(der(OBJECT_IDENTIFIER, identifier), der(BOOLEAN, [0xff]), der(OCTET_STRING, value))
}

/** RFC 5280 §4.2.1.2, method 1; a name for the key, so SHA-1 does no harm. */
function identifierOf(key: KeyObject): Buffer {
  const point = key.export({ format: 'der', type: 'spki' }).subarray(-65)
  return createHash('sha1').update(point).digest()
}

function nameOf(name: string): Buffer {
  const commonName = sequence(der(OBJECT_IDENTIFIER, COMMON_NAME), der(UTF8_STRING, Buffer.from(name)))
  return sequence(der(SET, commonName))
}

/** RFC 5280 §4.1.2.5: two digits for the year until 2049, four from 2050. */
function timeOf(ms: number): Buffer {
  const digits = `${new Date(ms).toISOString().slice(0, 19).replace(/\D/g, '')}Z`
  return digits < '2050' ? der(UTC_TIME, Buffer.from(digits.slice(2))) : der(GENERALIZED_TIME, Buffer.from(digits))
}

const BOOLEAN = 0x01
const INTEGER = 0x02
const BIT_STRING = 0x03
const OCTET_STRING = 0x04
const OBJECT_IDENTIFIER = 0x06
const UTF8_STRING = 0x0c
const UTC_TIME = 0x17
const GENERALIZED_TIME = 0x18
const SEQUENCE = 0x30
const SET = 0x31

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(SEQUENCE, ...parts)
}

/** Tag, length and value (X.690 §8.1, the distinguished form of lengths §10.1). */
function der(tag: number, ...parts: readonly (Uint8Array | readonly number[])[]): Buffer {
  const value = Buffer.concat(parts.map((part) => Uint8Array.from(part)))
  const { length } = value
  const lengthBytes = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Uint8Array.of(tag, ...lengthBytes), value])
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g)!
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
