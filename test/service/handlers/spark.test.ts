import { schnorr } from '@noble/curves/secp256k1.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { randomBytes } from '../../../src/crypto/index.ts'
import { decodeHex, encodeHex } from '../../../src/encoding/index.ts'
import type { ActivityType, Wire } from '../../../src/protocol/index.ts'
import { randomScalar, timesG, writeScalar } from '../../../src/spark/group.ts'
import { sparkPath } from '../../../src/spark/index.ts'
import { makeOperators, readPackage } from '../../spark/operators.ts'
import { startTestService, type TestService } from '../harness.ts'
import { type AccountShape, makeWallet } from '../signing/keys.ts'
import { complete, invalid, refusalOf } from './steps.ts'

const spark = (path: string, format: Wire.AddressFormat = 'ADDRESS_FORMAT_COMPRESSED'): AccountShape => [
  'CURVE_SECP256K1',
  format,
  path,
]

let service: TestService
/** The keys that are also accounts: only so can a client read their public keys. */
let accounts: readonly { readonly address: string; readonly publicKey: string }[]
beforeAll(async () => {
  service = await startTestService()
  const wallet = await makeWallet(
    service.root,
    spark("m/8797555'/0'/0'", 'ADDRESS_FORMAT_SPARK_REGTEST'),
    spark(sparkPath(0, { kind: 'signingLeaf', leafId: 'leaf-1' })),
    spark(sparkPath(0, { kind: 'staticDeposit', index: 3 })),
    spark(sparkPath(0, { kind: 'staticDeposit', index: 0 })),
  )
  accounts = wallet.accounts
})
afterAll(() => service.close())

const identity = () => accounts[0]!.address
const frost = (signatures: object[], signWith = identity()) => ({ signWith, signatures })

describe('spark_sign_frost', () => {
  test.each<[string, object, number]>([
    ['the identity', { identity: {} }, 0],
    ['a leaf', { signingLeaf: { leafId: 'leaf-1' } }, 1],
    ['a static deposit', { staticDeposit: { index: 3 } }, 2],
    ['the first static deposit', { staticDeposit: { index: 0 } }, 3],
  ])('the share of %s makes the operators’ signature whole', async (_, derivation, account) => {
    const userPublicKey = decodeHex(accounts[account]!.publicKey)
    const party = makeOperators(2, { userPublicKey })
    const { signatures } = await complete(
      service.root,
      'ACTIVITY_TYPE_SPARK_SIGN_FROST',
      frost([ask(party, derivation)]),
    )
    const share = Object.fromEntries(Object.entries(signatures[0]!).map(([name, value]) => [name, decodeHex(value)]))
    const { bytes, key } = party.complete(share as never, 0n)
    expect(schnorr.verify(bytes, party.request.message, key)).toBe(true)
  })

  test('the identity may be named by its compressed key, and several are signed in their order', async () => {
    const userPublicKey = decodeHex(accounts[0]!.publicKey)
    const parties = [makeOperators(1, { userPublicKey }), makeOperators(3, { userPublicKey })]
    const request = frost(
      parties.map((party) => ask(party, { identity: {} })),
      accounts[0]!.publicKey,
    )
    const { signatures } = await complete(service.root, 'ACTIVITY_TYPE_SPARK_SIGN_FROST', request)
    expect(signatures).toHaveLength(2)
    for (const [index, party] of parties.entries()) {
      const share = Object.fromEntries(
        Object.entries(signatures[index]!).map(([name, value]) => [name, decodeHex(value)]),
      )
      const { bytes, key } = party.complete(share as never, 0n)
      expect(schnorr.verify(bytes, party.request.message, key)).toBe(true)
    }
  })

  test.each<[string, object, string]>([
    ['no member', {}, 'expected `derivation` to have exactly one member, got 0'],
    ['two members', { identity: {}, deposit: {} }, 'expected `derivation` to have exactly one member, got 2'],
    ['the key of preimages', { htlcPreimage: {} }, '`htlcPreimage` is no key to sign with'],
  ])('a derivation with %s is refused', async (_, derivation, message) => {
    const party = makeOperators(1, { userPublicKey: decodeHex(accounts[0]!.publicKey) })
    const sent = service.root.submit('ACTIVITY_TYPE_SPARK_SIGN_FROST', frost([ask(party, derivation)]))
    expect(await refusalOf(sent)).toEqual(invalid(message))
  })

  test('an account that is no identity signs nothing', async () => {
    const party = makeOperators(1, { userPublicKey: decodeHex(accounts[1]!.publicKey) })
    const sent = service.root.submit(
      'ACTIVITY_TYPE_SPARK_SIGN_FROST',
      frost([ask(party, { identity: {} })], accounts[1]!.address),
    )
    expect(await refusalOf(sent)).toEqual(
      invalid("expected `signWith` to be a Spark identity, an account at m/8797555'/<account>'/0'"),
    )
  })

  test.each<[string, object, string]>([
    ['a message that is no hex', { message: 'xyz' }, 'expected `message` to be hex of whole bytes'],
    ['a message of 31 bytes', { message: '00'.repeat(31) }, 'expected `message` to be 32 bytes, got 31'],
    [
      'the point at infinity',
      { verifyingKey: '00'.repeat(33) },
      'expected `verifyingKey` to be a compressed point of secp256k1',
    ],
    [
      'a deposit that no account has',
      { derivation: { staticDeposit: { index: 2 ** 31 } } },
      'expected `index` to be between 0 and 2147483647, got 2147483648',
    ],
  ])('%s is refused before anybody has decided', async (_, change, message) => {
    const party = makeOperators(1, { userPublicKey: decodeHex(accounts[0]!.publicKey) })
    const request = frost([{ ...ask(party, { identity: {} }), ...change }])
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_SPARK_SIGN_FROST', request))).toEqual(invalid(message))
  })
})

