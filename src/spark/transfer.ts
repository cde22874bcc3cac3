/**
 * Handing leaves over (docs/protocol/spark.md#transfers). The owner's part of a leaf's key changes from an old to a new
 * one; the operators' part must change by the same difference the other way, so that the leaf's whole key stays. The
 * difference is shared among the operators, each share encrypted to its operator.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { type RandomBytes, sha256 } from '../crypto/index.ts'
import { concatBytes, decodeHex, encodeUtf8 } from '../encoding/index.ts'
import { decryptWith, encryptTo } from './ecies.ts'
import { SparkError } from './error.ts'
import { randomScalar, readPoint, readScalar, scalars, timesG, writeScalar } from './group.ts'
import { type LeafTweak, writeClaimTweaks, writeSecretShare, writeSendTweaks } from './messages.ts'
import { checkSharing, type SharedSecret, shareSecret } from './sharing.ts'
import { bytesValue, mapValue, structureHash } from './structure-hash.ts'

/** An operator that gets a share, and the compressed key that it is encrypted to. */
export interface SparkOperator {
  readonly operatorId: string
  readonly encryptionPublicKey: Uint8Array
}

/** A package encrypted to one operator. */
export interface OperatorPackage {
  readonly operatorId: string
  readonly encryptedPackage: Uint8Array
}

/** The recipients of shares, and how many of them are needed. */
export interface Quorum {
  readonly threshold: number
  readonly operators: readonly SparkOperator[]
}

export interface TransferLeaf {
  readonly leafId: string
  readonly oldPrivateKey: Uint8Array
  readonly newPrivateKey: Uint8Array
  /** Copied into the packages; empty where there is none. */
  readonly refundSignature: Uint8Array
  readonly directRefundSignature: Uint8Array
  readonly directFromCpfpRefundSignature: Uint8Array
}

export interface SparkTransfer extends Quorum {
  /** A UUID. */
  readonly transferId: string
  readonly leaves: readonly TransferLeaf[]
  /** The receiver's identity key, compressed. */
  readonly receiverPublicKey: Uint8Array
}

/** Throws `SparkError` for what `prepareTransfer` refuses, without a key. */
export function checkTransfer(
  transfer: Omit<SparkTransfer, 'leaves'> & { readonly leaves: readonly Pick<TransferLeaf, 'leafId'>[] },
): void {
  checkQuorum(transfer)
  checkLeaves(transfer.leaves)
  uuidBytes(transfer.transferId)
  readPoint(transfer.receiverPublicKey, 'receiverPublicKey')
}

/** Prepares what the sender submits: a package for each operator and the signature over all of them, DER. */
export function prepareTransfer(
  identityKey: Uint8Array,
  transfer: SparkTransfer,
  randomBytes: RandomBytes,
): { readonly operatorPackages: readonly OperatorPackage[]; readonly userSignature: Uint8Array } {
  checkTransfer(transfer)
  const transferId = uuidBytes(transfer.transferId)
  const leaves = transfer.leaves.map((leaf) => {
    const secretCipher = encryptTo(transfer.receiverPublicKey, leaf.newPrivateKey, randomBytes)
    return {
      ...leaf,
      shared: shareTweak(leaf, transfer, randomBytes),
      secretCipher,
      signature: sign(identityKey, leafHash(leaf.leafId, transfer.transferId, secretCipher), 'compact'),
    }
  })
  const operatorPackages = packagesFor(transfer.operators, randomBytes, (position) =>
    writeSendTweaks(leaves.map((leaf) => ({ ...leaf, ...tweakFor(position, leaf.shared, transfer.operators) }))),
  )
  const packages = operatorPackages.map(({ operatorId, encryptedPackage }) => [operatorId, encryptedPackage] as const)
  const payload = structureHash(['spark', 'transfer', 'signing payload'], [bytesValue(transferId), mapValue(packages)])
  return { operatorPackages, userSignature: sign(identityKey, payload, 'der') }
}

export interface ClaimLeaf {
  readonly leafId: string
  /** The sender's new key of the leaf, encrypted to the receiver's identity. */
  readonly ciphertext: Uint8Array
  /** Compact ECDSA, 64 bytes. */
  readonly senderSignature: Uint8Array
  /** The receiver's own key for the leaf. */
  readonly ownPrivateKey: Uint8Array
}

export interface Claim extends Quorum {
  readonly transferId: string
  readonly senderIdentityPublicKey: Uint8Array
  readonly leaves: readonly ClaimLeaf[]
}

/** Throws `SparkError` for what `claimTransfer` refuses, without a key: all but a ciphertext that does not open. */
export function checkClaim(
  claim: Omit<Claim, 'leaves'> & { readonly leaves: readonly Omit<ClaimLeaf, 'ownPrivateKey'>[] },
): void {
  checkQuorum(claim)
  checkLeaves(claim.leaves)
  uuidBytes(claim.transferId)
  readPoint(claim.senderIdentityPublicKey, 'senderIdentityPublicKey')
  for (const leaf of claim.leaves) {
    const signed = leafHash(leaf.leafId, claim.transferId, leaf.ciphertext)
    if (!isSignedBy(claim.senderIdentityPublicKey, signed, leaf.senderSignature)) {
      throw new SparkError(`\`senderSignature\` of leaf ${leaf.leafId} does not verify`)
    }
  }
}

