import { schnorr, secp256k1_FROST } from '@noble/curves/secp256k1.js'
import { describe, expect, test } from 'vitest'
import { randomBytes } from '../../src/crypto/index.ts'
import { decodeHex, encodeHex, encodeUtf8 } from '../../src/encoding/index.ts'
import { type FrostRequest, frostShare, signFrostShare } from '../../src/spark/frost.ts'
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
import { readVectors } from '../vectors/read-vectors.ts'
import { expectRefusal } from './expect-refusal.ts'
import { makeOperators, taggedNumber, USER_ID } from './operators.ts'

interface TaprootCase {
  readonly message: string
  readonly verifyingKey: string
  readonly userPrivateKey: string
  readonly userNonces: { readonly hiding: string; readonly binding: string }
  readonly userCommitments: { readonly hiding: string; readonly binding: string }
  readonly userLagrange: string
  readonly userShare: string
  readonly operators: readonly {
    readonly id: string
    readonly hiding: string
    readonly binding: string
    readonly share: string
  }[]
  readonly signature: string
}

const cases = readVectors<TaprootCase>('frost/taproot.jsonl')
const publicOf = (privateKey: Uint8Array) => timesG(readScalar(privateKey, 'privateKey')).toBytes(true)
const number = (hex: string) => readScalar(decodeHex(hex), 'hex')

function requestOf(given: TaprootCase): FrostRequest {
  return {
    message: decodeHex(given.message),
    verifyingKey: decodeHex(given.verifyingKey),
    operatorCommitments: given.operators.map(({ id, hiding, binding }) => ({
      id: decodeHex(id),
      hiding: decodeHex(hiding),
      binding: decodeHex(binding),
    })),
  }
}

/** The challenge of a signature under a tweaked key, and the tweak with the sign that the key's parity gives it. */
function tweakOf(given: TaprootCase, commitmentX: Uint8Array) {
  const key = readPoint(decodeHex(given.verifyingKey), 'verifyingKey')
  const tweak = taggedNumber('TapTweak', xOf(key))
  const tweaked = (hasEvenY(key) ? key : key.negate()).add(timesG(tweak))
  const challenge = taggedNumber('BIP0340/challenge', commitmentX, xOf(tweaked), decodeHex(given.message))
  return { key: xOf(tweaked), challenge, signedTweak: hasEvenY(tweaked) ? tweak : -tweak }
}

