import { secp256k1 } from '@noble/curves/secp256k1.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type MessageTable, readProtobuf } from '../../src/chain/transactions/protobuf.ts'
import { randomBytes, sha256 } from '../../src/crypto/index.ts'
import { concatBytes, decodeHex, decodeUtf8, encodeHex, encodeUtf8 } from '../../src/encoding/index.ts'
import { decryptWith, encryptTo } from '../../src/spark/ecies.ts'
import { randomScalar, readPoint, readScalar, scalars, timesG, writeScalar } from '../../src/spark/group.ts'
import { claimTransfer, prepareLightningReceive, prepareTransfer, type SparkTransfer } from '../../src/spark/index.ts'
import { shareSecret } from '../../src/spark/sharing.ts'
import { structureHash } from '../../src/spark/structure-hash.ts'
import { expectRefusal } from './expect-refusal.ts'

const newKey = () => writeScalar(randomScalar(randomBytes))
const publicOf = (privateKey: Uint8Array) => timesG(readScalar(privateKey, 'privateKey')).toBytes(true)

const operatorKeys = [newKey(), newKey(), newKey()]
const operators = operatorKeys.map((key, index) => ({
  operatorId: encodeHex(writeScalar(BigInt(index + 1))),
  encryptionPublicKey: publicOf(key),
}))
const [sender, receiver] = [newKey(), newKey()]
const transferId = '018f2c5e-7a31-7c44-9d8f-0242ac120002'
const empty = new Uint8Array()

function leaf(leafId: string, refundSignature = empty) {
  const keys = { oldPrivateKey: newKey(), newPrivateKey: newKey() }
  return { leafId, ...keys, refundSignature, directRefundSignature: empty, directFromCpfpRefundSignature: empty }
}

const leaves = [leaf('leaf-a', encodeUtf8('refund')), leaf('leaf-b')]
const transfer: SparkTransfer = {
  transferId,
  leaves,
  threshold: 2,
  operators,
  receiverPublicKey: publicOf(receiver),
}

