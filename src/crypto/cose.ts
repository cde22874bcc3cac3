import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { decodeHex, encodeBase64Url, encodeHex } from '../encoding/index.ts'
import { type Cbor, decodeCbor } from './cbor.ts'
import { parseEd25519PublicKey } from './ed25519.ts'
import { createKeyCache } from './key-cache.ts'

/** Parameters of a COSE key by number (RFC 9052 §7.1, RFC 9053 §7, RFC 8230 §4). */
const KTY = 1
const ALG = 3
const KINDS = { OKP: 1, EC2: 2, RSA: 3 } as const
/** RFC 8812 §2: a key of RS256 has at least 2048 bits; past 8192 verifying is a burden that no authenticator makes. */
const RSA_BYTES = { least: 256, most: 1024 }

interface AlgorithmRow {
  readonly name: string
  readonly hash: 'sha256' | 'sha384' | 'sha512' | null
  /** Opens the key, or `undefined` if its parameters are not those that WebAuthn §5.8.5 asks for. */
  readonly open: (parameters: ReadonlyMap<unknown, Cbor>) => KeyObject | undefined
}

/** The algorithms of credentials, by COSE number (WebAuthn §5.8.5). Which may be registered is decided elsewhere. */
const ALGORITHMS = {
  '-7': { name: 'ES256', hash: 'sha256', open: (key) => openEc2(key, { number: 1, crv: 'P-256', length: 32 }) },
  '-35': { name: 'ES384', hash: 'sha384', open: (key) => openEc2(key, { number: 2, crv: 'P-384', length: 48 }) },
  '-36': { name: 'ES512', hash: 'sha512', open: (key) => openEc2(key, { number: 3, crv: 'P-521', length: 66 }) },
  '-257': { name: 'RS256', hash: 'sha256', open: openRsa },
  '-8': { name: 'EdDSA', hash: null, open: openEd25519 },
} as const satisfies Record<string, AlgorithmRow>
export type CoseAlgorithm = (typeof ALGORITHMS)[keyof typeof ALGORITHMS]['name']

/** The public key of a credential. */
export interface CoseKey {
  readonly algorithm: CoseAlgorithm
  /** Whether the signature, as authenticators write it (ECDSA: strict DER, high `s` accepted), is over these bytes. */
  verify(data: Uint8Array, signature: Uint8Array): boolean
}

/**
 * Parses the public key of a credential: a COSE key that names its algorithm. `undefined` if it is none, or of an
 * algorithm that is not in the table.
 */
export function parseCoseKey(bytes: Uint8Array): CoseKey | undefined {
  return coseKeyOf(encodeHex(bytes))
}

const coseKeyOf = createKeyCache(openCoseKey)

function openCoseKey(hex: string): CoseKey | undefined {
  const bytes = decodeHex(hex)
  const parameters = readParameters(bytes)
  const number = String(parameters?.get(ALG))
  if (!parameters || !Object.hasOwn(ALGORITHMS, number)) return undefined
  const { name, hash, open } = ALGORITHMS[number as keyof typeof ALGORITHMS]
  const key = open(parameters)
  return key && { algorithm: name, verify: (data, signature) => verify(hash, data, key, signature) }
}

function readParameters(bytes: Uint8Array): ReadonlyMap<unknown, Cbor> | undefined {
  try {
    const value = decodeCbor(bytes)
    return value instanceof Map ? value : undefined
  } catch {
    return undefined
  }
}

function openEc2(
  key: ReadonlyMap<unknown, Cbor>,
  curve: { readonly number: number; readonly crv: string; readonly length: number },
): KeyObject | undefined {
  const [x, y] = [key.get(-2), key.get(-3)]
  if (key.get(KTY) !== KINDS.EC2 || key.get(-1) !== curve.number) return undefined
  if (!isBytes(x, curve.length) || !isBytes(y, curve.length)) return undefined
  return openJwk({ kty: 'EC', crv: curve.crv, x: encodeBase64Url(x), y: encodeBase64Url(y) })
}

function openRsa(key: ReadonlyMap<unknown, Cbor>): KeyObject | undefined {
  const [n, e] = [key.get(-1), key.get(-2)]
  if (key.get(KTY) !== KINDS.RSA || !isBytes(n) || !isBytes(e)) return undefined
  if (n[0] === 0 || n.length < RSA_BYTES.least || n.length > RSA_BYTES.most || e.length > 4) return undefined
  return openJwk({ kty: 'RSA', n: encodeBase64Url(n), e: encodeBase64Url(e) })
}

function openEd25519(key: ReadonlyMap<unknown, Cbor>): KeyObject | undefined {
  const x = key.get(-2)
  if (key.get(KTY) !== KINDS.OKP || key.get(-1) !== 6 || !isBytes(x, 32)) return undefined
  return parseEd25519PublicKey(encodeHex(x))
}

/** Opens a public key, or `undefined` if its point is none of the curve. */
function openJwk(key: Record<string, string>): KeyObject | undefined {
  try {
    return createPublicKey({ format: 'jwk', key })
  } catch {
    return undefined
  }
}

function isBytes(value: Cbor | undefined, length?: number): value is Uint8Array<ArrayBuffer> {
  return value instanceof Uint8Array && (length === undefined || value.length === length)
}
