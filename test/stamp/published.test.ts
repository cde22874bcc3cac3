/** Stamps across the border: what the published stampers make is taken here, and what is made here is theirs byte by byte. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { ApiKeyStamper, type Runtime, SignatureFormat } from '@turnkey/api-key-stamper'
import { WalletStamper, WalletType } from '@turnkey/wallet-stamper'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { KEY_CURVES, p256PublicKey, randomBytes } from '../../src/crypto/index.ts'
import { decodeBase64, decodeHex, decodeUtf8, encodeHex, encodeUtf8 } from '../../src/encoding/index.ts'
import { createApiKeyStamper, readStamp, type SignatureScheme, type Stamp, verifyStamp } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { readDer } from './independent.ts'

// docs/protocol/stamps.md#test-vectors
const PRIVATE_KEY = '20fa65df11f24833790ae283fc9a0c215eecbbc589549767977994dc69d05a56'

/** Bodies as clients send them, with text that takes several bytes a character. */
const BODIES = Array.from({ length: 40 }, (_, i) =>
  JSON.stringify({ n: i, text: 'ü€🔑'.repeat(i * 5), id: encodeHex(randomBytes(i)) }),
)

interface Published {
  stamp(payload: string): Promise<{ stampHeaderName: string; stampHeaderValue: string }>
}

/** Stamps every body there and verifies it here; also that no stamp is good for the next body. */
async function verdicts(
  stamper: Published,
  expected: { readonly scheme: SignatureScheme; readonly publicKey: string },
) {
  const counts = { own: 0, next: 0 }
  for (const [i, body] of BODIES.entries()) {
    const { stampHeaderName, stampHeaderValue } = await stamper.stamp(body)
    const stamp = readStamp({ [stampHeaderName]: stampHeaderValue })
    expect(stamp).toMatchObject(expected)
    counts.own += Number(verifyStamp(stamp, encodeUtf8(body)))
    counts.next += Number(verifyStamp(stamp, encodeUtf8(BODIES[(i + 1) % BODIES.length]!)))
  }
  return counts
}

const ALL_VERIFY = { own: BODIES.length, next: 0 }

describe('theirs', () => {
  const publicKey = p256PublicKey(PRIVATE_KEY)

  for (const runtimeOverride of ['node', 'browser', 'purejs'] satisfies Runtime[]) {
    test(`published: what the API key stamper makes in its runtime ${runtimeOverride} verifies`, async () => {
      const stamper = new ApiKeyStamper({ apiPublicKey: publicKey, apiPrivateKey: PRIVATE_KEY, runtimeOverride })
      expect(await verdicts(stamper, { scheme: 'SIGNATURE_SCHEME_TK_API_P256', publicKey })).toEqual(ALL_VERIFY)
    })
  }

  test('published: what an Ethereum wallet stamps verifies as EIP-191 under its own key', async () => {
    const account = privateKeyToAccount(`0x${PRIVATE_KEY}`)
    const stamper = new WalletStamper({
      type: WalletType.Ethereum,
      getPublicKey: async () => KEY_CURVES.secp256k1.publicKeyOf(PRIVATE_KEY),
      signMessage: (message) => account.signMessage({ message }),
    })
    const expected = {
      scheme: 'SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191',
      publicKey: KEY_CURVES.secp256k1.publicKeyOf(PRIVATE_KEY),
    } as const
    expect(await verdicts(stamper, expected)).toEqual(ALL_VERIFY)
  })

  test('published: what a Solana wallet stamps verifies as Ed25519', async () => {
    const pair = generateKeyPairSync('ed25519')
    const key = encodeHex(decodeBase64(pair.publicKey.export({ format: 'jwk' }).x!))
    const stamper = new WalletStamper({
      type: WalletType.Solana,
      getPublicKey: async () => key,
      signMessage: async (message) => sign(null, encodeUtf8(message), pair.privateKey).toString('hex'),
    })
    const expected = { scheme: 'SIGNATURE_SCHEME_TK_API_ED25519', publicKey: key } as const
    expect(await verdicts(stamper, expected)).toEqual(ALL_VERIFY)
  })

  test('published: raw signatures of theirs are those of the DER that they send', async () => {
    const stamper = new ApiKeyStamper({
      apiPublicKey: publicKey,
      apiPrivateKey: PRIVATE_KEY,
      runtimeOverride: 'purejs',
    })
    // The pure runtime is deterministic, so both forms are of one signature.
    const [der, raw] = [await stamper.sign('{}', SignatureFormat.Der), await stamper.sign('{}', SignatureFormat.Raw)]
    expect(raw).toHaveLength(128)
    const stamp: Stamp = { kind: 'api-key', scheme: 'SIGNATURE_SCHEME_TK_API_P256', publicKey, signature: der }
    expect(verifyStamp(stamp, encodeUtf8('{}'))).toBe(true)
  })
})

describe('ours', () => {
  test('published: a deterministic stamp of ours is the published one, byte by byte where that has no redundant zero', async () => {
    const account = privateKeyToAccount(`0x${PRIVATE_KEY}`)
    const theirs = new WalletStamper({
      type: WalletType.Ethereum,
      getPublicKey: async () => KEY_CURVES.secp256k1.publicKeyOf(PRIVATE_KEY),
      signMessage: (message) => account.signMessage({ message }),
    })
    const ours = createApiKeyStamper(
      { privateKey: new Secret(PRIVATE_KEY), curve: 'secp256k1' },
      { scheme: 'SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191' },
    )
    const counts = { same: 0, redundant: 0 }
    for (let n = 210; n < 250; n++) {
      const body = JSON.stringify({ n })
      const [their, our] = [await theirs.stamp(body), await ours.stamp(encodeUtf8(body))]
      const [theirStamp, ourStamp] = [their.stampHeaderValue, our.value].map((value) => readStamp({ 'x-stamp': value }))
      expect(readDer(decodeHex(theirStamp!.signature))).toEqual(readDer(decodeHex(ourStamp!.signature)))
      expect(verifyStamp(theirStamp!, encodeUtf8(body))).toBe(true)
      counts[our.value === their.stampHeaderValue ? 'same' : 'redundant'] += 1
    }
    // One in 128 numbers starts with a zero byte and goes on below 0x80; the key, the bodies and the nonces are fixed, and one of these does.
    expect(counts).toEqual({ same: 39, redundant: 1 })
  })

  test('published: a P-256 stamp of ours differs from theirs in its signature alone', async () => {
    const publicKey = p256PublicKey(PRIVATE_KEY)
    const theirs = new ApiKeyStamper({ apiPublicKey: publicKey, apiPrivateKey: PRIVATE_KEY })
    const ours = createApiKeyStamper({ privateKey: new Secret(PRIVATE_KEY) })
    const shape = (value: string) =>
      decodeUtf8(decodeBase64(value)).replace(/"signature":"30[0-9a-f]+"/, '"signature":…')
    const { stampHeaderName, stampHeaderValue } = await theirs.stamp('{}')
    const { name, value } = await ours.stamp(encodeUtf8('{}'))
    expect([name, shape(value)]).toEqual([stampHeaderName, shape(stampHeaderValue)])
    // The same alphabet and no padding, which is all that a header's reader can see.
    expect(value).toMatch(/^[A-Za-z0-9_-]+$/)
    expect(stampHeaderValue).toMatch(/^[A-Za-z0-9_-]+$/)
  })
})
