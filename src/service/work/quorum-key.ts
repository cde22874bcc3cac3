import { createECDH, hkdfSync } from 'node:crypto'
import { randomBytes, sealEnvelope, splitSecret } from '../../crypto/index.ts'
import { decodeHex, encodeHex } from '../../encoding/index.ts'

export interface QuorumKeyWanted {
  readonly threshold: number
  /** Of each share's holder: 65 bytes in hex. */
  readonly encryptKeys: readonly string[]
}

export interface CreatedQuorumKey {
  /** Hex of 130 bytes: the key to encrypt to, and the one that signs. */
  readonly publicKey: string
  /** In the order of the keys, each sealed to its holder's: hex. */
  readonly encryptedShares: readonly string[]
}

/** Derives the two keys of a quorum from its seed as QuorumOS does, and shares the seed among the holders. */
export function createQuorumKey(seed: Uint8Array, { threshold, encryptKeys }: QuorumKeyWanted): CreatedQuorumKey {
  const publicKey = ['qos_p256_encrypt', 'qos_p256_sign'].map((path) => publicKeyOf(seed, path)).join('')
  const shares = splitSecret(seed, { threshold, count: encryptKeys.length }, randomBytes)
  const encryptedShares = shares.map((share, at) => {
    const sealed = sealEnvelope(decodeHex(encryptKeys[at]!), share, randomBytes)
    share.fill(0)
    return encodeHex(sealed)
  })
  return { publicKey, encryptedShares }
}

function publicKeyOf(seed: Uint8Array, path: string): string {
  const derived = Buffer.from(hkdfSync('sha512', seed, path, '', 32))
  try {
    const ecdh = createECDH('prime256v1')
    ecdh.setPrivateKey(derived)
    return ecdh.getPublicKey('hex', 'uncompressed')
  } finally {
    derived.fill(0)
  }
}