/** Prepares what the receiver submits. One bad signature or ciphertext fails all of it. */
export function claimTransfer(
  identityKey: Uint8Array,
  claim: Claim,
  randomBytes: RandomBytes,
): readonly OperatorPackage[] {
  checkClaim(claim)
  const leaves = claim.leaves.map((leaf) => {
    const keys = { oldPrivateKey: decryptWith(identityKey, leaf.ciphertext), newPrivateKey: leaf.ownPrivateKey }
    return { leafId: leaf.leafId, shared: shareTweak(keys, claim, randomBytes) }
  })
  return packagesFor(claim.operators, randomBytes, (position) =>
    writeClaimTweaks(leaves.map(({ leafId, shared }) => ({ leafId, ...tweakFor(position, shared, claim.operators) }))),
  )
}

/** Throws `SparkError` for a threshold below two: one operator alone would know the preimage. */
export function checkLightningReceive(quorum: Quorum): void {
  checkQuorum(quorum)
  if (quorum.threshold < 2) throw new SparkError(`expected \`threshold\` to be at least 2, got ${quorum.threshold}`)
}

/** Makes a preimage that nobody holds whole, shares it, and says its hash. At least two operators must be needed for it. */
export function prepareLightningReceive(
  quorum: Quorum,
  randomBytes: RandomBytes,
): { readonly operatorPackages: readonly OperatorPackage[]; readonly paymentHash: Uint8Array } {
  checkLightningReceive(quorum)
  const preimage = randomScalar(randomBytes)
  const { shares, proofs } = shareSecret(preimage, sharingOf(quorum), randomBytes)
  return {
    paymentHash: sha256(writeScalar(preimage)),
    operatorPackages: packagesFor(quorum.operators, randomBytes, (position) =>
      writeSecretShare({ share: writeScalar(shares[position]!), proofs }),
    ),
  }
}

function shareTweak(
  { oldPrivateKey, newPrivateKey }: Pick<TransferLeaf, 'oldPrivateKey' | 'newPrivateKey'>,
  quorum: Quorum,
  randomBytes: RandomBytes,
): SharedSecret {
  const tweak = scalars.sub(readScalar(oldPrivateKey, 'ciphertext'), readScalar(newPrivateKey, 'newLeafDerivation'))
  return shareSecret(tweak, sharingOf(quorum), randomBytes)
}

function tweakFor(
  position: number,
  { shares, proofs }: SharedSecret,
  operators: readonly SparkOperator[],
): Omit<LeafTweak, 'leafId'> {
  return {
    tweak: { share: writeScalar(shares[position]!), proofs },
    publicShares: new Map(operators.map(({ operatorId }, index) => [operatorId, timesG(shares[index]!).toBytes(true)])),
  }
}

function packagesFor(
  operators: readonly SparkOperator[],
  randomBytes: RandomBytes,
  write: (position: number) => Uint8Array,
): readonly OperatorPackage[] {
  return operators.map(({ operatorId, encryptionPublicKey }, position) => ({
    operatorId,
    encryptedPackage: encryptTo(encryptionPublicKey, write(position), randomBytes),
  }))
}

function sharingOf({ threshold, operators }: Quorum) {
  return { threshold, recipients: operators.length }
}

/** The packages are a map by operator, so that one named twice would lose its share. */
function checkQuorum(quorum: Quorum): void {
  const { operators } = quorum
  const ids = operators.map(({ operatorId }) => operatorId)
  if (new Set(ids).size < ids.length) throw new SparkError('expected each `operatorId` in `operatorRecipients` once')
  for (const { encryptionPublicKey } of operators) readPoint(encryptionPublicKey, 'encryptionPublicKey')
  checkSharing(sharingOf(quorum))
}

function checkLeaves(leaves: readonly { readonly leafId: string }[]): void {
  const ids = leaves.map(({ leafId }) => leafId)
  if (ids.length === 0) throw new SparkError('expected at least one of `leaves`')
  if (new Set(ids).size < ids.length) throw new SparkError('expected each `leafId` in `leaves` once')
}

/** What the sender signs for each leaf; it is not hashed again. */
function leafHash(leafId: string, transferId: string, secretCipher: Uint8Array): Uint8Array {
  return sha256(concatBytes(encodeUtf8(leafId), encodeUtf8(transferId), secretCipher))
}

function sign(privateKey: Uint8Array, digest: Uint8Array, format: 'compact' | 'der'): Uint8Array {
  return secp256k1.sign(digest, privateKey, { prehash: false, lowS: true, format })
}

function isSignedBy(publicKey: Uint8Array, digest: Uint8Array, signature: Uint8Array): boolean {
  return (
    signature.length === 64 &&
    secp256k1.verify(signature, digest, publicKey, { prehash: false, lowS: false, format: 'compact' })
  )
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

function uuidBytes(uuid: string): Uint8Array {
  if (UUID.test(uuid)) return decodeHex(uuid.replaceAll('-', '').toLowerCase())
  throw new SparkError('expected `transferId` to be a UUID')
}