describe('a transfer', () => {
  const prepared = prepareTransfer(sender, transfer, randomBytes)

  test('gives each operator a package that it alone opens, for each leaf in its order', () => {
    const opened = prepared.operatorPackages.map(({ encryptedPackage }, index) =>
      readLeaves(decryptWith(operatorKeys[index]!, encryptedPackage), sendTable),
    )
    expect(opened.map((list) => list.map(({ leafId }) => leafId))).toEqual(Array(3).fill(['leaf-a', 'leaf-b']))
    expect(decodeUtf8(opened[0]![0]!.message.bytes('refundSignature'))).toBe('refund')
    expect(opened[0]![1]!.message.has('refundSignature')).toBe(false)
    expectRefusal(
      () => decryptWith(operatorKeys[1]!, prepared.operatorPackages[0]!.encryptedPackage),
      '`ciphertext` does not open with the identity key',
    )
  })

  test('any two shares of a leaf give the old key less the new one, and every share fits the commitments', () => {
    const opened = openAll(prepared.operatorPackages, sendTable)
    for (const [index, { oldPrivateKey, newPrivateKey }] of leaves.entries()) {
      const tweak = scalars.sub(readScalar(oldPrivateKey, 'old'), readScalar(newPrivateKey, 'new'))
      const held = opened.map((list, position) => ({ x: BigInt(position + 1), ...list[index]! }))
      for (const [one, two] of [
        [0, 1],
        [0, 2],
        [1, 2],
      ] as const)
        expect(valueAtZero([held[one]!, held[two]!])).toBe(tweak)
      for (const { x, share, proofs, publicShares } of held) {
        const fromProofs = proofs.map((proof, power) => readPoint(proof, 'proof').multiply(x ** BigInt(power)))
        const expected = fromProofs.reduce((sum, point) => sum.add(point)).toBytes(true)
        expect(timesG(share).toBytes(true)).toEqual(expected)
        expect(publicShares.get(operators[Number(x) - 1]!.operatorId)).toEqual(expected)
      }
    }
  })

  test('is signed by the identity: each leaf, and all packages together', () => {
    const [first] = openAll(prepared.operatorPackages, sendTable)
    for (const { leafId, message } of first!) {
      const signed = sha256(concatBytes(encodeUtf8(leafId), encodeUtf8(transferId), message.bytes('secretCipher')))
      expect(verify(message.bytes('signature'), signed, sender, 'compact')).toBe(true)
    }
    const payload = signingPayload(prepared.operatorPackages)
    expect(verify(prepared.userSignature, payload, sender, 'der')).toBe(true)
  })

  test('is claimed by its receiver, and the key of each leaf stays what it was', () => {
    const own = leaves.map(() => newKey())
    const [first] = openAll(prepared.operatorPackages, sendTable)
    const claimed = claimTransfer(receiver, { ...claimOf(first!, own) }, randomBytes)
    for (const [index, { newPrivateKey }] of leaves.entries()) {
      const held = openAll(claimed, claimTable).map((list, position) => ({ x: BigInt(position + 1), ...list[index]! }))
      const expected = scalars.sub(readScalar(newPrivateKey, 'new'), readScalar(own[index]!, 'own'))
      expect(valueAtZero([held[0]!, held[2]!])).toBe(expected)
    }
  })

  test('a claim with a signature of somebody else, or a ciphertext for somebody else, fails whole', () => {
    const [first] = openAll(prepared.operatorPackages, sendTable)
    const claim = claimOf(
      first!,
      leaves.map(() => newKey()),
    )
    expectRefusal(
      () => claimTransfer(receiver, { ...claim, senderIdentityPublicKey: publicOf(receiver) }, randomBytes),
      '`senderSignature` of leaf leaf-a does not verify',
    )
    expectRefusal(() => claimTransfer(sender, claim, randomBytes), '`ciphertext` does not open with the identity key')
  })

  test.each<[string, Partial<SparkTransfer>, string]>([
    ['no leaf', { leaves: [] }, 'expected at least one of `leaves`'],
    ['a leaf twice', { leaves: [leaves[0]!, leaves[0]!] }, 'expected each `leafId` in `leaves` once'],
    [
      'a leaf that keeps its key',
      { leaves: [{ ...leaves[0]!, newPrivateKey: leaves[0]!.oldPrivateKey }] },
      'expected the old and the new key of a leaf to differ',
    ],
    [
      'more shares needed than there are',
      { threshold: 4 },
      'expected `threshold` to be between 1 and 3, the number of recipients, got 4',
    ],
    [
      'an operator twice',
      { operators: [operators[0]!, operators[0]!] },
      'expected each `operatorId` in `operatorRecipients` once',
    ],
    ['an id that is no UUID', { transferId: 'one' }, 'expected `transferId` to be a UUID'],
    [
      'a receiver that is no key',
      { receiverPublicKey: empty },
      'expected `receiverPublicKey` to be a compressed point of secp256k1',
    ],
  ])('%s is refused', (_, change, message) => {
    expectRefusal(() => prepareTransfer(sender, { ...transfer, ...change }, randomBytes), message)
  })
})

describe('a lightning payment', () => {
  test('is received for a preimage that two operators together know, and one does not', () => {
    const { operatorPackages, paymentHash } = prepareLightningReceive({ threshold: 2, operators }, randomBytes)
    const held = operatorPackages.map(({ encryptedPackage }, index) => {
      const message = readProtobuf(decryptWith(operatorKeys[index]!, encryptedPackage), shareTable, 'a share')
      return { x: BigInt(index + 1), share: readScalar(message.bytes('share'), 'share') }
    })
    expect(sha256(writeScalar(valueAtZero([held[0]!, held[1]!])))).toEqual(paymentHash)
    expect(sha256(writeScalar(held[0]!.share))).not.toEqual(paymentHash)
  })

  test('needs two operators at least', () => {
    expectRefusal(
      () => prepareLightningReceive({ threshold: 1, operators }, randomBytes),
      'expected `threshold` to be at least 2, got 1',
    )
  })
})

test('sharing: any threshold of shares gives the secret back', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 3 }), fc.nat(), (threshold, spare, seed) => {
      const recipients = threshold + spare
      const secret = randomScalar(randomBytes)
      const { shares } = shareSecret(secret, { threshold, recipients }, randomBytes)
      const all = shares.map((share, index) => ({ x: BigInt(index + 1), share }))
      const start = seed % (spare + 1)
      expect(valueAtZero(all.slice(start, start + threshold))).toBe(secret)
    }),
    { numRuns: 20 },
  )
})

test('encryption: one bit changed anywhere, and it does not open', () => {
  const key = newKey()
  const sealed = encryptTo(publicOf(key), encodeUtf8('a leaf key'), randomBytes)
  expect(decodeUtf8(decryptWith(key, sealed))).toBe('a leaf key')
  for (const index of sealed.keys()) {
    const changed = sealed.map((byte, at) => (at === index ? byte ^ 1 : byte))
    expectRefusal(() => decryptWith(key, changed), '`ciphertext` does not open with the identity key')
  }
})

