import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { generateP256KeyPair, p256PublicKey, randomBytes } from '../../src/crypto/index.ts'
import { decodeBase64, decodeUtf8, encodeHex, encodeUtf8 } from '../../src/encoding/index.ts'
import { createApiKeyStamper, readStamp, type Stamp, verifyStamp } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'

// facts: protocol §18
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

  test('stamp: 200 random bodies from none to 200 kB are stamped and verify', async () => {
    for (let i = 0; i < 200; i++) {
      const body = randomBytes(Math.floor((200_000 * i) / 199))
      expect(verifyStamp(await sign(body), body), `${body.length} bytes`).toBe(true)
    }
  })

  test('stamp: one stamper serves many requests at once', async () => {
    const bodies = Array.from({ length: 50 }, (_, i) => encodeUtf8(`body ${i}`))
    const stamps = await Promise.all(bodies.map(sign))
    expect(stamps.map((stamp, i) => verifyStamp(stamp, bodies[i]!))).toEqual(bodies.map(() => true))
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

  test('stamp: verifies what was stamped and nothing one bit away, in body, signature or key', async () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 200 })
    await fc.assert(
      fc.asyncProperty(bytes, fc.nat(), fc.constantFrom('body', 'signature', 'publicKey'), async (body, n, part) => {
        const good = await sign(body)
        const flip = (source: Uint8Array) => {
          const changed = Uint8Array.from(source)
          const bit = n % (changed.length * 8)
          changed[bit >> 3]! ^= 1 << (bit & 7)
          return changed
        }
        const flipHex = (hex: string) => encodeHex(flip(Buffer.from(hex, 'hex')))
        expect(verifyStamp(good, body)).toBe(true)
        const bad = part === 'body' ? good : { ...good, [part]: flipHex(good[part as 'signature']) }
        expect(verifyStamp(bad, part === 'body' ? flip(body) : body)).toBe(false)
      }),
    )
  })

  test('stamp: a good signature verifies under no other scheme', () => {
    for (const scheme of [
      'SIGNATURE_SCHEME_TK_API_SECP256K1',
      'SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191',
      'SIGNATURE_SCHEME_TK_API_ED25519',
    ] as const) {
      expect(verifyStamp({ ...stamp, scheme }, BODY), scheme).toBe(false)
    }
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
