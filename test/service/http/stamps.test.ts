/**
 * Every scheme of `X-Stamp` over the socket, and the curve of the stored key that it must fit
 * (docs/protocol/stamps.md#api-key-stamps).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KEY_CURVES, type KeyCurve } from '../../../src/crypto/index.ts'
import { encodeUtf8 } from '../../../src/encoding/index.ts'
import { queries } from '../../../src/protocol/index.ts'
import { createApiKeyStamper, SCHEMES, type SignatureScheme, type Stamper } from '../../../src/stamp/index.ts'
import { Secret } from '../../../src/telemetry/index.ts'
import { complete, fresh } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

const CURVE_TYPES: Readonly<Record<KeyCurve, string>> = {
  p256: 'API_KEY_CURVE_P256',
  secp256k1: 'API_KEY_CURVE_SECP256K1',
  ed25519: 'API_KEY_CURVE_ED25519',
}

/** Registers a user whose key is on the scheme's curve. */
async function makeStamper(scheme: SignatureScheme): Promise<Stamper> {
  const { curve } = SCHEMES[scheme]
  const { privateKey, publicKey } = KEY_CURVES[curve].generateKeyPair()
  const key = { apiKeyName: 'key', publicKey, curveType: CURVE_TYPES[curve] }
  const user = { userName: fresh('user'), apiKeys: [key], authenticators: [], oauthProviders: [], userTags: [] }
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_USERS_V4', { users: [user] })
  return createApiKeyStamper({ privateKey: new Secret(privateKey), curve }, { scheme })
}

async function ask(stamper: Stamper, { tampered = false, as }: { tampered?: boolean; as?: string } = {}) {
  const text = JSON.stringify({ organizationId: service.organizationId })
  const { name, value } = await stamper.stamp(encodeUtf8(text))
  const stamp = JSON.parse(Buffer.from(value, 'base64url').toString()) as Record<string, string>
  const sent = as === undefined ? value : Buffer.from(JSON.stringify({ ...stamp, scheme: as })).toString('base64url')
  const body = tampered ? `${text} ` : text
  const response = await fetch(`${service.url}${queries.whoami.path}`, {
    method: 'POST',
    body,
    headers: { [name]: sent },
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const notVerified = {
  status: 401,
  body: expect.objectContaining({
    message: 'could not verify api key signature',
    turnkeyErrorCode: 'SIGNATURE_INVALID',
  }),
}

describe('stamps', () => {
  const schemes = Object.keys(SCHEMES) as SignatureScheme[]

  test.each(schemes)('stamps: %s is accepted for the bytes that it signs and for no others', async (scheme) => {
    const stamper = await makeStamper(scheme)
    const answer = await ask(stamper)
    expect(answer).toMatchObject({ status: 200, body: { organizationId: service.organizationId } })
    expect(await ask(stamper, { tampered: true })).toEqual(notVerified)
  })

  test('stamps: one key of secp256k1 may stamp plainly and as a wallet does', async () => {
    const { privateKey, publicKey } = KEY_CURVES.secp256k1.generateKeyPair()
    const key = { apiKeyName: 'wallet', publicKey, curveType: 'API_KEY_CURVE_SECP256K1' }
    const user = { userName: fresh('user'), apiKeys: [key], authenticators: [], oauthProviders: [], userTags: [] }
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_USERS_V4', { users: [user] })
    for (const scheme of ['SIGNATURE_SCHEME_TK_API_SECP256K1', 'SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191'] as const) {
      const stamper = createApiKeyStamper({ privateKey: new Secret(privateKey), curve: 'secp256k1' }, { scheme })
      expect((await ask(stamper)).status).toBe(200)
    }
  })

  test('stamps: a scheme that did not make the signature is refused', async () => {
    const plain = await makeStamper('SIGNATURE_SCHEME_TK_API_SECP256K1')
    expect(await ask(plain, { as: 'SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191' })).toEqual(notVerified)
    expect(await ask(plain, { as: 'SIGNATURE_SCHEME_TK_API_P256' })).toEqual(notVerified)
  })

  test('stamps: a key registered on one curve proves nothing by the scheme of another', async () => {
    // The same 33 bytes may be a point of both curves; then only the registration tells them apart.
    for (;;) {
      const { privateKey, publicKey } = KEY_CURVES.p256.generateKeyPair()
      const key = { apiKeyName: 'key', publicKey, curveType: 'API_KEY_CURVE_SECP256K1' }
      const user = { userName: fresh('user'), apiKeys: [key], authenticators: [], oauthProviders: [], userTags: [] }
      const body = service.body('ACTIVITY_TYPE_CREATE_USERS_V4', { users: [user] })
      if ((await service.root.raw(body.path, body.text)).status !== 200) continue
      const stamper = createApiKeyStamper({ privateKey: new Secret(privateKey) })
      expect(await ask(stamper)).toEqual(notVerified)
      return
    }
  })
})
