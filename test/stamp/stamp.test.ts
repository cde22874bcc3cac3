import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { generateP256KeyPair, p256PublicKey } from '../../src/crypto/index.ts'
import { decodeBase64, decodeHex, decodeUtf8, encodeHex, encodeUtf8 } from '../../src/encoding/index.ts'
import { createApiKeyStamper, readStamp, type Stamp, verifyStamp } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'

// docs/protocol/stamps.md#test-vectors
const PRIVATE_KEY = '20fa65df11f24833790ae283fc9a0c215eecbbc589549767977994dc69d05a56'
const PUBLIC_KEY = '0264fb511728122da3b7b8a449c79d7a9e3fb847f4cbf0efbc6c82f68ada0ae5eb'
const BODY = encodeUtf8('{"organizationId":"00000000-0000-4000-8000-000000000001"}')
const SIGNATURE =
  '30440220786e48a87a92fa9a2de5553608b1f380748f7e664789a52dc24f42400bc6dafc0220620fca1a7f5d505304840b120c89b479cdac3495280a59cc94eb3190b5053b77'
const HEADER =
  'eyJwdWJsaWNLZXkiOiIwMjY0ZmI1MTE3MjgxMjJkYTNiN2I4YTQ0OWM3OWQ3YTllM2ZiODQ3ZjRjYmYwZWZiYzZjODJmNjhhZGEwYWU1ZWIiLCJzY2hlbWUiOiJTSUdOQVRVUkVfU0NIRU1FX1RLX0FQSV9QMjU2Iiwic2lnbmF0dXJlIjoiMzA0NDAyMjA3ODZlNDhhODdhOTJmYTlhMmRlNTU1MzYwOGIxZjM4MDc0OGY3ZTY2NDc4OWE1MmRjMjRmNDI0MDBiYzZkYWZjMDIyMDYyMGZjYTFhN2Y1ZDUwNTMwNDg0MGIxMjBjODliNDc5Y2RhYzM0OTUyODBhNTljYzk0ZWIzMTkwYjUwNTNiNzcifQ'

const stamper = createApiKeyStamper({ privateKey: new Secret(PRIVATE_KEY), publicKey: PUBLIC_KEY.toUpperCase() })

const sign = async (body: Uint8Array): Promise<Stamp> => {
  const { name, value } = await stamper.stamp(body)
  return readStamp({ [name]: value })
}

function flip(source: Uint8Array, n: number): Uint8Array {
  const changed = Uint8Array.from(source)
  const bit = n % (changed.length * 8)
  changed[bit >> 3]! ^= 1 << (bit & 7)
  return changed
}

const flipHex = (hex: string, n: number) => encodeHex(flip(decodeHex(hex), n))

describe('make', () => {
  test('stamp: the header is base64url without padding of a JSON object in the published member order', async () => {
    const { name, value } = await stamper.stamp(BODY)
    expect(name).toBe('X-Stamp')
    expect(value).toMatch(/^[A-Za-z0-9_-]+$/)
    const { signature } = readStamp({ 'x-stamp': value })
    expect(decodeUtf8(decodeBase64(value))).toBe(
      `{"publicKey":"${PUBLIC_KEY}","scheme":"SIGNATURE_SCHEME_TK_API_P256","signature":"${signature}"}`,
    )
  })

  test('stamp: the stamper says its public key in lower case', () => {
    expect(stamper.publicKey).toBe(PUBLIC_KEY)
  })

  test('stamp: one stamper serves many requests at once', async () => {
    const bodies = Array.from({ length: 50 }, (_, i) => encodeUtf8(`body ${i}`))
    const stamps = await Promise.all(bodies.map(sign))
    expect(stamps.map((stamp, i) => verifyStamp(stamp, bodies[i]!))).toEqual(bodies.map(() => true))
  })
})

/** One key on every curve, one body, every scheme (docs/protocol/stamps.md#test-vectors). */
const VECTORS = [
  { scheme: 'SIGNATURE_SCHEME_TK_API_P256', curve: 'p256', publicKey: PUBLIC_KEY, signature: SIGNATURE },
  {
    scheme: 'SIGNATURE_SCHEME_TK_API_SECP256K1',
    curve: 'secp256k1',
    publicKey: '0235a5d602572338e4e6a2fa0b988d5694999ea2914d4da2bb76baa641a7cfbcf6',
    signature:
      '30440220664d1ac4e788a463806e1f331b9e9664216019075f0a46ccb97a30c913d130fc022052a77f162dc0c618a3b6eb9c9334d1526ceb7a37f2e6920b58d4a9ea8017217c',
  },
  {
    scheme: 'SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191',
    curve: 'secp256k1',
    publicKey: '0235a5d602572338e4e6a2fa0b988d5694999ea2914d4da2bb76baa641a7cfbcf6',
    signature:
      '30440220306733987da7293819ce0613f582fe62df611016d4127d9c19167914128a870c022035da0f958bea424d88a2aeb839fb9daebdac8c88f94c6163d2263101dd152db1',
  },
  {
    scheme: 'SIGNATURE_SCHEME_TK_API_ED25519',
    curve: 'ed25519',
    publicKey: '94049caccc796d7a4f3a60b95ad457bcaa5ece09c9f38cbd173adb31eaa23fbe',
    signature:
      'a8c881b68d122ed901b91cd5357da17c446c4a6e90e292b5a670b0c3227aea13755cadf6c83e862bc9c7d259f7d6b0401b492b06c94c9fee611308c48899aa0f',
  },
] as const

