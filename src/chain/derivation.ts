import { ed25519 } from '@noble/curves/ed25519.js'
import { HDKey } from '@scure/bip32'
import { HDKey as Ed25519Key } from 'micro-key-producer/slip10.js'
import { p256PublicKey } from '../crypto/index.ts'
import { decodeHex, encodeHex } from '../encoding/index.ts'
import type { Curve } from './curves.ts'
import { childNumber, type PathStep } from './path.ts'
import { p256Child, p256Master } from './slip10-p256.ts'

/** A derived key: the 32-byte private key, which is the caller's to wipe, and the public one compressed (Ed25519: 32 bytes). */
export interface DerivedKey {
  readonly privateKey: Uint8Array
  readonly publicKey: Uint8Array
}

/** How each curve derives a key from a seed (facts: chain §1). */
const DERIVATIONS: Record<Curve, (seed: Uint8Array, steps: readonly PathStep[]) => DerivedKey> = {
  // BIP-32: hardened and plain steps as written.
  CURVE_SECP256K1: (seed, steps) => {
    const key = walk(steps, {
      root: HDKey.fromMasterSeed(seed),
      child: (node, step) => node.deriveChild(childNumber(step)),
      wipe: (node) => node.wipePrivateData(),
    })
    return { privateKey: key.privateKey!, publicKey: key.publicKey! }
  },
  // SLIP-0010. Ed25519 has hardened steps only, so every step counts as one, whatever its notation.
  CURVE_ED25519: (seed, steps) => {
    const { privateKey } = walk(steps, {
      root: Ed25519Key.fromMasterSeed(seed),
      child: (node, { index }) => node.deriveChild(childNumber({ index, hardened: true })),
      wipe: (node) => node.privateKey.fill(0),
    })
    return { privateKey, publicKey: ed25519.getPublicKey(privateKey) }
  },
  // SLIP-0010 for nist256p1.
  CURVE_P256: (seed, steps) => {
    const { privateKey } = walk(steps, {
      root: p256Master(seed),
      child: (node, step) => p256Child(node, childNumber(step)),
      wipe: (node) => node.privateKey.fill(0),
    })
    return { privateKey, publicKey: decodeHex(p256PublicKey(encodeHex(privateKey))) }
  },
}

/** Derives the key at a path from a seed; no steps give the master key. What lies between is wiped. */
export function deriveKey(seed: Uint8Array, curve: Curve, steps: readonly PathStep[]): DerivedKey {
  return DERIVATIONS[curve](seed, steps)
}

function walk<Node>(
  steps: readonly PathStep[],
  of: {
    readonly root: Node
    readonly child: (node: Node, step: PathStep) => Node
    readonly wipe: (node: Node) => unknown
  },
): Node {
  return steps.reduce((node, step) => {
    const child = of.child(node, step)
    of.wipe(node)
    return child
  }, of.root)
}
