import { HDKey as Ed25519Key } from 'micro-key-producer/slip10.js'
import { KEY_CURVES } from '../crypto/index.ts'
import { decodeHex, encodeHex } from '../encoding/index.ts'
import type { Curve } from './curves.ts'
import { childNumber, type PathStep } from './path.ts'
import { childNode, masterNode, publicKeyOf, type Slip10Curve } from './slip10.ts'

/** A derived key: the 32-byte private key, which is the caller's to wipe, and the public one compressed (Ed25519: 32 bytes). */
export interface DerivedKey {
  readonly privateKey: Uint8Array
  readonly publicKey: Uint8Array
}

type Derive = (seed: Uint8Array, steps: readonly PathStep[]) => DerivedKey

/** How each curve derives a key from a seed (docs/protocol/keys.md#derivation). */
const DERIVATIONS: Record<Curve, Derive> = {
  // BIP-32: hardened and plain steps as written; and SLIP-0010 for nist256p1.
  CURVE_SECP256K1: onEcdsa('secp256k1'),
  CURVE_P256: onEcdsa('p256'),
  // SLIP-0010. Ed25519 has hardened steps only, so every step counts as one, whatever its notation.
  CURVE_ED25519: (seed, steps) => {
    const { privateKey } = walk(steps, {
      root: Ed25519Key.fromMasterSeed(seed),
      child: (node, { index }) => node.deriveChild(childNumber({ index, hardened: true })),
    })
    return { privateKey, publicKey: decodeHex(KEY_CURVES.ed25519.publicKeyOf(encodeHex(privateKey))) }
  },
}

/** Derives the key at a path from a seed; no steps give the master key. What lies between is wiped. */
export function deriveKey(seed: Uint8Array, curve: Curve, steps: readonly PathStep[]): DerivedKey {
  return DERIVATIONS[curve](seed, steps)
}

function onEcdsa(curve: Slip10Curve): Derive {
  return (seed, steps) => {
    const { privateKey } = walk(steps, {
      root: masterNode(curve, seed),
      child: (node, step) => childNode(curve, node, childNumber(step)),
    })
    return { privateKey, publicKey: publicKeyOf(curve, privateKey) }
  }
}

function walk<Node extends { readonly privateKey: Uint8Array }>(
  steps: readonly PathStep[],
  of: { readonly root: Node; readonly child: (node: Node, step: PathStep) => Node },
): Node {
  return steps.reduce((node, step) => {
    const child = of.child(node, step)
    node.privateKey.fill(0)
    return child
  }, of.root)
}
