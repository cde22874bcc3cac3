/** Sharing a secret among operators (Shamir), with commitments against which each can check its share (Feldman). */
import type { RandomBytes } from '../crypto/index.ts'
import { SparkError } from './error.ts'
import { randomScalar, scalars, timesG } from './group.ts'

export interface SharedSecret {
  /** The share of each recipient, in their order. */
  readonly shares: readonly bigint[]
  /** The polynomial's coefficients times G, compressed, the constant first. */
  readonly proofs: readonly Uint8Array[]
}

/** How many shares give the secret back, and how many there are. */
export interface Sharing {
  readonly threshold: number
  readonly recipients: number
}

/**
 * Shares a secret: a polynomial of degree threshold − 1 whose value at 0 is the secret, evaluated at 1, 2, …
 * (docs/protocol/spark.md#building-blocks). Throws `SparkError` for a threshold that the recipients cannot meet and for
 * the secret 0.
 */
export function shareSecret(
  secret: bigint,
  { threshold, recipients }: Sharing,
  randomBytes: RandomBytes,
): SharedSecret {
  checkSharing({ threshold, recipients })
  if (secret === 0n) throw new SparkError('expected the old and the new key of a leaf to differ')
  const coefficients = [secret, ...Array.from({ length: threshold - 1 }, () => randomScalar(randomBytes))]
  return {
    shares: Array.from({ length: recipients }, (_, index) => valueAt(coefficients, BigInt(index + 1))),
    proofs: coefficients.map((coefficient) => timesG(coefficient).toBytes(true)),
  }
}

/** Throws `SparkError` for a threshold that the recipients cannot meet. */
export function checkSharing({ threshold, recipients }: Sharing): void {
  if (threshold >= 1 && threshold <= recipients) return
  throw new SparkError(
    `expected \`threshold\` to be between 1 and ${recipients}, the number of recipients, got ${threshold}`,
  )
}

function valueAt(coefficients: readonly bigint[], x: bigint): bigint {
  return coefficients.reduceRight((value, coefficient) => scalars.create(value * x + coefficient), 0n)
}
