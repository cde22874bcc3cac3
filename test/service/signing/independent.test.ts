/**
 * Every kind of signature that the service gives, checked by implementations that are not the one that made it: the curves of
 * chains by libsecp256k1, P-256 and Ed25519 by the platform's OpenSSL, the digests of Bitcoin by bitcoinjs-lib and those
 * of Ethereum by viem.
 */
import { createHash, createPublicKey, ECDH, type JsonWebKeyInput, verify } from 'node:crypto'
import { Transaction as PsbtToSign, p2ms, p2pk, p2pkh, p2sh, p2tr, p2wpkh, p2wsh } from '@scure/btc-signer'
import { Keypair, PublicKey, Transaction as SolanaTransaction, SystemProgram } from '@solana/web3.js'
import { initEccLib, Psbt } from 'bitcoinjs-lib'
import * as libsecp256k1 from 'tiny-secp256k1'
import {
  type Hex,
  hashMessage,
  hashTypedData,
  keccak256,
  parseTransaction,
  serializeTransaction,
  type TypedDataDefinition,
} from 'viem'
import { Transaction as Tempo } from 'viem/tempo'
import { hashAuthorization } from 'viem/utils'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { randomBytes } from '../../../src/crypto/index.ts'
import { decodeHex, encodeBase64Url, encodeHex, encodeUtf8 } from '../../../src/encoding/index.ts'
import type { ActivityResults } from '../../../src/protocol/index.ts'
import { signFrostShare } from '../../../src/spark/frost.ts'
import { randomScalar, writeScalar } from '../../../src/spark/group.ts'
import { makeOperators } from '../../spark/operators.ts'
import { readVectors } from '../../vectors/read-vectors.ts'
import { complete } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'
import { ETHEREUM, makeWallet, SOLANA } from './keys.ts'

initEccLib(libsecp256k1)

const BITCOIN = { P2PKH: 44, P2SH: 49, P2WPKH: 84, P2WSH: 48, P2TR: 86 } as const
type BitcoinKind = keyof typeof BITCOIN

let service: TestService
let wallet: Awaited<ReturnType<typeof makeWallet>>
beforeAll(async () => {
  service = await startTestService()
  wallet = await makeWallet(
    service.root,
    ETHEREUM,
    SOLANA,
    ['CURVE_P256', 'ADDRESS_FORMAT_COMPRESSED', "m/0'/0"],
    ['CURVE_SECP256K1', 'ADDRESS_FORMAT_TRON', "m/44'/195'/0'/0/0"],
    ['CURVE_SECP256K1', 'ADDRESS_FORMAT_SPARK_MAINNET', "m/8797555'/0'/0'"],
    ...Object.entries(BITCOIN).map(
      ([kind, purpose]) =>
        [
          'CURVE_SECP256K1',
          `ADDRESS_FORMAT_BITCOIN_MAINNET_${kind as BitcoinKind}`,
          `m/${purpose}'/0'/0'/0/0`,
        ] as const,
    ),
  )
})
afterAll(() => service.close())

const accountOf = (format: string) =>
  wallet.accounts.find(({ addressFormat }) => addressFormat === `ADDRESS_FORMAT_${format}`)!
const publicKeyOf = (format: string) => decodeHex(accountOf(format).publicKey)

const signPayload = (format: string, payload: string, encoding: string, hashFunction: string) =>
  complete(service.root, 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', {
    signWith: accountOf(format).address,
    payload,
    encoding: `PAYLOAD_ENCODING_${encoding}`,
    hashFunction: `HASH_FUNCTION_${hashFunction}`,
  })
