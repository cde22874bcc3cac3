/** Settings of a command line that end in what goes over the wire, or in what the service lets pass. */
import { createECDH, createPrivateKey } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { backgroundStart } from '../../src/cli/background/connect.ts'
import { readSettings } from '../../src/config/index.ts'
import { createApiKeyStamper, loadPrivateKey } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { startBusyService } from '../client/busy-service.ts'
import { startTestService } from '../service/harness.ts'
import { environmentOf, quorateShared as quorate, serve, testFolder } from './harness.ts'

const digits = '22'.repeat(32)
const loadWallet = () => loadPrivateKey({ kind: 'value', value: new Secret(`${digits}:secp256k1`), name: 'wallet' })

describe('--stamp-scheme', () => {
  test('a wallet key stamps plainly, or with EIP-191 when it is said; the service takes both', async () => {
    const service = await startTestService()
    onTestFinished(() => service.close())
    const seen = await startBusyService(service.url)
    onTestFinished(() => seen.close())
    const { publicKey } = await loadWallet()
    const apiKeys = [{ apiKeyName: 'wallet', publicKey, curveType: 'API_KEY_CURVE_SECP256K1' }]
    const user = { userName: 'walt', apiKeys, authenticators: [], oauthProviders: [], userTags: [] }
    await service.root.submit('ACTIVITY_TYPE_CREATE_USERS_V3', { users: [user] })
    const env = environmentOf(service, testFolder(), `${digits}:secp256k1`, { QUORATE_BASE_URL: seen.url })
    const schemeAfter = async (args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
      const ran = await quorate(['activities', ...args], { env: { ...env, ...more } })
      expect(ran).toMatchObject({ exit: 0 })
      return JSON.parse(Buffer.from(seen.seen.at(-1)!.stamp, 'base64url').toString()).scheme
    }
    expect(await schemeAfter([])).toBe('SIGNATURE_SCHEME_TK_API_SECP256K1')
    expect(await schemeAfter(['--stamp-scheme', 'eip191'])).toBe('SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191')
    expect(await schemeAfter([], { QUORATE_STAMP_SCHEME: 'eip191' })).toBe('SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191')
  })

  test('another word, or a key of another curve, is refused before anything is asked', async () => {
    const env = {
      QUORATE_BASE_URL: 'http://127.0.0.1:9',
      QUORATE_ORGANIZATION_ID: '00000000-0000-4000-8000-000000000001',
    }
    const word = await quorate(['activities', '--stamp-scheme', 'eip712'], { env })
    expect(word.stderr).toContain('error config/invalid: expected --stamp-scheme to be `eip191`, got `eip712`')
    const curve = await quorate(['activities', '--stamp-scheme', 'eip191'], {
      env: { ...env, QUORATE_API_KEY: digits },
    })
    expect(curve.stderr).toContain('error stamp/scheme-unfit: a p256 key cannot stamp with')
    expect([word.exit, curve.exit]).toEqual([1, 1])
  })

  test('the worker in the background gets the key with its curve, and the scheme', async () => {
    const settings = readSettings({
      QUORATE_BASE_URL: 'http://127.0.0.1:9',
      QUORATE_ORGANIZATION_ID: '00000000-0000-4000-8000-000000000001',
      QUORATE_API_KEY: `${digits}:secp256k1`,
      QUORATE_STAMP_SCHEME: 'eip191',
    })
    const start = await backgroundStart(settings)
    expect(start).toMatchObject({
      privateKey: `${digits}:secp256k1`,
      stampScheme: 'SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191',
    })
    const key = await loadPrivateKey({ kind: 'value', value: new Secret(start.privateKey!), name: 'given' })
    expect(createApiKeyStamper(key).publicKey).toBe((await loadWallet()).publicKey)
  })
})