/** By docs/protocol/spark.md#building-blocks: one length and value after the other. */
function signingPayload(packages: readonly { operatorId: string; encryptedPackage: Uint8Array }[]): Uint8Array {
  const part = (bytes: Uint8Array) => {
    const length = Buffer.alloc(8)
    length.writeBigUInt64BE(BigInt(bytes.length))
    return concatBytes(length, bytes)
  }
  const count = Buffer.alloc(8)
  count.writeBigUInt64BE(BigInt(packages.length))
  const sorted = packages.toSorted((a, b) => (a.operatorId < b.operatorId ? -1 : 1))
  const tag = sha256(concatBytes(...['spark', 'transfer', 'signing payload'].map((word) => part(encodeUtf8(word)))))
  return sha256(
    concatBytes(
      tag,
      tag,
      part(decodeHex(transferId.replaceAll('-', ''))),
      part(count),
      ...sorted.flatMap(({ operatorId, encryptedPackage }) => [part(encodeUtf8(operatorId)), part(encryptedPackage)]),
    ),
  )
}

test('the hash of a structure tells apart what only its borders tell apart', () => {
  expect(structureHash(['ab', 'c'], [])).not.toEqual(structureHash(['a', 'bc'], []))
})

const shareTable: MessageTable = {
  1: { name: 'share', kind: 'bytes' },
  2: { name: 'proofs', kind: 'bytes', repeated: true },
}
const claimTable: MessageTable = {
  1: { name: 'leafId', kind: 'bytes' },
  2: { name: 'tweak', kind: 'bytes' },
  3: { name: 'publicShares', kind: 'bytes', repeated: true },
}
const sendTable: MessageTable = {
  ...claimTable,
  4: { name: 'secretCipher', kind: 'bytes' },
  5: { name: 'signature', kind: 'bytes' },
  6: { name: 'refundSignature', kind: 'bytes' },
  7: { name: 'directRefundSignature', kind: 'bytes' },
  8: { name: 'directFromCpfpRefundSignature', kind: 'bytes' },
}

function readLeaves(bytes: Uint8Array, table: MessageTable) {
  const list = readProtobuf(bytes, { 1: { name: 'leaves', kind: 'bytes', repeated: true } }, 'a package')
  return list.all('leaves').map((encoded) => {
    const message = readProtobuf(encoded, table, 'a leaf')
    const tweak = readProtobuf(message.bytes('tweak'), shareTable, 'a share')
    const entries = message.all('publicShares').map((entry) => {
      const pair = readProtobuf(
        entry,
        { 1: { name: 'key', kind: 'bytes' }, 2: { name: 'value', kind: 'bytes' } },
        'an entry',
      )
      return [decodeUtf8(pair.bytes('key')), pair.bytes('value')] as const
    })
    return {
      message,
      leafId: decodeUtf8(message.bytes('leafId')),
      share: readScalar(tweak.bytes('share'), 'share'),
      proofs: tweak.all('proofs'),
      publicShares: new Map(entries),
    }
  })
}

function openAll(packages: readonly { encryptedPackage: Uint8Array }[], table: MessageTable) {
  return packages.map(({ encryptedPackage }, index) =>
    readLeaves(decryptWith(operatorKeys[index]!, encryptedPackage), table),
  )
}

function claimOf(sent: ReturnType<typeof readLeaves>, own: readonly Uint8Array[]) {
  return {
    transferId,
    threshold: 2,
    operators,
    senderIdentityPublicKey: publicOf(sender),
    leaves: sent.map(({ leafId, message }, index) => ({
      leafId,
      ciphertext: message.bytes('secretCipher'),
      senderSignature: message.bytes('signature'),
      ownPrivateKey: own[index]!,
    })),
  }
}

/** Lagrange's interpolation at 0. */
function valueAtZero(points: readonly { readonly x: bigint; readonly share: bigint }[]): bigint {
  return points.reduce((sum, { x, share }) => {
    const factor = points
      .filter((other) => other.x !== x)
      .reduce((product, other) => scalars.mul(product, scalars.div(other.x, scalars.sub(other.x, x))), 1n)
    return scalars.add(sum, scalars.mul(share, factor))
  }, 0n)
}

function verify(signature: Uint8Array, digest: Uint8Array, privateKey: Uint8Array, format: 'compact' | 'der'): boolean {
  return secp256k1.verify(signature, digest, publicOf(privateKey), { prehash: false, format })
}
