/**
 * The user's share of a FROST signature (RFC 9591 with the Taproot context that `frost-secp256k1-tr` names;
 * docs/protocol/spark.md#frost-shares).
 *
 * The key of a Spark leaf is a sum: what the operators hold in shares among themselves, and the user's own key. The user
 * therefore always signs, without a Lagrange factor, and the operators' shares carry the Taproot tweak. The signature that
 * all shares add up to is one of BIP-340 under the tweaked key `Q`.
 */
import { schnorr, secp256k1_hasher } from '@noble/curves/secp256k1.js'
import { bytesToNumberBE } from '@noble/curves/utils.js'
import { type RandomBytes, sha256 } from '../crypto/index.ts'
import { concatBytes, encodeUtf8 } from '../encoding/index.ts'
import { SparkError } from './error.ts'
import { hasEvenY, type Point, readPoint, readScalar, scalars, timesG, writeScalar, xOf } from './group.ts'

const CONTEXT = 'FROST-secp256k1-SHA256-TR-v1'

/** What an operator has committed itself to: points are compressed, `id` is its identifier, 32 bytes. */
export interface OperatorCommitment {
  readonly id: Uint8Array
  readonly hiding: Uint8Array
  readonly binding: Uint8Array
}

export interface FrostRequest {
  /** What is signed, 32 bytes. */
  readonly message: Uint8Array
  /** The operators' key and the user's, added; compressed. */
  readonly verifyingKey: Uint8Array
  /** At least one. */
  readonly operatorCommitments: readonly OperatorCommitment[]
  /** The point of an adaptor signature, compressed. */
  readonly adaptorPublicKey?: Uint8Array
}

/** The share as a number of 32 bytes, and the user's own commitments, compressed. */
export interface FrostShare {
  readonly signatureShare: Uint8Array
  readonly hiding: Uint8Array
  readonly binding: Uint8Array
}

interface Commitment {
  readonly id: bigint
  readonly hiding: Point
  readonly binding: Point
}

/** The identifier under which the user takes part: not that of any operator. */
const USER_ID = hashToScalar('id', encodeUtf8('user'))

/** Two secret numbers of a signer, for one signature and never again. */
export interface Nonces {
  readonly hiding: bigint
  readonly binding: bigint
}

/**
 * Makes the user's share of one signature, with fresh nonces. Throws `SparkError` for points, numbers or identifiers that
 * cannot be.
 */
export function signFrostShare(privateKey: Uint8Array, request: FrostRequest, randomBytes: RandomBytes): FrostShare {
  const nonces = { hiding: makeNonce(privateKey, randomBytes), binding: makeNonce(privateKey, randomBytes) }
  return frostShare(privateKey, nonces, request)
}

/** Throws `SparkError` for what `signFrostShare` refuses, without a key. */
export function checkFrostRequest(request: FrostRequest): void {
  readRequest(request)
}

/**
 * The share that a key and nonces give; the one place where nonces are used. The caller must never pass the same nonces
 * twice.
 */
export function frostShare(privateKey: Uint8Array, nonces: Nonces, request: FrostRequest): FrostShare {
  const secret = readScalar(privateKey, 'privateKey')
  const { message, verifyingKey, tweakedKey, operators, adaptor } = readRequest(request)

  const user = { id: USER_ID, hiding: timesG(nonces.hiding), binding: timesG(nonces.binding) }
  const commitments = [...operators, user].sort((a, b) => (a.id < b.id ? -1 : 1))

  const bindingFactors = bindingFactorsOf(tweakedKey, commitments, message)
  const commitment = groupCommitment(commitments, bindingFactors, adaptor)
  const challenge = schnorrChallenge(commitment, tweakedKey, message)

  // BIP-340 knows points of even y alone: where a sum has an odd one, everyone takes the other sign.
  const nonceSign = hasEvenY(commitment) ? 1n : -1n
  const keySign = hasEvenY(verifyingKey) === hasEvenY(tweakedKey) ? 1n : -1n
  const nonce = nonces.hiding + nonces.binding * bindingFactors.get(USER_ID)!
  const share = scalars.create(nonceSign * nonce + challenge * keySign * secret)
  return {
    signatureShare: writeScalar(share),
    hiding: user.hiding.toBytes(true),
    binding: user.binding.toBytes(true),
  }
}