describe('schemes', () => {
  for (const { scheme, curve, publicKey, signature } of VECTORS) {
    const make = () => createApiKeyStamper({ privateKey: new Secret(PRIVATE_KEY), curve, publicKey }, { scheme })

    test(`stamp: the published signature of ${scheme} verifies, and under that scheme alone`, () => {
      const verdicts = VECTORS.map((other) => ({
        scheme: other.scheme,
        verified: verifyStamp({ kind: 'api-key', publicKey, signature, scheme: other.scheme }, BODY),
      }))
      expect(verdicts).toEqual(VECTORS.map((other) => ({ scheme: other.scheme, verified: other.scheme === scheme })))
    })

    test(`stamp: ${scheme} is made under its own name and key, and verifies`, async () => {
      const { name, value } = await make().stamp(BODY)
      const stamp = readStamp({ [name]: value })
      expect(stamp).toMatchObject({ scheme, publicKey })
      expect(verifyStamp(stamp, BODY)).toBe(true)
    })

    test(`stamp: ${scheme} verifies nothing one bit away, in body, signature or key`, async () => {
      const stamper = make()
      await fc.assert(
        fc.asyncProperty(
          fc.uint8Array({ minLength: 1, maxLength: 200 }),
          fc.nat(),
          fc.constantFrom('body', 'signature', 'publicKey'),
          async (body, n, part) => {
            const { name, value } = await stamper.stamp(body)
            const good = readStamp({ [name]: value })
            expect(verifyStamp(good, body)).toBe(true)
            const bad = part === 'body' ? good : { ...good, [part]: flipHex(good[part as 'signature'], n) }
            expect(verifyStamp(bad, part === 'body' ? flip(body, n) : body)).toBe(false)
          },
        ),
        { numRuns: 50 },
      )
    })
  }

  test('stamp: what is deterministic comes out as published', async () => {
    for (const { scheme, curve, signature } of VECTORS.slice(2)) {
      const stamper = createApiKeyStamper({ privateKey: new Secret(PRIVATE_KEY), curve }, { scheme })
      const { name, value } = await stamper.stamp(BODY)
      expect(readStamp({ [name]: value }).signature).toBe(signature)
    }
  })

  test('stamp: a key uses the plain scheme of its curve unless told', async () => {
    const used = []
    for (const curve of ['p256', 'secp256k1', 'ed25519'] as const) {
      const { name, value } = await createApiKeyStamper({ privateKey: new Secret(PRIVATE_KEY), curve }).stamp(BODY)
      used.push(readStamp({ [name]: value }).scheme)
    }
    expect(used).toEqual([
      'SIGNATURE_SCHEME_TK_API_P256',
      'SIGNATURE_SCHEME_TK_API_SECP256K1',
      'SIGNATURE_SCHEME_TK_API_ED25519',
    ])
  })

  test('stamp: a scheme of another curve is refused with those that are possible', () => {
    const privateKey = new Secret(PRIVATE_KEY)
    const scheme = 'SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191'
    expect(() => createApiKeyStamper({ privateKey }, { scheme })).toThrow(
      expect.objectContaining({
        code: 'stamp/scheme-unfit',
        message: `a p256 key cannot stamp with \`${scheme}\``,
        facts: { possible: 'SIGNATURE_SCHEME_TK_API_P256' },
      }),
    )
  })
})

describe('verify', () => {
  const stamp = readStamp({ 'X-Stamp': HEADER })

  test('stamp: the published header is read and verifies', () => {
    expect(stamp).toEqual({
      kind: 'api-key',
      publicKey: PUBLIC_KEY,
      scheme: 'SIGNATURE_SCHEME_TK_API_P256',
      signature: SIGNATURE,
    })
    expect(verifyStamp(stamp, BODY)).toBe(true)
  })

  test('stamp: the same JSON with other white space is another body', () => {
    expect(verifyStamp(stamp, encodeUtf8('{"organizationId": "00000000-0000-4000-8000-000000000001"}'))).toBe(false)
  })
})

describe('keys', () => {
  test('stamp: a stamper refuses a private key that is none, without repeating it', () => {
    const bad = `${PRIVATE_KEY}00`
    expect(() => createApiKeyStamper({ privateKey: new Secret(bad) })).toThrow(
      expect.objectContaining({ code: 'stamp/key-malformed' }),
    )
    expect(() => createApiKeyStamper({ privateKey: new Secret(bad) })).not.toThrow(PRIVATE_KEY)
  })

  test('stamp: a stamper refuses a public key that is not its own', () => {
    const { publicKey } = generateP256KeyPair()
    expect(() => createApiKeyStamper({ privateKey: new Secret(PRIVATE_KEY), publicKey })).toThrow(
      expect.objectContaining({
        code: 'stamp/key-mismatch',
        facts: { 'public key given': publicKey, 'of the private key': p256PublicKey(PRIVATE_KEY) },
      }),
    )
  })
})
