import { ed25519 } from './ed25519.ts'
import { p256 } from './p256.ts'
import { secp256k1 } from './secp256k1.ts'
import type { CurveOperations } from './signer.ts'

/** The curves that an API key may be on, by the words that key files use. */
export const KEY_CURVES = { p256, secp256k1, ed25519 } as const satisfies Record<string, CurveOperations>
export type KeyCurve = keyof typeof KEY_CURVES

/** Whether a word names a curve. */
export function isKeyCurve(word: unknown): word is KeyCurve {
  return typeof word === 'string' && Object.hasOwn(KEY_CURVES, word)
}
