/**
 * Spark (docs/protocol/spark.md): the part that a wallet's keys play in it. Shares of FROST signatures, the packages with
 * which operators hand a leaf over, and which key plays which part. Holds no key and speaks to nobody.
 * Relies on noble for the group of secp256k1 and for hashing to it, and on `node:crypto` for encryption.
 */

export { SparkError } from './error.ts'
export { checkFrostRequest, type FrostRequest, type FrostShare, signFrostShare } from './frost.ts'
export { checkSparkKey, type SparkKey, sparkAccountOf, sparkPath } from './keys.ts'
export {
  type Claim,
  checkClaim,
  checkLightningReceive,
  checkTransfer,
  claimTransfer,
  type OperatorPackage,
  prepareLightningReceive,
  prepareTransfer,
  type Quorum,
  type SparkTransfer,
} from './transfer.ts'