test.each<[string, ActivityType, () => object, string]>([
  [
    'a transfer of fewer operators than are needed',
    'ACTIVITY_TYPE_SPARK_PREPARE_TRANSFER',
    () => ({
      transfer: {
        ...quorum(2),
        transferId: TRANSFER_ID,
        receiverPublicKey: accounts[0]!.publicKey,
        leaves: [
          { leafId: 'a', oldLeafDerivation: { deposit: {} }, newLeafDerivation: { signingLeaf: { leafId: 'b' } } },
        ],
      },
    }),
    'expected `threshold` to be between 1 and 1, the number of recipients, got 2',
  ],
  [
    'a claim that its sender has not signed',
    'ACTIVITY_TYPE_SPARK_CLAIM_TRANSFER',
    () => ({
      claim: {
        ...quorum(1),
        transferId: TRANSFER_ID,
        senderIdentityPublicKey: accounts[0]!.publicKey,
        leaves: [{ leafId: 'a', ciphertext: '00', senderSignature: '11'.repeat(64) }],
      },
    }),
    '`senderSignature` of leaf a does not verify',
  ],
  [
    'a lightning payment that one operator would know',
    'ACTIVITY_TYPE_SPARK_PREPARE_LIGHTNING_RECEIVE',
    () => ({ lightningReceive: quorum(1) }),
    'expected `threshold` to be at least 2, got 1',
  ],
])('%s is refused before anybody has decided', async (_, type, request, message) => {
  const sent = service.root.submit(type, { signWith: identity(), ...request() })
  expect(await refusalOf(sent)).toEqual(invalid(message))
})

const TRANSFER_ID = '018f2c5e-7a31-7c44-9d8f-0242ac120002'
const quorum = (threshold: number) => ({
  threshold,
  operatorRecipients: [{ operatorId: 'one', encryptionPublicKey: accounts[0]!.publicKey }],
})

test('a leaf that one wallet prepares is claimed by another, and both say the keys that it has then', async () => {
  const receiver = await makeWallet(service.root, spark("m/8797555'/4'/0'", 'ADDRESS_FORMAT_SPARK_REGTEST'))
  const operatorKeys = [randomScalar(randomBytes), randomScalar(randomBytes)].map(writeScalar)
  const operatorRecipients = operatorKeys.map((key, index) => ({
    operatorId: encodeHex(writeScalar(BigInt(index + 1))),
    encryptionPublicKey: encodeHex(timesG(BigInt(`0x${encodeHex(key)}`)).toBytes(true)),
  }))
  const transferId = TRANSFER_ID
  const prepared = await complete(service.root, 'ACTIVITY_TYPE_SPARK_PREPARE_TRANSFER', {
    signWith: identity(),
    transfer: {
      transferId,
      leaves: [
        {
          leafId: 'leaf-0',
          oldLeafDerivation: { signingLeaf: { leafId: 'leaf-0' } },
          newLeafDerivation: { signingLeaf: { leafId: 'leaf-1' } },
        },
      ],
      threshold: 2,
      operatorRecipients,
      receiverPublicKey: receiver.accounts[0]!.publicKey,
    },
  })
  expect(prepared.newLeafPublicKeys).toEqual([{ leafId: 'leaf-1', publicKey: accounts[1]!.publicKey }])
  const [leaf] = readPackage(operatorKeys[0]!, prepared.operatorPackages[0]!)
  const claimed = await complete(service.root, 'ACTIVITY_TYPE_SPARK_CLAIM_TRANSFER', {
    signWith: receiver.accounts[0]!.address,
    claim: {
      transferId,
      threshold: 2,
      operatorRecipients,
      senderIdentityPublicKey: accounts[0]!.publicKey,
      leaves: [
        {
          leafId: 'leaf-0',
          ciphertext: encodeHex(leaf!.bytes('secretCipher')),
          senderSignature: encodeHex(leaf!.bytes('signature')),
        },
      ],
    },
  })
  expect(claimed.operatorPackages.map(({ operatorId }) => operatorId)).toEqual(
    operatorRecipients.map(({ operatorId }) => operatorId),
  )
  expect(claimed.newLeafPublicKeys).toEqual([{ leafId: 'leaf-0', publicKey: expect.stringMatching(/^0[23]/) }])
  const lightning = await complete(service.root, 'ACTIVITY_TYPE_SPARK_PREPARE_LIGHTNING_RECEIVE', {
    signWith: identity(),
    lightningReceive: { threshold: 2, operatorRecipients },
  })
  expect(lightning).toEqual({
    paymentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    operatorPackages: expect.objectContaining({ length: 2 }),
  })
})

function ask({ request }: ReturnType<typeof makeOperators>, derivation: object) {
  return {
    derivation,
    message: encodeHex(request.message),
    verifyingKey: encodeHex(request.verifyingKey),
    operatorCommitments: request.operatorCommitments.map((commitment) =>
      Object.fromEntries(Object.entries(commitment).map(([name, value]) => [name, encodeHex(value)])),
    ),
  }
}
