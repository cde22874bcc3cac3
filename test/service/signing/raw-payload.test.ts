import { createPublicKey, verify } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { p256 } from '@noble/curves/nist.js'
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js'
import { p2tr } from '@scure/btc-signer'
import {
  hashTypedData,
  recoverAddress,
  recoverMessageAddress,
  recoverTypedDataAddress,
  type TypedDataDefinition,
} from 'viem'
import { recoverAuthorizationAddress } from 'viem/utils'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { crc16 } from '../../../src/chain/checksum.ts'
import { keccak256, sha256 } from '../../../src/crypto/index.ts'
import { concatBytes, decodeHex, encodeBase64Url, encodeHex, encodeUtf8 } from '../../../src/encoding/index.ts'
import type { Wire } from '../../../src/protocol/index.ts'
import { complete, fresh, invalid, missing, newPrivateKey, refusalOf } from '../handlers/steps.ts'
import { allowAlone, createTestUser, startTestService, type TestService } from '../harness.ts'
import { ETHEREUM, makeWallet, SOLANA } from './keys.ts'

let service: TestService
let wallet: Awaited<ReturnType<typeof makeWallet>>
beforeAll(async () => {
  service = await startTestService()
  wallet = await makeWallet(
    service.root,
    ETHEREUM,
    SOLANA,
    ['CURVE_P256', 'ADDRESS_FORMAT_COMPRESSED', "m/0'/0"],
    ['CURVE_SECP256K1', 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR', "m/86'/0'/0'/0/0"],
    ['CURVE_SECP256K1', 'ADDRESS_FORMAT_SPARK_MAINNET', "m/8797555'/0'/0'"],
    ['CURVE_ED25519', 'ADDRESS_FORMAT_TON_V4R2', "m/44'/607'/0'/0'/0'"],
  )
})
afterAll(() => service.close())

const accountOf = (format: string) => wallet.accounts.find(({ addressFormat }) => addressFormat === format)!
const DIGEST = encodeHex(sha256('a digest'))
const noOp = { payload: DIGEST, encoding: 'PAYLOAD_ENCODING_HEXADECIMAL', hashFunction: 'HASH_FUNCTION_NO_OP' }
const sign = (signWith: string, rest: object = {}) =>
  complete(service.root, 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', { signWith, ...noOp, ...rest })
const bytesOf = ({ r, s }: Wire.SignRawPayloadResult) => decodeHex(r + s)

describe('sign_raw_payload: encodings and hash functions on ECDSA', () => {
  const digestOf = {
    HASH_FUNCTION_SHA256: sha256,
    HASH_FUNCTION_KECCAK256: keccak256,
  } as const

  test.each(
    (['ADDRESS_FORMAT_ETHEREUM', 'ADDRESS_FORMAT_COMPRESSED'] as const).flatMap((format) =>
      (['PAYLOAD_ENCODING_HEXADECIMAL', 'PAYLOAD_ENCODING_TEXT_UTF8'] as const).flatMap((encoding) =>
        (['HASH_FUNCTION_SHA256', 'HASH_FUNCTION_KECCAK256'] as const).map((hashFunction) => ({
          format,
          encoding,
          hashFunction,
        })),
      ),
    ),
  )('sign_raw_payload: $format $encoding $hashFunction', async ({ format, encoding, hashFunction }) => {
    const { address, publicKey } = accountOf(format)
    const payload = encoding === 'PAYLOAD_ENCODING_TEXT_UTF8' ? 'naïve ✓' : '0xC0ffee'
    const bytes = encoding === 'PAYLOAD_ENCODING_TEXT_UTF8' ? encodeUtf8(payload) : decodeHex(payload)
    const signature = await sign(address, { payload, encoding, hashFunction })
    const curve = format === 'ADDRESS_FORMAT_ETHEREUM' ? secp256k1 : p256
    expect(signature).toEqual({
      r: expect.stringMatching(/^[0-9a-f]{64}$/),
      s: expect.stringMatching(/^[0-9a-f]{64}$/),
      v: expect.stringMatching(/^0[01]$/),
    })
    const digest = digestOf[hashFunction](bytes)
    // The default of the library refuses a high `s`.
    expect(curve.verify(bytesOf(signature), digest, decodeHex(publicKey), { prehash: false, lowS: true })).toBe(true)
    const recovered = curve.recoverPublicKey(concatBytes(decodeHex(signature.v), bytesOf(signature)), digest, {
      prehash: false,
    })
    expect(encodeHex(recovered)).toBe(publicKey)
  })

  test('sign_raw_payload: a digest is signed as it is, and the platform agrees', async () => {
    const { address, publicKey } = accountOf('ADDRESS_FORMAT_COMPRESSED')
    const signature = await sign(address, {
      payload: encodeHex(encodeUtf8('the body')),
      hashFunction: 'HASH_FUNCTION_SHA256',
    })
    const point = p256.Point.fromHex(publicKey).toBytes(false)
    const key = createPublicKey({
      format: 'jwk',
      key: {
        kty: 'EC',
        crv: 'P-256',
        x: encodeBase64Url(point.subarray(1, 33)),
        y: encodeBase64Url(point.subarray(33)),
      },
    })
    expect(verify('sha256', encodeUtf8('the body'), { key, dsaEncoding: 'ieee-p1363' }, bytesOf(signature))).toBe(true)
    const byDigest = await sign(address, { payload: encodeHex(sha256('the body')) })
    expect(byDigest).toEqual(signature)
  })

  test('sign_raw_payload: one digest has one signature', async () => {
    const { address } = accountOf('ADDRESS_FORMAT_ETHEREUM')
    expect(await sign(address)).toEqual(await sign(address))
  })

  test('sign_raw_payload: a personal message of Ethereum recovers to the address', async () => {
    const { address } = accountOf('ADDRESS_FORMAT_ETHEREUM')
    const payload = encodeHex(keccak256('\u0019Ethereum Signed Message:\n5hello'))
    const { r, s, v } = await sign(address, { payload })
    const signature = { r: `0x${r}`, s: `0x${s}`, yParity: Number(v) } as const
    expect(await recoverAddress({ hash: `0x${payload}`, signature })).toBe(address)
    expect(await recoverMessageAddress({ message: 'hello', signature })).toBe(address)
  })
})

const typedData = {
  domain: { name: 'Ether Mail', version: '1', chainId: 1, verifyingContract: `0x${'cc'.repeat(20)}` },
  types: {
    Mail: [
      { name: 'from', type: 'Person' },
      { name: 'to', type: 'Person[]' },
      { name: 'amount', type: 'uint256' },
      { name: 'note', type: 'string' },
    ],
    Person: [
      { name: 'wallets', type: 'address[2]' },
      { name: 'delta', type: 'int16' },
      { name: 'tag', type: 'bytes4' },
      { name: 'blob', type: 'bytes' },
    ],
  },
  primaryType: 'Mail',
  message: {
    from: { wallets: [`0x${'aa'.repeat(20)}`, `0x${'ab'.repeat(20)}`], delta: -3, tag: '0x01020304', blob: '0x' },
    to: [{ wallets: [`0x${'ba'.repeat(20)}`, `0x${'bb'.repeat(20)}`], delta: 3, tag: '0x00000000', blob: '0xffff' }],
    amount: 5,
    note: 'hi ✓',
  },
} as const

describe('sign_raw_payload: what is signed by its encoding', () => {
  test.each(['HASH_FUNCTION_NO_OP', 'HASH_FUNCTION_KECCAK256'])(
    'sign_raw_payload: typed data with %s recovers to the address',
    async (hashFunction) => {
      const { address } = accountOf('ADDRESS_FORMAT_ETHEREUM')
      const payload = JSON.stringify(typedData)
      const { r, s, v } = await sign(address, { payload, encoding: 'PAYLOAD_ENCODING_EIP712', hashFunction })
      const signature = { r: `0x${r}`, s: `0x${s}`, yParity: Number(v) } as const
      expect(await recoverTypedDataAddress({ ...(typedData as unknown as TypedDataDefinition), signature })).toBe(
        address,
      )
      expect(
        await recoverAddress({ hash: hashTypedData(typedData as unknown as TypedDataDefinition), signature }),
      ).toBe(address)
    },
  )

  test.each(['HASH_FUNCTION_NO_OP', 'HASH_FUNCTION_KECCAK256'])(
    'sign_raw_payload: an authorization with %s recovers to the address',
    async (hashFunction) => {
      const { address } = accountOf('ADDRESS_FORMAT_ETHEREUM')
      const authorization = { address: `0x${'4a'.repeat(20)}`, chainId: 10, nonce: 0 } as const
      const { r, s, v } = await sign(address, {
        payload: JSON.stringify(authorization),
        encoding: 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION',
        hashFunction,
      })
      const signature = { r: `0x${r}`, s: `0x${s}`, yParity: Number(v) } as const
      expect(await recoverAuthorizationAddress({ authorization, signature })).toBe(address)
    },
  )
})

describe('sign_raw_payload: other algorithms', () => {
  test('sign_raw_payload: Ed25519 signs the bytes themselves', async () => {
    const { address, publicKey } = accountOf('ADDRESS_FORMAT_SOLANA')
    const given = { encoding: 'PAYLOAD_ENCODING_TEXT_UTF8', hashFunction: 'HASH_FUNCTION_NOT_APPLICABLE' }
    const signature = await sign(address, { ...given, payload: 'gm' })
    expect(signature.v).toBe('00')
    expect(ed25519.verify(bytesOf(signature), encodeUtf8('gm'), decodeHex(publicKey))).toBe(true)
  })

  test('sign_raw_payload: a Taproot address signs by Schnorr with the tweaked key, its public key by ECDSA', async () => {
    const { address, publicKey } = accountOf('ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR')
    const bySchnorr = await sign(address)
    const output = p2tr(decodeHex(publicKey).subarray(1))
    expect(output.address).toBe(address)
    expect(bySchnorr.v).toBe('00')
    expect(schnorr.verify(bytesOf(bySchnorr), decodeHex(DIGEST), output.tweakedPubkey)).toBe(true)
    const byEcdsa = await sign(publicKey)
    const proof = [bytesOf(byEcdsa), decodeHex(DIGEST), decodeHex(publicKey)] as const
    expect(secp256k1.verify(...proof, { prehash: false })).toBe(true)
  })

  test('sign_raw_payload: a Spark address signs by Schnorr with the key as it is', async () => {
    const { address, publicKey } = accountOf('ADDRESS_FORMAT_SPARK_MAINNET')
    const signature = await sign(address)
    expect(schnorr.verify(bytesOf(signature), decodeHex(DIGEST), decodeHex(publicKey).subarray(1))).toBe(true)
  })
})

describe('sign_raw_payload: what signs', () => {
  test('sign_raw_payload: an address in any case, a public key compressed or not, with 0x or without, mean the same', async () => {
    const { address, publicKey } = accountOf('ADDRESS_FORMAT_ETHEREUM')
    const long = secp256k1.Point.fromHex(publicKey).toHex(false)
    const names = [
      address.toLowerCase(),
      `0x${address.slice(2).toUpperCase()}`,
      publicKey,
      `0x${publicKey.toUpperCase()}`,
      long,
    ]
    const signature = await sign(address)
    for (const name of names) expect(await sign(name), name).toEqual(signature)
  })

  test('sign_raw_payload: every form of a TON address means the same account', async () => {
    const { address } = accountOf('ADDRESS_FORMAT_TON_V4R2')
    const given = { hashFunction: 'HASH_FUNCTION_NOT_APPLICABLE' }
    const signature = await sign(address, given)
    const hash = Buffer.from(address, 'base64url').subarray(2, 34)
    const body = concatBytes(Uint8Array.of(0x11, 0), hash)
    const sum = crc16(body)
    const bounceable = concatBytes(body, Uint8Array.of(sum >> 8, sum & 0xff))
    const standard = Buffer.from(bounceable).toString('base64')
    for (const name of [`0:${hash.toString('hex')}`, encodeBase64Url(bounceable), standard]) {
      expect(await sign(name, given), name).toEqual(signature)
    }
    const broken = concatBytes(body, Uint8Array.of(sum >> 8, (sum & 0xff) ^ 1))
    expect(await refusalOf(sign(encodeBase64Url(broken), given))).toEqual(
      missing('Could not find any resource to sign with.'),
    )
  })

  test('sign_raw_payload: a private key signs by its id, by its addresses, and in the first version by its id alone', async () => {
    const made = await complete(service.root, 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', {
      privateKeys: [newPrivateKey()],
    })
    const { privateKeyId = '', addresses = [] } = made.privateKeys[0]!
    const signature = await sign(privateKeyId)
    for (const { address = '' } of addresses) expect(await sign(address)).toEqual(signature)
    const first = await complete(service.root, 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD', { privateKeyId, ...noOp })
    expect(first).toEqual(signature)
    await complete(service.root, 'ACTIVITY_TYPE_DISABLE_PRIVATE_KEY', { privateKeyId })
    expect(await refusalOf(sign(privateKeyId))).toEqual(invalid(`private key ${privateKeyId} is disabled`))
  })

  test.each([
    '0x0000000000000000000000000000000000000000',
    '00000000-0000-4000-8000-00000000dead',
    'nobody',
    `02${'11'.repeat(32)}`,
  ])('sign_raw_payload: %s signs nothing', async (signWith) => {
    expect(await refusalOf(sign(signWith))).toEqual(missing('Could not find any resource to sign with.'))
  })
})

describe('sign_raw_payload: refusals', () => {
  test.each([
    ['ADDRESS_FORMAT_ETHEREUM', { payload: '00' }, 'expected a 32-bytes-long digest'],
    ['ADDRESS_FORMAT_ETHEREUM', { payload: 'xyz' }, 'failed to parse payload: it is no hex of whole bytes'],
    ['ADDRESS_FORMAT_ETHEREUM', { hashFunction: 'HASH_FUNCTION_NOT_APPLICABLE' }, 'invalid hash function'],
    ['ADDRESS_FORMAT_SOLANA', {}, 'invalid hash function'],
    ['ADDRESS_FORMAT_SOLANA', { hashFunction: 'HASH_FUNCTION_SHA256' }, 'invalid hash function'],
    ['ADDRESS_FORMAT_ETHEREUM', { hashFunction: 'HASH_FUNCTION_MD5' }, 'invalid hash function'],
    ['ADDRESS_FORMAT_ETHEREUM', { encoding: 'PAYLOAD_ENCODING_MORSE' }, 'invalid payload encoding'],
    ['ADDRESS_FORMAT_ETHEREUM', { encoding: 'PAYLOAD_ENCODING_EIP712' }, 'failed to parse payload: it is no JSON'],
    [
      'ADDRESS_FORMAT_ETHEREUM',
      {
        encoding: 'PAYLOAD_ENCODING_EIP712',
        payload: JSON.stringify(typedData),
        hashFunction: 'HASH_FUNCTION_SHA256',
      },
      'invalid hash function',
    ],
  ])('sign_raw_payload: %s %j is refused', async (format, given, message) => {
    expect(await refusalOf(sign(accountOf(format).address, given))).toEqual(invalid(message))
  })
})

describe('sign_raw_payloads', () => {
  const signAll = (signWith: string, payloads: readonly string[], rest: object = {}) =>
    complete(service.root, 'ACTIVITY_TYPE_SIGN_RAW_PAYLOADS', { signWith, ...noOp, payloads, ...rest })

  test('sign_raw_payloads: signatures come in the order of the payloads', async () => {
    const { address } = accountOf('ADDRESS_FORMAT_ETHEREUM')
    const payloads = ['a', 'b', 'c'].map((text) => encodeHex(sha256(text)))
    const { signatures } = await signAll(address, payloads)
    const single = await Promise.all(payloads.map((payload) => sign(address, { payload })))
    expect(signatures).toEqual(single)
  })

  test('sign_raw_payloads: with one that cannot be signed, none is', async () => {
    const { address } = accountOf('ADDRESS_FORMAT_ETHEREUM')
    const refusal = await refusalOf(signAll(address, [DIGEST, '00']))
    expect(refusal).toEqual(invalid('expected a 32-bytes-long digest'))
  })
})

describe('sign_raw_payload: policies', () => {
  const allow = (userId: string, condition: string) => allowAlone(service, { userId }, condition)

  test.each([
    [
      'wallet and account',
      () => `wallet.id == '${wallet.walletId}' && wallet_account.address == '${wallet.accounts[0]!.address}'`,
      true,
    ],
    ['another wallet', () => `wallet.id == 'other'`, false],
    ['the hash function', () => `activity.params.hash_function == 'HASH_FUNCTION_NO_OP'`, true],
    ['a private key, which this is not', () => `private_key.label == 'x' || true`, false],
  ])('sign_raw_payload: a policy about %s', async (_name, condition, allowed) => {
    const { userId, client } = await createTestUser(service, fresh('signer'))
    const policyId = await allow(userId, condition())
    const sent = client.submit('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', { signWith: wallet.accounts[0]!.address, ...noOp })
    if (!allowed) return expect((await refusalOf(sent)).slice(0, 2)).toEqual([403, 7])
    const activity = await sent
    expect(activity.status).toBe('ACTIVITY_STATUS_COMPLETED')
    const { policyEvaluations } = await service.root.query('get_policy_evaluations', { activityId: activity.id })
    const outcomes = policyEvaluations.flatMap((evaluation) => evaluation.policyEvaluations)
    expect(outcomes).toContainEqual({ policyId, outcome: 'OUTCOME_ALLOW' })
  })

  test('sign_raw_payload: a policy about a private key by its tags', async () => {
    const { userId, client } = await createTestUser(service, fresh('signer'))
    const tag = { privateKeyTagName: fresh('tag'), privateKeyIds: [] }
    const { privateKeyTagId } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG', tag)
    const keys = [newPrivateKey({ privateKeyTags: [privateKeyTagId] }), newPrivateKey()]
    const made = await complete(service.root, 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', { privateKeys: keys })
    await allow(
      userId,
      `private_key.tags.contains('${privateKeyTagId}') && !private_key.exported && !private_key.imported`,
    )
    const [tagged, untagged] = made.privateKeys.map(({ privateKeyId }) => ({ signWith: privateKeyId, ...noOp }))
    expect(await client.submit('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', tagged!)).toMatchObject({
      status: 'ACTIVITY_STATUS_COMPLETED',
    })
    const refused = await refusalOf(client.submit('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', untagged!))
    expect(refused.slice(0, 2)).toEqual([403, 7])
  })

  test('sign_raw_payloads: each of several typed data must be allowed', async () => {
    const { userId, client } = await createTestUser(service, fresh('signer'))
    await allow(userId, `eth.eip_712.domain.chain_id == 1`)
    const payloadOf = (chainId: number) => JSON.stringify({ ...typedData, domain: { ...typedData.domain, chainId } })
    const given = { ...noOp, signWith: wallet.accounts[0]!.address, encoding: 'PAYLOAD_ENCODING_EIP712' }
    const submit = (...chains: number[]) =>
      client.submit('ACTIVITY_TYPE_SIGN_RAW_PAYLOADS', { ...given, payloads: chains.map(payloadOf) })
    expect((await submit(1, 1)).status).toBe('ACTIVITY_STATUS_COMPLETED')
    expect((await refusalOf(submit(1, 5))).slice(0, 2)).toEqual([403, 7])
  })
})