const signTransaction = async (format: string, type: string, unsignedTransaction: string) => {
  const parameters = { signWith: accountOf(format).address, type: `TRANSACTION_TYPE_${type}`, unsignedTransaction }
  return (await complete(service.root, 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2', parameters)).signedTransaction
}

/** Holds an ECDSA signature on secp256k1 against the key of the account: low `s` only, and the key is recovered from it. */
function expectSecp256k1(format: string, digest: Uint8Array, signature: Uint8Array, recovery: number): void {
  const publicKey = publicKeyOf(format)
  expect(libsecp256k1.verify(digest, publicKey, signature, true)).toBe(true)
  const recovered = libsecp256k1.recover(digest, signature, recovery as 0 | 1, true)
  expect(encodeHex(recovered!)).toBe(accountOf(format).publicKey)
  const [first = 0, ...rest] = digest
  expect(libsecp256k1.verify(Uint8Array.of(first ^ 1, ...rest), publicKey, signature, true)).toBe(false)
}

type Halves = ActivityResults['ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2']
const bytesOf = ({ r, s }: Halves) => decodeHex(r + s)
const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest())
const keyOf = (key: JsonWebKeyInput['key']) => createPublicKey({ format: 'jwk', key })

const typedData = {
  domain: { name: 'Ether Mail', version: '1', chainId: 1, verifyingContract: `0x${'cc'.repeat(20)}` },
  types: {
    Mail: [
      { name: 'to', type: 'address[]' },
      { name: 'text', type: 'string' },
    ],
  },
  primaryType: 'Mail',
  message: { to: [`0x${'aa'.repeat(20)}`], text: 'hi ✓' },
} as const satisfies TypedDataDefinition
const authorization = { address: `0x${'4a'.repeat(20)}`, chainId: 10, nonce: 3 } as const
const DIGEST = 'c0ffee'.padStart(64, '5')

describe('signatures: libsecp256k1 agrees', () => {
  test.each<readonly [name: string, payload: string, encoding: string, hashFunction: string, digest: Hex]>([
    ['a digest', DIGEST, 'HEXADECIMAL', 'NO_OP', `0x${DIGEST}`],
    ['bytes by SHA-256', 'c0ffee', 'HEXADECIMAL', 'SHA256', `0x${encodeHex(sha256(decodeHex('c0ffee')))}`],
    ['a text by Keccak-256', 'naïve ✓', 'TEXT_UTF8', 'KECCAK256', keccak256(encodeUtf8('naïve ✓'))],
    ['a message of EIP-191', hashMessage('hello').slice(2), 'HEXADECIMAL', 'NO_OP', hashMessage('hello')],
    ['typed data of EIP-712', JSON.stringify(typedData), 'EIP712', 'NO_OP', hashTypedData(typedData)],
    [
      'an authorization of EIP-7702',
      JSON.stringify(authorization),
      'EIP7702_AUTHORIZATION',
      'NO_OP',
      hashAuthorization(authorization),
    ],
  ])('signatures: %s, by ECDSA', async (_name, payload, encoding, hashFunction, digest) => {
    const signature = await signPayload('ETHEREUM', payload, encoding, hashFunction)
    expectSecp256k1('ETHEREUM', decodeHex(digest), bytesOf(signature), Number(signature.v))
  })

  const common = { nonce: 7, gas: 21_000n, to: `0x${'55'.repeat(20)}`, value: 5n, data: '0xc0ffee' } as const
  const fees = { maxFeePerGas: 9n, maxPriorityFeePerGas: 1n } as const
  const accessList = [{ address: `0x${'66'.repeat(20)}`, storageKeys: [`0x${'07'.repeat(32)}`] }] as const
  const authorizationList = [{ ...authorization, yParity: 1, r: `0x${'11'.repeat(32)}`, s: `0x${'22'.repeat(32)}` }]
  test.each([
    ['legacy, without a chain', { type: 'legacy', gasPrice: 9n, ...common }],
    ['EIP-155', { type: 'legacy', chainId: 1, gasPrice: 9n, ...common }],
    ['EIP-2930', { type: 'eip2930', chainId: 1, gasPrice: 9n, accessList, ...common }],
    ['EIP-1559', { type: 'eip1559', chainId: 1, accessList, ...fees, ...common }],
    [
      'EIP-4844',
      {
        type: 'eip4844',
        chainId: 1,
        ...fees,
        ...common,
        maxFeePerBlobGas: 3n,
        blobVersionedHashes: [`0x01${'00'.repeat(31)}`],
      },
    ],
    ['EIP-7702', { type: 'eip7702', chainId: 1, authorizationList, ...fees, ...common }],
  ])('signatures: a transaction of Ethereum, %s', async (_name, transaction) => {
    const unsigned = serializeTransaction(transaction as Parameters<typeof serializeTransaction>[0])
    const signed = parseTransaction(`0x${await signTransaction('ETHEREUM', 'ETHEREUM', unsigned)}`)
    const { r, s, yParity, v } = signed as unknown as { r: Hex; s: Hex; yParity?: number; v?: bigint }
    const signature = decodeHex([r, s].map((half) => half.slice(2).padStart(64, '0')).join(''))
    const recovery = yParity ?? (Number(v) + 1) % 2
    expectSecp256k1('ETHEREUM', decodeHex(keccak256(unsigned)), signature, recovery)
  })

  test('signatures: a transaction of Tempo', async () => {
    const unsigned = await Tempo.serialize({
      type: 'tempo',
      chainId: 42_431,
      nonce: 3,
      gas: 90_000n,
      ...fees,
      calls: [{ to: `0x${'55'.repeat(20)}` }],
    })
    const signed = Tempo.deserialize(`0x${await signTransaction('ETHEREUM', 'TEMPO', unsigned)}` as never)
    const { r, s, yParity } = (
      signed as unknown as { signature: { signature: { r: bigint; s: bigint; yParity: number } } }
    ).signature.signature
    const signature = decodeHex([r, s].map((half) => half.toString(16).padStart(64, '0')).join(''))
    expectSecp256k1('ETHEREUM', decodeHex(keccak256(unsigned)), signature, yParity)
  })

  test('signatures: a transaction of Tron', async () => {
    const [vector] = readVectors<{ readonly bytes: string }>('tron-transactions/raw-data.jsonl')
    const signed = decodeHex(await signTransaction('TRON', 'TRON', vector!.bytes))
    const [signature, v] = [signed.subarray(-65, -1), signed.at(-1)!]
    expectSecp256k1('TRON', sha256(decodeHex(vector!.bytes)), signature, v - 27)
  })

  test('signatures: Spark, by BIP-340', async () => {
    const signature = await signPayload('SPARK_MAINNET', DIGEST, 'HEXADECIMAL', 'NO_OP')
    const key = publicKeyOf('SPARK_MAINNET').subarray(1)
    expect(libsecp256k1.verifySchnorr(decodeHex(DIGEST), key, bytesOf(signature))).toBe(true)
  })

  test('signatures: Taproot, by BIP-340 under the key that BIP-341 tweaks', async () => {
    const signature = await signPayload('BITCOIN_MAINNET_P2TR', DIGEST, 'HEXADECIMAL', 'NO_OP')
    const key = publicKeyOf('BITCOIN_MAINNET_P2TR').subarray(1)
    const tag = sha256(encodeUtf8('TapTweak'))
    const tweaked = libsecp256k1.xOnlyPointAddTweak(key, sha256(Uint8Array.of(...tag, ...tag, ...key)))!.xOnlyPubkey
    expect(libsecp256k1.verifySchnorr(decodeHex(DIGEST), tweaked, bytesOf(signature))).toBe(true)
    expect(libsecp256k1.verifySchnorr(decodeHex(DIGEST), key, bytesOf(signature))).toBe(false)
  })

  test('signatures: the sum of the shares of FROST, by BIP-340', () => {
    for (let operators = 1; operators <= 4; operators++) {
      const userKey = writeScalar(randomScalar(randomBytes))
      const party = makeOperators(operators, { userPublicKey: libsecp256k1.pointFromScalar(userKey, true)! })
      const { key, bytes } = party.complete(signFrostShare(userKey, party.request, randomBytes), 0n)
      expect(libsecp256k1.verifySchnorr(party.request.message, key, bytes)).toBe(true)
    }
  })
})

describe('signatures: bitcoinjs-lib agrees about the digest, and libsecp256k1 about its signature', () => {
  const scripts: Readonly<Record<BitcoinKind, (publicKey: Uint8Array) => object>> = {
    P2PKH: (publicKey) => spending(p2pkh(publicKey).script),
    P2SH: (publicKey) => {
      const inner = p2ms(1, [publicKey, publicKeyOf('TRON')])
      return { ...spending(p2sh(inner).script), redeemScript: inner.script }
    },
    P2WPKH: (publicKey) => witness(p2wpkh(publicKey).script),
    P2WSH: (publicKey) => {
      const inner = p2pk(publicKey)
      return { ...witness(p2wsh(inner).script), witnessScript: inner.script }
    },
    P2TR: (publicKey) => ({ ...witness(p2tr(publicKey.subarray(1)).script), tapInternalKey: publicKey.subarray(1) }),
  }
  const txid = 'aa'.repeat(32)
  const witness = (script: Uint8Array) => ({ txid, index: 1, witnessUtxo: { script, amount: 1_000n } })
  function spending(script: Uint8Array) {
    const previous = new PsbtToSign({ allowUnknownOutputs: true, disableScriptCheck: true })
    previous.addOutput({ script, amount: 1_000n })
    previous.addInput({ txid, index: 0, finalScriptSig: Uint8Array.of(0) })
    return { txid: previous.id, index: 0, nonWitnessUtxo: previous.toBytes(true, true) }
  }

  test.each(Object.keys(BITCOIN) as BitcoinKind[])(
    'signatures: a transaction of Bitcoin that spends %s',
    async (kind) => {
      const format = `BITCOIN_MAINNET_${kind}`
      const publicKey = publicKeyOf(format)
      const made = new PsbtToSign({ allowUnknownInputs: true, allowUnknownOutputs: true })
      made.addInput(scripts[kind](publicKey))
      made.addOutput({ script: p2wpkh(publicKey).script, amount: 900n })
      const signed = Psbt.fromHex(await signTransaction(format, 'BITCOIN', encodeHex(made.toPSBT(0))))
      let checked = 0
      const isGood = signed.validateSignaturesOfInput(0, (key, digest, signature) => {
        checked++
        return key.length === 32
          ? libsecp256k1.verifySchnorr(digest, key, signature)
          : libsecp256k1.verify(digest, key, signature, true)
      })
      expect([isGood, checked]).toEqual([true, 1])
    },
  )
})

describe('signatures: OpenSSL agrees', () => {
  test('signatures: P-256', async () => {
    const { address } = accountOf('COMPRESSED')
    const signature = await signPayload('COMPRESSED', encodeHex(encodeUtf8('the body')), 'HEXADECIMAL', 'SHA256')
    const point = new Uint8Array(ECDH.convertKey(address, 'prime256v1', 'hex', undefined, 'uncompressed') as Buffer)
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map(encodeBase64Url)
    const key = keyOf({ kty: 'EC', crv: 'P-256', x: x!, y: y! })
    const check = (body: string) =>
      verify('sha256', encodeUtf8(body), { key, dsaEncoding: 'ieee-p1363' }, bytesOf(signature))
    expect([check('the body'), check('the bodY')]).toEqual([true, false])
  })

  const ed25519 = () => keyOf({ kty: 'OKP', crv: 'Ed25519', x: encodeBase64Url(publicKeyOf('SOLANA')) })

  test('signatures: Ed25519', async () => {
    const signature = await signPayload('SOLANA', 'gm', 'TEXT_UTF8', 'NOT_APPLICABLE')
    const check = (body: string) => verify(null, encodeUtf8(body), ed25519(), bytesOf(signature))
    expect([check('gm'), check('gn')]).toEqual([true, false])
  })

  test('signatures: a transaction of Solana', async () => {
    const payer = new PublicKey(accountOf('SOLANA').address)
    const unsigned = new SolanaTransaction({ recentBlockhash: PublicKey.unique().toBase58(), feePayer: payer }).add(
      SystemProgram.transfer({ fromPubkey: payer, toPubkey: Keypair.generate().publicKey, lamports: 7 }),
    )
    const bytes = unsigned.serialize({ requireAllSignatures: false, verifySignatures: false })
    const signed = decodeHex(await signTransaction('SOLANA', 'SOLANA', bytes.toString('hex')))
    expect(signed[0]).toBe(1)
    const [signature, message] = [signed.subarray(1, 65), signed.subarray(65)]
    expect(encodeHex(message)).toBe(unsigned.serializeMessage().toString('hex'))
    expect(verify(null, message, ed25519(), signature)).toBe(true)
  })
})
