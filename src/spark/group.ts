/** The group of secp256k1 (SEC 2 §2.4.1), over which all of Spark is written: `n` is its order, `G` its generator. */
import { mapHashToField } from '@noble/curves/abstract/modular.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bytesToNumberBE } from '@noble/curves/utils.js'
import type { RandomBytes } from '../crypto/index.ts'
import { SparkError } from './error.ts'

/** Arithmetic modulo `n`. */
export const scalars = secp256k1.Point.Fn
export type Point = InstanceType<typeof secp256k1.Point>

/** Reads a compressed point, 33 bytes; the identity has no such form. */
export function readPoint(bytes: Uint8Array, name: string): Point {
  return pointOf(bytes, 33) ?? notAPoint(name, 'a compressed')
}

/** Reads a point in its uncompressed form, 65 bytes. */
export function readUncompressedPoint(bytes: Uint8Array, name: string): Point {
  return pointOf(bytes, 65) ?? notAPoint(name, 'an uncompressed')
}

function pointOf(bytes: Uint8Array, length: number): Point | undefined {
  if (bytes.length !== length) return undefined
  try {
    return secp256k1.Point.fromBytes(bytes)
  } catch {
    return undefined // Not on the curve.
  }
}

function notAPoint(name: string, form: string): never {
  throw new SparkError(`expected \`${name}\` to be ${form} point of secp256k1`)
}

/** Reads a number between 1 and n − 1, 32 bytes, the highest first. */
export function readScalar(bytes: Uint8Array, name: string): bigint {
  const value = bytes.length === 32 ? bytesToNumberBE(bytes) : 0n
  if (scalars.isValidNot0(value)) return value
  throw new SparkError(`expected \`${name}\` to be 32 bytes and a number between 1 and the order of secp256k1`)
}

/** The generator, taken a number of times; the number is not 0. */
export function timesG(scalar: bigint): Point {
  return secp256k1.Point.BASE.multiply(scalar)
}

export function writeScalar(scalar: bigint): Uint8Array {
  return scalars.toBytes(scalar)
}

export function hasEvenY(point: Point): boolean {
  return point.toAffine().y % 2n === 0n
}

/** The x of a point, 32 bytes: its public key in BIP-340. */
export function xOf(point: Point): Uint8Array {
  return point.toBytes(true).subarray(1)
}

/** A number between 1 and n − 1, each as likely as the next (FIPS 186-5, appendix A.2.1). */
export function randomScalar(randomBytes: RandomBytes): bigint {
  return scalars.fromBytes(mapHashToField(randomBytes(48), scalars.ORDER))
}
