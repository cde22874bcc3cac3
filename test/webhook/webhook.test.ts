import { verifyTurnkeyWebhookSignature } from '@turnkey/crypto'
import { describe, expect, test } from 'vitest'
import { decodeBase64, decodeHex, encodeHex, encodeUtf8 } from '../../src/encoding/index.ts'
import { readPublishedKeys, signDelivery, toWebhookJwk, verifyDelivery, webhookKeyId } from '../../src/webhook/index.ts'

/** docs/protocol/webhooks.md#test-vector. */
const SEED = decodeHex('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f')
const PUBLIC_KEY = '03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8'
const VECTOR = {
  eventId: 'evt_123',
  eventType: 'ACTIVITY_UPDATES',
  organizationId: 'org_123',
  body: encodeUtf8('{"type":"activity.created","data":{"id":"act_123"}}'),
} as const
const AT = 1_700_000_000_000

const headersOf = (overrides: Partial<typeof VECTOR> = {}, keyId = 'webhook-key-1') =>
  signDelivery({ ...VECTOR, ...overrides }, { keyId, seed: SEED }, AT)

describe('webhook signatures', () => {
  test('webhook signatures: the vector of the reference', () => {
    expect(headersOf()).toEqual({
      'X-Turnkey-Organization-Id': 'org_123',
      'X-Turnkey-Event-Type': 'ACTIVITY_UPDATES',
      'X-Turnkey-Timestamp': '1700000000000',
      'X-Turnkey-Webhook-Version': '1',
      'X-Turnkey-Event-Id': 'evt_123',
      'X-Turnkey-Signature-Key-Id': 'webhook-key-1',
      'X-Turnkey-Signature-Algorithm': 'ed25519',
      'X-Turnkey-Signature-Version': 'v1',
      'X-Turnkey-Signature':
        '99c87f03e9254ed35896a394daa264f30d87574c6f4187e861fe136e4a15b50b5f43052a1a4f506d6faec7f699e42bfe40d523f5040946984e6c95497dc67a0f',
    })
  })

  test('webhook signatures: a key is listed with its thumbprint as its id (RFC 8037, appendix A.3)', () => {
    const publicKey = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'
    expect(webhookKeyId(publicKey)).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k')
    expect(toWebhookJwk(PUBLIC_KEY)).toEqual({
      kid: webhookKeyId(PUBLIC_KEY),
      kty: 'OKP',
      crv: 'Ed25519',
      alg: 'EdDSA',
      use: 'sig',
      x: 'A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg',
      turnkey_signature_algorithm: 'ed25519',
      turnkey_signature_version: 'v1',
    })
  })
})

interface Received {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly nowMs: number
}
const received = (): Received => {
  const keyId = webhookKeyId(PUBLIC_KEY)
  return { headers: headersOf({}, keyId), body: VECTOR.body, nowMs: AT + 1_000 }
}
const keys = () => {
  const { kid, x } = toWebhookJwk(PUBLIC_KEY)
  return [{ keyId: kid, publicKey: encodeHex(decodeBase64(x)) }]
}
/** What the published helper says; ours must say the same. */
const verify = (given: Received) => {
  const verdict = verifyTurnkeyWebhookSignature({ ...given, verificationKeys: keys(), maxTimestampAgeMs: 300_000 })
  const headers = Object.fromEntries(Object.entries(given.headers).map(([name, value]) => [name.toLowerCase(), value]))
  const published = readPublishedKeys({ keys: [{ kty: 'RSA', kid: 'other' }, toWebhookJwk(PUBLIC_KEY)] })
  const own = verifyDelivery({ ...given, headers }, { keys: published, now: given.nowMs, mostAgeMs: 300_000 })
  expect(own).toMatchObject(verdict.ok ? { ...verdict } : { ok: false, reason: verdict.reason })
  return verdict
}
const withHeader = (name: string, value: string): Received => {
  const given = received()
  return { ...given, headers: { ...given.headers, [name]: value } }
}

describe('the public verifier', () => {
  test('the public verifier: takes what was signed, by the listed key', () => {
    expect(verify(received())).toEqual({ ok: true, eventId: 'evt_123', keyId: keys()[0]!.keyId, timestampMs: AT })
  })

  test.each<{ name: string; given: Received; reason: string }>([
    { name: 'another event id', given: withHeader('X-Turnkey-Event-Id', 'evt_124'), reason: 'invalid_signature' },
    {
      name: 'another timestamp within the window',
      given: withHeader('X-Turnkey-Timestamp', String(AT + 1)),
      reason: 'invalid_signature',
    },
    { name: 'a key id of nobody', given: withHeader('X-Turnkey-Signature-Key-Id', 'other'), reason: 'missing_key' },
    {
      name: 'another algorithm',
      given: withHeader('X-Turnkey-Signature-Algorithm', 'es256'),
      reason: 'unsupported_signature_algorithm',
    },
    {
      name: 'another version',
      given: withHeader('X-Turnkey-Signature-Version', 'v2'),
      reason: 'unsupported_signature_version',
    },
    { name: 'no signature', given: withHeader('X-Turnkey-Signature', ''), reason: 'missing_header' },
    {
      name: 'a replay after five minutes',
      given: { ...received(), nowMs: AT + 300_001 },
      reason: 'stale_timestamp',
    },
    { name: 'one from six minutes ahead', given: { ...received(), nowMs: AT - 360_000 }, reason: 'stale_timestamp' },
  ])('the public verifier: refuses $name', ({ given, reason }) => {
    expect(verify(given)).toMatchObject({ ok: false, reason })
  })

  test('the public verifier: refuses the signature and the body with any bit flipped', () => {
    const { headers } = received()
    const name = 'X-Turnkey-Signature'
    const flips = { signature: 0, body: 0 }
    for (let bit = 0; bit < 512; bit += 7) {
      const bytes = decodeHex(headers[name]!)
      bytes[bit >> 3]! ^= 1 << (bit & 7)
      expect(verify(withHeader(name, encodeHex(bytes))).ok).toBe(false)
      flips.signature++
    }
    for (let bit = 0; bit < VECTOR.body.length * 8; bit += 5) {
      const body = new Uint8Array(VECTOR.body)
      body[bit >> 3]! ^= 1 << (bit & 7)
      expect(verify({ ...received(), body }).ok).toBe(false)
      flips.body++
    }
    expect(flips).toEqual({ signature: 74, body: 82 })
  })
})
