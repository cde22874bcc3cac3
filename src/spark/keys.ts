/** Which key of a wallet plays which part in Spark (docs/protocol/spark.md#keys). */
import { sha256 } from '../crypto/index.ts'
import { SparkError } from './error.ts'

/** One key of a Spark account. */
export type SparkKey =
  | { readonly kind: 'identity' }
  | { readonly kind: 'signingLeaf'; readonly leafId: string }
  | { readonly kind: 'deposit' }
  | { readonly kind: 'staticDeposit'; readonly index: number }

const PURPOSE = 8797555
const IDENTITY_PATH = new RegExp(`^m/${PURPOSE}'/(\\d+)'/0'$`)
const HARDENED_MAX = 2 ** 31 - 1

/** The number of the Spark account that a path is the identity of; throws `SparkError` for any other path. */
export function sparkAccountOf(identityPath: string): number {
  const account = IDENTITY_PATH.exec(identityPath)?.[1]
  if (account !== undefined) return Number(account)
  throw new SparkError(`expected \`signWith\` to be a Spark identity, an account at m/${PURPOSE}'/<account>'/0'`)
}

/** The path of a key in the wallet of a Spark account; all steps are hardened. */
export function sparkPath(account: number, key: SparkKey): string {
  const base = `m/${PURPOSE}'/${account}'`
  switch (key.kind) {
    case 'identity':
      return `${base}/0'`
    case 'signingLeaf':
      return `${base}/1'/${leafNumber(key.leafId)}'`
    case 'deposit':
      return `${base}/2'`
    case 'staticDeposit':
      return `${base}/3'/${checkIndex(key.index)}'`
    default:
      return key satisfies never
  }
}

/** Throws `SparkError` for a key that no account has. */
export function checkSparkKey(key: SparkKey): void {
  sparkPath(0, key)
}

/** The first four bytes of the id's hash, modulo 2^31. */
function leafNumber(leafId: string): number {
  return new DataView(sha256(leafId).buffer).getUint32(0) % 2 ** 31
}

function checkIndex(index: number): number {
  if (Number.isInteger(index) && index >= 0 && index <= HARDENED_MAX) return index
  throw new SparkError(`expected \`index\` to be between 0 and ${HARDENED_MAX}, got ${index}`)
}