function readRequest({ message, operatorCommitments, adaptorPublicKey, ...request }: FrostRequest) {
  const verifyingKey = readPoint(request.verifyingKey, 'verifyingKey')
  return {
    message: checkMessage(message),
    verifyingKey,
    tweakedKey: tweak(verifyingKey),
    operators: readCommitments(operatorCommitments),
    adaptor: adaptorPublicKey && readPoint(adaptorPublicKey, 'adaptorPublicKey'),
  }
}

function checkMessage(message: Uint8Array): Uint8Array {
  if (message.length === 32) return message
  throw new SparkError(`expected \`message\` to be 32 bytes, got ${message.length}`)
}

function readCommitments(given: readonly OperatorCommitment[]): readonly Commitment[] {
  if (given.length === 0) throw new SparkError('expected at least one of `operatorCommitments`')
  const commitments = given.map(({ id, hiding, binding }) => ({
    id: readScalar(id, 'operatorCommitments.id'),
    hiding: readPoint(hiding, 'operatorCommitments.hiding'),
    binding: readPoint(binding, 'operatorCommitments.binding'),
  }))
  const ids = commitments.map(({ id }) => id)
  if (ids.includes(USER_ID)) throw new SparkError('expected `operatorCommitments` without the identifier of the user')
  if (new Set(ids).size < ids.length) throw new SparkError('expected each `id` in `operatorCommitments` once')
  return commitments
}

/** Q = even(P) + t·G with t of BIP-341, without a script tree. */
function tweak(key: Point): Point {
  const even = hasEvenY(key) ? key : key.negate()
  const tweaked = even.add(timesG(scalars.fromBytes(schnorr.utils.taggedHash('TapTweak', xOf(key)))))
  if (tweaked.is0()) throw new SparkError('`verifyingKey` has no tweaked form')
  return tweaked
}

/** RFC 9591 §4.4, over the tweaked key in its even form. `commitments` stand in the order of their identifiers. */
function bindingFactorsOf(
  tweakedKey: Point,
  commitments: readonly Commitment[],
  message: Uint8Array,
): ReadonlyMap<bigint, bigint> {
  const list = commitments.flatMap(({ id, hiding, binding }) => [
    writeScalar(id),
    hiding.toBytes(true),
    binding.toBytes(true),
  ])
  const evenKey = hasEvenY(tweakedKey) ? tweakedKey : tweakedKey.negate()
  const prefix = concatBytes(evenKey.toBytes(true), hash('msg', message), hash('com', ...list))
  return new Map(commitments.map(({ id }) => [id, hashToScalar('rho', prefix, writeScalar(id))]))
}

/** RFC 9591 §4.5, and the adaptor's point on top. */
function groupCommitment(
  commitments: readonly Commitment[],
  bindingFactors: ReadonlyMap<bigint, bigint>,
  adaptor: Point | undefined,
): Point {
  const sum = commitments
    .map(({ id, hiding, binding }) => hiding.add(binding.multiply(bindingFactors.get(id)!)))
    .concat(adaptor ?? [])
    .reduce((total, point) => total.add(point))
  if (sum.is0()) throw new SparkError('the commitments add up to nothing')
  return sum
}

function schnorrChallenge(commitment: Point, key: Point, message: Uint8Array): bigint {
  return scalars.create(
    bytesToNumberBE(schnorr.utils.taggedHash('BIP0340/challenge', xOf(commitment), xOf(key), message)),
  )
}

/** RFC 9591 §4.1: fresh randomness, and the key beside it, so that a weak source alone gives nothing away. */
function makeNonce(privateKey: Uint8Array, randomBytes: RandomBytes): bigint {
  return hashToScalar('nonce', randomBytes(32), privateKey)
}

/** H1 and H3 of RFC 9591 §6.5, and the crate's hash of identifiers: `hash_to_field` of RFC 9380 §5.2. */
function hashToScalar(purpose: 'rho' | 'nonce' | 'id', ...parts: readonly Uint8Array[]): bigint {
  return secp256k1_hasher.hashToScalar(concatBytes(...parts), { DST: `${CONTEXT}${purpose}` })
}

/** H4 and H5 of RFC 9591 §6.5. */
function hash(purpose: 'msg' | 'com', ...parts: readonly Uint8Array[]): Uint8Array {
  return sha256(concatBytes(encodeUtf8(`${CONTEXT}${purpose}`), ...parts))
}
