import { schnorr, secp256k1_hasher } from '@noble/curves/secp256k1.js'
import { type MessageTable, readProtobuf } from '../../src/chain/transactions/protobuf.ts'
import { randomBytes, sha256 } from '../../src/crypto/index.ts'
import { concatBytes, decodeHex, encodeHex, encodeUtf8 } from '../../src/encoding/index.ts'
import type { Wire } from '../../src/protocol/index.ts'
import { decryptWith } from '../../src/spark/ecies.ts'
import type { FrostRequest, FrostShare } from '../../src/spark/frost.ts'
import {
  hasEvenY,
  randomScalar,
  readPoint,
  readScalar,
  scalars,
  timesG,
  writeScalar,
  xOf,
} from '../../src/spark/group.ts'

/** The identifier under which the user signs (docs/protocol/spark.md#frost-shares). */
export const USER_ID = decodeHex('687da64d52a16c6fc792c6fc831ec1afa797a91f77549668a6b5421f12c1ac77')

export const taggedNumber = (tag: string, ...parts: Uint8Array[]) =>
  scalars.create(BigInt(`0x${encodeHex(schnorr.utils.taggedHash(tag, ...parts))}`))

/** Operators who hold one key together, each a part, and who sign beside the user as Spark's do. */
export function makeOperators(
  operatorCount: number,
  { userPublicKey, adaptorPublicKey }: { readonly userPublicKey: Uint8Array; readonly adaptorPublicKey?: Uint8Array },
) {
  const operators = Array.from({ length: operatorCount }, (_, index) => ({
    id: BigInt(index + 1),
    part: randomScalar(randomBytes),
    nonces: { hiding: randomScalar(randomBytes), binding: randomScalar(randomBytes) },
  }))
  const groupKey = operators.reduce((sum, { part }) => sum.add(timesG(part)), readPoint(userPublicKey, 'userPublicKey'))
  const request: FrostRequest = {
    message: randomBytes(32),
    verifyingKey: groupKey.toBytes(true),
    operatorCommitments: operators.map(({ id, nonces }) => ({
      id: writeScalar(id),
      hiding: timesG(nonces.hiding).toBytes(true),
      binding: timesG(nonces.binding).toBytes(true),
    })),
    ...(adaptorPublicKey && { adaptorPublicKey }),
  }
  return {
    request,
    /** Adds the user's share to theirs, and the adaptor's secret: a signature of BIP-340 and the key that it is under. */
    complete: (share: FrostShare, adaptorSecret: bigint) => {
      const tweak = taggedNumber('TapTweak', xOf(groupKey))
      const key = (hasEvenY(groupKey) ? groupKey : groupKey.negate()).add(timesG(tweak))
      const listed = [
        ...request.operatorCommitments,
        { id: USER_ID, hiding: share.hiding, binding: share.binding },
      ].sort((a, b) => Buffer.compare(a.id, b.id))
      const factors = bindingFactors(
        hasEvenY(key) ? key.toBytes(true) : key.negate().toBytes(true),
        listed,
        request.message,
      )
      const sum = listed
        .map(({ id, hiding, binding }) =>
          readPoint(hiding, '').add(readPoint(binding, '').multiply(factors.get(encodeHex(id))!)),
        )
        .concat(adaptorPublicKey ? readPoint(adaptorPublicKey, '') : [])
        .reduce((total, point) => total.add(point))
      const [nonceSign, keySign] = [hasEvenY(sum) ? 1n : -1n, hasEvenY(key) ? 1n : -1n]
      const partSign = hasEvenY(groupKey) ? keySign : -keySign
      const challenge = taggedNumber('BIP0340/challenge', xOf(sum), xOf(key), request.message)
      const shares = operators.map(({ id, part, nonces }) => {
        const factor = factors.get(encodeHex(writeScalar(id)))!
        return nonceSign * (nonces.hiding + nonces.binding * factor) + challenge * partSign * part
      })
      const total =
        shares.reduce((a, b) => a + b, readScalar(share.signatureShare, 'share')) +
        challenge * keySign * tweak +
        nonceSign * adaptorSecret
      return { key: xOf(key), bytes: concatBytes(xOf(sum), writeScalar(scalars.create(total))) }
    },
  }
}

/** Written once more for the operators' side, over RFC 9380 as the library has it. */
function bindingFactors(
  key: Uint8Array,
  list: readonly { readonly id: Uint8Array; readonly hiding: Uint8Array; readonly binding: Uint8Array }[],
  message: Uint8Array,
): ReadonlyMap<string, bigint> {
  const context = 'FROST-secp256k1-SHA256-TR-v1'
  const hashed = (purpose: string, bytes: Uint8Array) => sha256(concatBytes(encodeUtf8(`${context}${purpose}`), bytes))
  const encoded = concatBytes(...list.flatMap(({ id, hiding, binding }) => [id, hiding, binding]))
  const prefix = concatBytes(key, hashed('msg', message), hashed('com', encoded))
  return new Map(
    list.map(({ id }) => [
      encodeHex(id),
      secp256k1_hasher.hashToScalar(concatBytes(prefix, id), { DST: `${context}rho` }),
    ]),
  )
}

/** Opens the package of an operator, as the operator does: one message for each leaf. */
export function readPackage(key: Uint8Array, { encryptedPackage }: Wire.SparkEncryptedOperatorPackage) {
  const field = (name: string) => ({ name, kind: 'bytes' as const })
  const leafTable: MessageTable = {
    1: field('leafId'),
    2: field('tweak'),
    3: { ...field('publicShares'), repeated: true },
    4: field('secretCipher'),
    5: field('signature'),
  }
  const table: MessageTable = { 1: { ...field('leaves'), repeated: true } }
  const list = readProtobuf(decryptWith(key, decodeHex(encryptedPackage)), table, 'a package')
  return list.all('leaves').map((bytes) => readProtobuf(bytes, leafTable, 'a leaf'))
}
