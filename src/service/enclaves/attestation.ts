/**
 * The attestation document of a Nitro enclave: a COSE_Sign1 (RFC 9052) by ES384 over a map of CBOR, whose certificate leads to a root
 * ("Nitro Enclaves Attestation Process", AWS).
 */
import { verify, X509Certificate } from 'node:crypto'
import { type Cbor, CryptoError, decodeCbor } from '../../crypto/index.ts'
import { concatBytes, encodeHex, encodeUtf8 } from '../../encoding/index.ts'

/** The fields of an attestation document that has been verified. */
export interface Attestation {
  /** The enclave's ephemeral key: peers of the enclave encrypt to it. */
  readonly publicKey: Uint8Array
  readonly userData: Uint8Array
}

/** The reason why a document is refused, for its sender to read. */
export class AttestationRefused extends Error {}

/** Certificates in the bundle of a document; AWS has four. */
const MOST_CERTIFICATES = 6

/**
 * Verifies an attestation document. Throws `AttestationRefused` for bytes that are no such document, for a document that its
 * certificate did not sign, and for a certificate that does not lead to the root (DER, in hex) or is not valid at `now`.
 */
export function readAttestation(
  document: Uint8Array,
  { root, now }: { readonly root: string; readonly now: number },
): Attestation {
  const [head, payload, signature] = readSign1(document)
  const said = readCborMap(payload)
  const leaf = readChain(said, { root, now })
  const isSigned = verify(
    'sha384',
    signedBytes(head, payload),
    { key: leaf.publicKey, dsaEncoding: 'ieee-p1363' },
    signature,
  )
  if (!isSigned) throw new AttestationRefused('its signature is not by its certificate')
  return {
    publicKey: bytesOf(said.get('public_key'), 'public_key'),
    userData: bytesOf(said.get('user_data'), 'user_data'),
  }
}

function readSign1(document: Uint8Array): readonly [head: Uint8Array, payload: Uint8Array, signature: Uint8Array] {
  const parts = decoded(document)
  if (!Array.isArray(parts) || parts.length !== 4) throw new AttestationRefused('it is no COSE_Sign1')
  const [head, , payload, signature] = parts as readonly Cbor[]
  return [bytesOf(head, 'head'), bytesOf(payload, 'payload'), bytesOf(signature, 'signature')]
}

function readChain(
  said: ReadonlyMap<unknown, Cbor>,
  { root, now }: { readonly root: string; readonly now: number },
): X509Certificate {
  const bundle = said.get('cabundle')
  if (!Array.isArray(bundle) || bundle.length === 0 || bundle.length > MOST_CERTIFICATES)
    throw new AttestationRefused('it has no bundle of certificates')
  const ders = [...(bundle as readonly Cbor[]), said.get('certificate')].map((each) => bytesOf(each, 'certificate'))
  if (encodeHex(ders[0]!) !== root)
    throw new AttestationRefused('its certificates do not begin with the root of the manifest')
  const chain = ders.map(readCertificate)
  for (const [at, certificate] of chain.entries()) {
    const issuer = chain[Math.max(0, at - 1)]!
    const isIssued = (at === 0 || issuer.ca) && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
    if (!isIssued) throw new AttestationRefused('its certificates do not lead to the root of the manifest')
    if (now < certificate.validFromDate.getTime() || now > certificate.validToDate.getTime())
      throw new AttestationRefused('one of its certificates is not valid at this time')
  }
  return chain.at(-1)!
}

function readCertificate(der: Uint8Array): X509Certificate {
  try {
    return new X509Certificate(der)
  } catch {
    throw new AttestationRefused('one of its certificates cannot be read')
  }
}

function decoded(bytes: Uint8Array): Cbor {
  try {
    return decodeCbor(bytes)
  } catch (error) {
    if (error instanceof CryptoError) throw new AttestationRefused('it is no CBOR')
    throw error
  }
}

function readCborMap(bytes: Uint8Array): ReadonlyMap<unknown, Cbor> {
  const map = decoded(bytes)
  if (!(map instanceof Map)) throw new AttestationRefused('its payload is no map')
  return map
}

function bytesOf(value: Cbor | undefined, what: string): Uint8Array {
  if (value instanceof Uint8Array) return value
  throw new AttestationRefused(`its \`${what}\` is no bytes`)
}

/** `Sig_structure` (RFC 9052 §4.4): `["Signature1", head, h'', payload]`. */
function signedBytes(head: Uint8Array, payload: Uint8Array): Uint8Array {
  const context = encodeUtf8('Signature1')
  return concatBytes(
    Uint8Array.of(0x84, 0x60 + context.length),
    context,
    byteString(head),
    byteString(new Uint8Array()),
    byteString(payload),
  )
}

function byteString(bytes: Uint8Array): Uint8Array {
  const { length } = bytes
  if (length < 24) return concatBytes(Uint8Array.of(0x40 + length), bytes)
  const size = new Uint8Array(5)
  if (length < 256) return concatBytes(Uint8Array.of(0x58, length), bytes)
  if (length < 65_536) return concatBytes(Uint8Array.of(0x59, length >> 8, length & 0xff), bytes)
  new DataView(size.buffer).setUint32(1, length)
  size[0] = 0x5a
  return concatBytes(size, bytes)
}
