/** One curve of the API: its short name in definitions, and the length of its public keys. */
export interface CurveRow {
  readonly name: string
  /** Bytes of a public key: a compressed point, or an Ed25519 key. */
  readonly publicKeyLength: number
}

/** The curves of wallet accounts by their word on the wire (docs/protocol/keys.md#derivation). */
export const curves = {
  CURVE_SECP256K1: { name: 'secp256k1', publicKeyLength: 33 },
  CURVE_ED25519: { name: 'ed25519', publicKeyLength: 32 },
  CURVE_P256: { name: 'p256', publicKeyLength: 33 },
} as const satisfies Record<string, CurveRow>
export type Curve = keyof typeof curves

/** Whether the text is a curve's word on the wire. */
export function isCurve(word: string): word is Curve {
  return Object.hasOwn(curves, word)
}

/** The curve of a short name such as `secp256k1`, if there is one. */
export function curveByName(name: string): Curve | undefined {
  return (Object.keys(curves) as Curve[]).find((curve) => curves[curve].name === name)
}
