import { decryptCredentialBundle, verifySessionJwtSignature } from '@turnkey/crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createP256KeyBytes,
  generateP256KeyPair,
  p256PublicKey,
  randomBytes,
  uncompressP256,
} from '../../../src/crypto/index.ts'
import { decodeHex, encodeHex } from '../../../src/encoding/index.ts'
import { asciiJson, writeSessionToken } from '../../../src/service/login/session-token.ts'
import { sealCredential } from '../../../src/service/login/sessions.ts'
import { writeJwt } from '../../../src/service/verification/jwt.ts'
import { createTestClock, createTestUser, startTestService, type TestService } from '../harness.ts'

/** Made once by the published packages, with the keys 11…11 and 22…22; their own functions check ours here as well. */
const SIGNING_KEY = '11'.repeat(32)
const SESSION =
  'eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJleHAiOjE4OTM0NTYwMDAsInB1YmxpY19rZXkiOiIwMjY0ZmI1MTE3MjgxMjJkYTNiN2I4YTQ0OWM3OWQ3YTllM2ZiODQ3ZjRjYmYwZWZiYzZjODJmNjhhZGEwYWU1ZWIiLCJzZXNzaW9uX3R5cGUiOiJTRVNTSU9OX1RZUEVfUkVBRF9XUklURSIsInVzZXJfaWQiOiIwMDAwMDAwMC0wMDAwLTQwMDAtODAwMC0wMDAwMDAwMDAwMDIiLCJvcmdhbml6YXRpb25faWQiOiIwMDAwMDAwMC0wMDAwLTQwMDAtODAwMC0wMDAwMDAwMDAwMDEifQ.Vw9A4Y0Pk7u1e8OmXAKC1kHFIkFeYjQYuJWWM9QVYRCD8u4dRVRS1vv4MRx9-DTcCFb96hdBwsox0iXs5s1BGA'
const RECIPIENT_KEY = '20fa65df11f24833790ae283fc9a0c215eecbbc589549767977994dc69d05a56'
const BUNDLE =
  'w99a5xV6A75TfoAUkZn869fVyDYvgVsKrawMALZXmrauZd8hEv66EkPU1Z42CUaHESQjcA5bqd8dynTGBMLWB9ewtXWPEVbZvocB4Tw2K1vQVp7uwjf'
const BUNDLED = '67ee05fc3bdf4161bc70701c221d8d77180294cefcfcea64ba83c4d4c732fcb9'

const decode = (session: string) =>
  JSON.parse(Buffer.from(session.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>

let service: TestService
const clock = createTestClock()
beforeAll(async () => {
  service = await startTestService({ clock })
})
afterAll(() => service.close())

describe('session tokens', () => {
  test('session tokens: the published vector, to the last byte of what is signed', async () => {
    const payload = decode(SESSION) as Record<string, string | number>
    const token = writeSessionToken(payload, SIGNING_KEY)
    expect(token.split('.').slice(0, 2)).toEqual(SESSION.split('.').slice(0, 2))
    const key = uncompressP256(p256PublicKey(SIGNING_KEY))!
    expect(await verifySessionJwtSignature(SESSION, key)).toBe(true)
    expect(await verifySessionJwtSignature(token, key)).toBe(true)
    // An ordinary ES256 token over the same text is none.
    const ordinary = writeJwt(payload, SIGNING_KEY)
    expect(await verifySessionJwtSignature(ordinary, key)).toBe(false)
  })

  test('session tokens: no character comes out that clients drop, and every character comes back', () => {
    const everything = `${Array.from({ length: 0x2100 }, (_, code) => String.fromCharCode(code)).join('')}😀\ud800`
    for (let from = 0; from < everything.length; from += 61) {
      const text = everything.slice(from, from + 67)
      for (const shift of ['', 'a', 'ab']) {
        const json = asciiJson({ text: shift + text })
        expect(Buffer.from(json).toString('base64url')).toMatch(/^[A-Za-z0-9]*$/)
        expect(JSON.parse(json)).toEqual({ text: shift + text })
      }
    }
  })

  test('credential bundles: the published function opens ours, and ours is the form of the vector', async () => {
    expect(decryptCredentialBundle(BUNDLE, RECIPIENT_KEY)).toBe(BUNDLED)
    const target = decodeHex(uncompressP256(p256PublicKey(RECIPIENT_KEY))!)
    const { privateKey, publicKey } = createP256KeyBytes(randomBytes)
    const bundle = await sealCredential(target, privateKey, randomBytes)
    expect(decryptCredentialBundle(bundle, RECIPIENT_KEY)).toBe(encodeHex(privateKey))
    expect(p256PublicKey(encodeHex(privateKey))).toBe(publicKey)
  })

  test('session tokens: a login gives one that the published client verifies by the key of bootstrap.json', async () => {
    const ada = await createTestUser(service, 'ada')
    const key = generateP256KeyPair()
    const { result } = await ada.client.submit('ACTIVITY_TYPE_STAMP_LOGIN', {
      publicKey: uncompressP256(key.publicKey)!,
      expirationSeconds: '60',
    })
    const { session } = result.stampLoginResult!
    const pinned = service.service.bootstrap.notarizerPublicKey
    expect(await verifySessionJwtSignature(session, pinned)).toBe(true)
    expect(Buffer.from(session.split('.')[1]!, 'base64url').toString()).toBe(
      JSON.stringify({
        exp: clock() / 1000 + 60,
        public_key: key.publicKey,
        session_type: 'SESSION_TYPE_READ_WRITE',
        user_id: ada.userId,
        organization_id: service.organizationId,
      }),
    )
    const client = service.client(key.privateKey)
    expect(await client.query('whoami')).toMatchObject({ userId: ada.userId })
    const { user } = await client.query('get_user', { userId: ada.userId })
    expect(user.apiKeys[1]).toMatchObject({
      apiKeyName: `Login - ${new Date(clock()).toISOString()}`,
      credential: { publicKey: key.publicKey, type: 'CREDENTIAL_TYPE_LOGIN' },
      expirationSeconds: '60',
    })
    clock.advance(60_000)
    await expect(client.query('whoami')).rejects.toThrow('API_KEY_EXPIRED')
  })
})
