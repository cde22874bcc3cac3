/** A Nitro enclave, as far as others see one: what it says of itself, under a root of its own, and what it opens. */
import { createECDH, hkdfSync, KeyObject, sign, webcrypto } from 'node:crypto'
import { openEnvelope, sha256 } from '../../../src/crypto/index.ts'
import { concatBytes, decodeHex, encodeBase64, encodeHex, encodeUtf8 } from '../../../src/encoding/index.ts'
import { createOperator } from './tvc.ts'

const DAY_MS = 86_400_000
const P384 = { name: 'ECDSA', namedCurve: 'P-384' }

async function loadX509() {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

async function issue(
  subject: string,
  { issuer, isAuthority, now }: { readonly issuer?: EnclaveRoot; readonly isAuthority: boolean; readonly now: number },
) {
  const x509 = await loadX509()
  const keys = (await webcrypto.subtle.generateKey(P384, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: '01',
    issuer: `CN=${issuer?.subject ?? subject}`,
    subject: `CN=${subject}`,
    notBefore: new Date(now - DAY_MS),
    notAfter: new Date(now + 30 * DAY_MS),
    publicKey: keys.publicKey as never,
    signingKey: (issuer?.keys ?? keys).privateKey as never,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-384' },
    extensions: [new x509.BasicConstraintsExtension(isAuthority, undefined, true)],
  })
  return { subject, keys, certificate: encodeHex(new Uint8Array(certificate.rawData)) }
}

export interface EnclaveRoot {
  readonly subject: string
  readonly keys: webcrypto.CryptoKeyPair
  /** DER, in hex. */
  readonly certificate: string
}

/** Makes who signs what enclaves say. */
export function createEnclaveRoot(now: number): Promise<EnclaveRoot> {
  return issue('enclaves', { isAuthority: true, now })
}

/** Boots an enclave with a manifest, or one that says so. */
export async function createEnclave(
  root: EnclaveRoot,
  {
    manifest,
    now,
    isForged = false,
  }: { readonly manifest: Uint8Array; readonly now: number; readonly isForged?: boolean },
) {
  const leaf = await issue('enclave', { issuer: root, isAuthority: false, now })
  const ephemeral = createOperator()
  const payload = map([
    ['module_id', text('i-1')],
    ['digest', text('SHA384')],
    ['certificate', bytes(decodeHex(leaf.certificate))],
    ['cabundle', concatBytes(head(4, 1), bytes(decodeHex(root.certificate)))],
    ['public_key', bytes(decodeHex(ephemeral.publicKey))],
    ['user_data', bytes(sha256(manifest))],
    ['nonce', Uint8Array.of(0xf6)],
  ])
  const protectedHead = Uint8Array.of(0xa1, 0x01, 0x38, 0x22)
  const signed = concatBytes(
    head(4, 4),
    text('Signature1'),
    bytes(protectedHead),
    bytes(new Uint8Array()),
    bytes(payload),
  )
  const key = KeyObject.from((isForged ? root : leaf).keys.privateKey as never)
  const signature = sign('sha384', signed, { key, dsaEncoding: 'ieee-p1363' })
  const document = concatBytes(head(4, 4), bytes(protectedHead), head(5, 0), bytes(payload), bytes(signature))
  const receiver = { privateKey: ephemeral.encryptPrivateKey, publicKey: decodeHex(ephemeral.encryptKey) }
  return {
    document: encodeBase64(document),
    /** Opens a share that was sealed to it. */
    open: (share: string) => openEnvelope(receiver, decodeHex(share)),
    /** The public key that a seed is the secret of. */
    publicKeyOf: (seed: Uint8Array) =>
      ['qos_p256_encrypt', 'qos_p256_sign'].map((path) => publicKeyOf(seed, path)).join(''),
  }
}

function publicKeyOf(seed: Uint8Array, path: string): string {
  const ecdh = createECDH('prime256v1')
  ecdh.setPrivateKey(Buffer.from(hkdfSync('sha512', seed, path, '', 32)))
  return ecdh.getPublicKey('hex')
}

// CBOR (RFC 8949), as much as a document needs.
function head(major: number, length: number): Uint8Array {
  if (length < 24) return Uint8Array.of((major << 5) + length)
  return Uint8Array.of((major << 5) + 25, length >> 8, length & 0xff)
}
const bytes = (value: Uint8Array) => concatBytes(head(2, value.length), value)
const text = (value: string) => concatBytes(head(3, value.length), encodeUtf8(value))
const map = (members: readonly (readonly [string, Uint8Array])[]) =>
  concatBytes(head(5, members.length), ...members.flatMap(([name, value]) => [text(name), value]))