describe('FROST', () => {
  test('the library holds RFC 9591 on secp256k1, appendix E.5', () => {
    const [vector] = readVectors<Rfc9591Case>('frost/rfc9591-secp256k1.jsonl')
    const { inputs, round_one_outputs: one, round_two_outputs: two, final_output: final } = vector!
    const commitments = one.outputs.map((output) => ({
      identifier: secp256k1_FROST.Identifier.fromNumber(output.identifier),
      hiding: decodeHex(output.hiding_nonce_commitment),
      binding: decodeHex(output.binding_nonce_commitment),
    }))
    const shareOf = (identifier: number) =>
      decodeHex(inputs.participant_shares.find((share) => share.identifier === identifier)!.participant_share)
    const publicKey = {
      signers: { min: 2, max: 3 },
      commitments: [
        decodeHex(inputs.verifying_key_key),
        timesG(number(inputs.share_polynomial_coefficients[0]!)).toBytes(true),
      ],
      verifyingShares: Object.fromEntries(
        [1, 2, 3].map((identifier) => [
          secp256k1_FROST.Identifier.fromNumber(identifier),
          timesG(readScalar(shareOf(identifier), 'share')).toBytes(true),
        ]),
      ),
    }
    const shares = one.outputs.map((output, index) => {
      const secret = { identifier: commitments[index]!.identifier, signingShare: shareOf(output.identifier) }
      const nonces = { hiding: decodeHex(output.hiding_nonce), binding: decodeHex(output.binding_nonce) }
      return secp256k1_FROST.signShare(secret, publicKey, nonces, commitments, decodeHex(inputs.message))
    })
    expect(shares.map(encodeHex)).toEqual(two.outputs.map(({ sig_share }) => sig_share))
    const byId = Object.fromEntries(shares.map((share, index) => [commitments[index]!.identifier, share]))
    const signature = secp256k1_FROST.aggregate(publicKey, commitments, decodeHex(inputs.message), byId)
    expect(encodeHex(signature)).toBe(final.sig)
  })

  test('a share is the one that the crate frost-secp256k1-tr makes, without the Lagrange factor and the tweak', () => {
    expect(cases).toHaveLength(40)
    for (const given of cases) {
      const nonces = { hiding: number(given.userNonces.hiding), binding: number(given.userNonces.binding) }
      const made = frostShare(decodeHex(given.userPrivateKey), nonces, requestOf(given))
      const { challenge, signedTweak } = tweakOf(given, decodeHex(given.signature).subarray(0, 32))
      const expected = number(given.userShare) - number(given.userLagrange) * challenge * signedTweak
      expect({ ...made, signatureShare: encodeHex(made.signatureShare) }).toEqual({
        signatureShare: encodeHex(writeScalar(scalars.create(expected))),
        hiding: decodeHex(given.userCommitments.hiding),
        binding: decodeHex(given.userCommitments.binding),
      })
    }
  })

  test('the shares of operators and user add up to a signature of BIP-340 under the tweaked key', () => {
    for (const seed of Array(16).keys()) {
      const userKey = writeScalar(randomScalar(randomBytes))
      const party = makeOperators(1 + (seed % 4), { userPublicKey: publicOf(userKey) })
      const share = signFrostShare(userKey, party.request, randomBytes)
      const signature = party.complete(share, 0n)
      expect(schnorr.verify(signature.bytes, party.request.message, signature.key)).toBe(true)
    }
  })

  test('with an adaptor the sum verifies once its secret is added, and not before', () => {
    for (const seed of Array(8).keys()) {
      const secret = randomScalar(randomBytes)
      const userKey = writeScalar(randomScalar(randomBytes))
      const adaptorPublicKey = timesG(secret).toBytes(true)
      const party = makeOperators(1 + (seed % 4), { userPublicKey: publicOf(userKey), adaptorPublicKey })
      const share = signFrostShare(userKey, party.request, randomBytes)
      const [without, completed] = [party.complete(share, 0n), party.complete(share, secret)]
      expect(schnorr.verify(without.bytes, party.request.message, without.key)).toBe(false)
      expect(schnorr.verify(completed.bytes, party.request.message, completed.key)).toBe(true)
    }
  })

  test('nonces are never the same twice, for the same request and even from the same randomness under another key', () => {
    const userKey = writeScalar(randomScalar(randomBytes))
    const { request } = makeOperators(2, { userPublicKey: publicOf(userKey) })
    const shares = Array.from({ length: 10 }, () => encodeHex(signFrostShare(userKey, request, randomBytes).hiding))
    expect(new Set(shares).size).toBe(10)
    const stuck = (length: number) => new Uint8Array(length).fill(7)
    const other = writeScalar(randomScalar(randomBytes))
    expect(signFrostShare(userKey, request, stuck).hiding).not.toEqual(signFrostShare(other, request, stuck).hiding)
  })

  const good = requestOf(cases[1]!)
  const [operator] = good.operatorCommitments
  test.each<[string, Partial<FrostRequest>, string]>([
    ['a message of 31 bytes', { message: new Uint8Array(31) }, 'expected `message` to be 32 bytes, got 31'],
    ['no operator', { operatorCommitments: [] }, 'expected at least one of `operatorCommitments`'],
    [
      'the identifier of the user',
      { operatorCommitments: [{ ...operator!, id: USER_ID }] },
      'expected `operatorCommitments` without the identifier of the user',
    ],
    [
      'an operator twice',
      { operatorCommitments: [operator!, operator!] },
      'expected each `id` in `operatorCommitments` once',
    ],
    [
      'the identifier 0',
      { operatorCommitments: [{ ...operator!, id: new Uint8Array(32) }] },
      'expected `operatorCommitments.id` to be 32 bytes and a number between 1 and the order of secp256k1',
    ],
    [
      'a point that is not on the curve',
      { operatorCommitments: [{ ...operator!, hiding: Uint8Array.of(2, ...new Uint8Array(32).fill(255)) }] },
      'expected `operatorCommitments.hiding` to be a compressed point of secp256k1',
    ],
    [
      'an uncompressed key',
      { verifyingKey: timesG(5n).toBytes(false) },
      'expected `verifyingKey` to be a compressed point of secp256k1',
    ],
    [
      'an adaptor that is no point',
      { adaptorPublicKey: encodeUtf8('no') },
      'expected `adaptorPublicKey` to be a compressed point of secp256k1',
    ],
  ])('%s is refused', (_, change, message) => {
    expectRefusal(() => signFrostShare(writeScalar(3n), { ...good, ...change }, randomBytes), message)
  })
})

interface Rfc9591Case {
  readonly inputs: {
    readonly verifying_key_key: string
    readonly message: string
    readonly share_polynomial_coefficients: readonly string[]
    readonly participant_shares: readonly { readonly identifier: number; readonly participant_share: string }[]
  }
  readonly round_one_outputs: {
    readonly outputs: readonly {
      readonly identifier: number
      readonly hiding_nonce: string
      readonly binding_nonce: string
      readonly hiding_nonce_commitment: string
      readonly binding_nonce_commitment: string
    }[]
  }
  readonly round_two_outputs: { readonly outputs: readonly { readonly sig_share: string }[] }
  readonly final_output: { readonly sig: string }
}