describe('--sign-command', () => {
  const place = {
    QUORATE_BASE_URL: 'http://127.0.0.1:9',
    QUORATE_ORGANIZATION_ID: '00000000-0000-4000-8000-000000000001',
  }

  test('a command signs what is asked and submitted; the private key is in no setting', async () => {
    const service = await startTestService()
    onTestFinished(() => service.close())
    const folder = testFolder()
    const { env, publicKey } = await signingSettings(service.root.privateKey, folder)
    const where = { QUORATE_BASE_URL: service.url, QUORATE_ORGANIZATION_ID: service.organizationId }
    const ran = await quorate(['whoami', '--data-dir', folder], { env: { ...env, ...where } })
    expect(ran).toMatchObject({ exit: 0, stderr: '' })
    expect(publicKey).toBe(service.root.publicKey)
    const other = { ...env, ...where, QUORATE_API_PUBLIC_KEY: (await loadWallet()).publicKey }
    const refused = await quorate(['whoami', '--data-dir', folder], { env: other })
    expect(refused.exit).toBe(1)
    expect(refused.stderr).toContain('error stamp/sign-command-mismatch')
  })

  test('the worker in the background gets the command, and no private key', async () => {
    const { env, publicKey } = await signingSettings('33'.repeat(32), testFolder())
    const start = await backgroundStart(readSettings({ ...place, ...env }))
    expect(start.privateKey).toBeUndefined()
    expect(start.signingKey).toEqual({ signCommand: env.QUORATE_API_SIGN_COMMAND, publicKey, curve: 'p256' })
    const kept = { QUORATE_API_SIGN_KEY: 'vault:transit/ci', QUORATE_API_PUBLIC_KEY: publicKey }
    expect(await backgroundStart(readSettings({ ...place, ...kept }))).toMatchObject({
      keptKey: { signKey: 'vault:transit/ci', publicKey, curve: 'p256' },
    })
  })

  test('without a public key, with a wrong one, or beside another key it is refused, and nothing of it is shown', async () => {
    const env = { ...place, QUORATE_API_SIGN_COMMAND: 'true' }
    const alone = await quorate(['whoami'], { env })
    expect(alone.stderr).toContain('error config/public-key-missing')
    const wrong = await quorate(['whoami', '--public-key', digits], { env })
    expect(wrong.stderr).toContain('got `64 characters`')
    expect(wrong.stderr).not.toContain(digits)
    const both = await quorate(['whoami'], { env: { ...env, QUORATE_API_KEY: digits } })
    expect(both.stderr).toContain('error config/several-keys: expected one API key, got 2')
    expect(both.stderr).toContain('sign command, value')
    expect([alone.exit, wrong.exit, both.exit]).toEqual([1, 1, 1])
  })
})

/** Settings that sign with a key of 64 hex digits by OpenSSL, which has it in a file. */
async function signingSettings(privateKey: string, folder: string) {
  const ecdh = createECDH('prime256v1')
  ecdh.setPrivateKey(privateKey, 'hex')
  const point = ecdh.getPublicKey()
  const [x, y, d] = [point.subarray(1, 33), point.subarray(33), Buffer.from(privateKey, 'hex')].map((bytes) =>
    bytes.toString('base64url'),
  )
  const pem = createPrivateKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x: x!, y: y!, d: d! } })
  const path = join(folder, 'signing.pem')
  writeFileSync(path, pem.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 })
  const publicKey = ecdh.getPublicKey('hex', 'compressed')
  const command = `openssl dgst -sha256 -sign ${path} | base64 -w0`
  return { publicKey, env: { QUORATE_API_SIGN_COMMAND: command, QUORATE_API_PUBLIC_KEY: publicKey } }
}

describe('serve', () => {
  test('hosts for webhooks and proxies in front are let in by name', async () => {
    const receiver = createServer((_, response) => response.end())
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void receiver.close())
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`
    const outcome = async (args: readonly string[]) => {
      const { folder, baseUrl, organizationId, stop } = await serve(join(testFolder(), 'service'), { args })
      const { createSubmitClient } = await import('../../src/client/index.ts')
      const key = await loadPrivateKey({ kind: 'file', path: join(folder, 'bootstrap.json') })
      const client = createSubmitClient({ baseUrl, organizationId, stamper: createApiKeyStamper(key) })
      const body = {
        type: 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT',
        timestampMs: String(Date.now()),
        organizationId,
        parameters: { url, name: 'events', subscriptions: [{ eventType: 'ACTIVITY_UPDATES' }] },
      }
      const sent = client.submit('/public/v1/submit/create_webhook_endpoint', JSON.stringify(body))
      const said = await sent.then(
        ({ status }) => status,
        (error: Error) => error.message,
      )
      await stop()
      return said
    }
    expect(await outcome([])).toContain('must be an https URL')
    expect(await outcome(['--allow-webhook-host', '127.0.0.1', '--trusted-proxy', '10.0.0.0/8'])).toBe(
      'ACTIVITY_STATUS_COMPLETED',
    )
  })
})
