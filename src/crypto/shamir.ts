/**
 * Shares of a secret over GF(256), byte by byte (Shamir 1979; the field of AES), as QuorumOS writes them: a share is its place, one
 * byte from 1, and the value of each byte's polynomial there.
 */
import type { Bytes } from '../encoding/index.ts'
import { CryptoError } from './error.ts'
import type { RandomBytes } from './random.ts'

/** Logarithms to the base 3, and their powers, twice over, so that sums of two need no remainder. */
const POWERS = new Uint8Array(510)
const LOGARITHMS = new Uint8Array(256)
for (let at = 0, value = 1; at < 255; at++) {
  POWERS[at] = value
  POWERS[at + 255] = value
  LOGARITHMS[value] = at
  value ^= (value << 1) ^ (value & 0x80 ? 0x11b : 0)
}

const times = (left: number, right: number): number =>
  left === 0 || right === 0 ? 0 : POWERS[LOGARITHMS[left]! + LOGARITHMS[right]!]!

/** `right` is not 0. */
const over = (left: number, right: number): number =>
  left === 0 ? 0 : POWERS[LOGARITHMS[left]! + 255 - LOGARITHMS[right]!]!

/** Splits a secret into `count` shares, of which any `threshold` give it back. Throws `CryptoError` outside of 2 ≤ threshold ≤ count ≤ 255. */
export function splitSecret(
  secret: Uint8Array,
  { threshold, count }: { readonly threshold: number; readonly count: number },
  randomBytes: RandomBytes,
): Bytes[] {
  if (!(threshold >= 2 && threshold <= count && count <= 255))
    throw new CryptoError(`expected a threshold from 2 to ${count}, and at most 255 shares`)
  const coefficients = randomBytes(secret.length * (threshold - 1))
  const shares = Array.from({ length: count }, (_, at) => {
    const share = new Uint8Array(secret.length + 1)
    share[0] = at + 1
    share.set(secret, 1)
    return share
  })
  for (const share of shares) {
    for (let at = 0; at < secret.length; at++) {
      let value = 0
      for (let degree = threshold - 2; degree >= 0; degree--)
        value = times(value ^ coefficients[degree * secret.length + at]!, share[0]!)
      share[at + 1]! ^= value
    }
  }
  coefficients.fill(0)
  return shares
}

/** Puts a secret together again. Fewer shares than the threshold give something else. Throws `CryptoError` for what are no shares of one. */
export function combineShares(shares: readonly Uint8Array[]): Bytes {
  const places = shares.map((share) => share[0] ?? 0)
  const { length = 0 } = shares[0] ?? {}
  if (length < 2 || shares.some((share) => share.length !== length) || places.includes(0))
    throw new CryptoError('expected shares of one length, each with its place')
  if (new Set(places).size < places.length) throw new CryptoError('expected each share once')
  const secret = new Uint8Array(length - 1)
  for (const [at, share] of shares.entries()) {
    const others = places.filter((_, other) => other !== at)
    const weight = others.reduce((product, place) => times(product, over(place, place ^ places[at]!)), 1)
    for (let byte = 0; byte < secret.length; byte++) secret[byte]! ^= times(share[byte + 1]!, weight)
  }
  return secret
}
