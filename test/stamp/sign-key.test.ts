/** Keys that never leave their keeper: AWS KMS, Google Cloud KMS and Vault by the vendors' own clients and a stand-in, a token of SoftHSM. */
import { execFileSync } from 'node:child_process'
import { createPublicKey } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { p256 } from '@noble/curves/nist.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { createApiKeyStamper, type KeeperKey, readStamp, type Stamp, verifyStamp } from '../../src/stamp/index.ts'
import { environmentOf, quorate, testFolder } from '../cli/harness.ts'
import { complete } from '../service/handlers/steps.ts'
import { startTestService } from '../service/harness.ts'
import { hasLibrary, loadFor, VAULT_TOKEN } from '../service/key-keepers.ts'
import { faultOf } from './faults.ts'
import { hasToken, softToken } from './soft-token.ts'

const BODY = new TextEncoder().encode('{"type":"ACTIVITY_TYPE_CREATE_POLICY_V3","ünï":"\\u2028"}')
const folder = mkdtempSync(join(tmpdir(), 'quorate-sign-key-'))
const pair = generateP256KeyPair()
const SECRETS = [pair.privateKey, VAULT_TOKEN]
const ORDER = p256.Point.Fn.ORDER

/** Signs as any keeper may: with the higher `s`, which the plain scheme does not want. */
function sign(digest: Buffer): Buffer {
  const { r, s } = p256.Signature.fromBytes(
    p256.sign(digest, Buffer.from(pair.privateKey, 'hex'), { prehash: false, lowS: true }),
  )
  return Buffer.from(new p256.Signature(r, ORDER - s).toBytes('der'))
}

const keeper = { url: '', port: 0, status: 200, asked: [] as string[] }
const server = createServer(async (request, response) => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const body = JSON.parse(Buffer.concat(parts).toString() || '{}')
  const target = request.headers['x-amz-target']
  keeper.asked.push(target === undefined ? request.url! : String(target))
  const signed = (text: string) => sign(Buffer.from(text, 'base64')).toString('base64')
  const answer = () => {
    if (target === 'TrentService.Sign') {
      expect(body).toMatchObject({ KeyId: 'alias/ci', MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256' })
      return { KeyId: body.KeyId, Signature: signed(body.Message) }
    }
    if (request.url!.includes(':asymmetricSign')) return { signature: signed(body.digest.sha256) }
    expect([request.headers['x-vault-token'], body.prehashed]).toEqual([VAULT_TOKEN, true])
    return { data: { signature: `vault:v1:${signed(body.input)}` } }
  }
  const type = target === undefined ? 'application/json' : 'application/x-amz-json-1.1'
  const said = keeper.status === 200 ? answer() : {}
  response.writeHead(keeper.status, { 'content-type': type }).end(JSON.stringify(said))
})
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  keeper.port = (server.address() as AddressInfo).port
  keeper.url = `http://127.0.0.1:${keeper.port}`
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
  rmSync(folder, { recursive: true, force: true })
})

const keyOf = (signKey: string, publicKey = pair.publicKey): KeeperKey => ({
  signKey,
  publicKey,
  curve: 'p256',
  tools: {
    environment: { VAULT_ADDR: keeper.url, VAULT_TOKEN },
    load: loadFor({ ...keeper, isDown: false, close: async () => {} }),
  },
})

async function expectStamp(key: KeeperKey): Promise<void> {
  const { value } = await createApiKeyStamper(key).stamp(BODY)
  const stamp = readStamp({ 'x-stamp': value }) as Stamp
  expect(stamp).toMatchObject({ publicKey: key.publicKey })
  expect(verifyStamp(stamp, BODY)).toBe(true)
  const { signature } = JSON.parse(Buffer.from(value, 'base64url').toString())
  expect(p256.Signature.fromHex(signature, 'der').s <= ORDER / 2n).toBe(true)
}

describe('sign key', () => {
  for (const { name, signKey, isThere = true } of [
    { name: 'Vault', signKey: 'vault:transit/ci' },
    { name: 'AWS KMS', signKey: 'aws-kms:alias/ci', isThere: hasLibrary('@aws-sdk/client-kms') },
    {
      name: 'Google Cloud KMS',
      signKey: 'gcp-kms:projects/p/locations/l/keyRings/r/cryptoKeys/k/cryptoKeyVersions/1',
      isThere: hasLibrary('@google-cloud/kms'),
    },
  ])
    test.skipIf(!isThere)(`${name} signs the digest, and the stamp has the lower s`, () => expectStamp(keyOf(signKey)))

  test.skipIf(!hasToken || !hasLibrary('pkcs11js'))('a token signs by PKCS #11', async () => {
    const { tool, uri } = softToken()
    tool('--keypairgen', '--key-type', 'EC:prime256v1', '--label', 'ci', '--usage-sign')
    const der = join(folder, 'public.der')
    tool('--read-object', '--type', 'pubkey', '--label', 'ci', '--output-file', der)
    const spki = execFileSync('openssl', ['pkey', '-pubin', '-inform', 'DER', '-in', der, '-outform', 'PEM'])
    const point = createPublicKey(spki).export({ format: 'der', type: 'spki' }).subarray(-64)
    const publicKey = `0${2 + (point[63]! & 1)}${point.subarray(0, 32).toString('hex')}`
    await expectStamp(keyOf(uri('ci'), publicKey))
    // A worker has several clients: each signs by a session of its own.
    await expectStamp(keyOf(uri('ci'), publicKey))
    const { code, message } = await faultOf(createApiKeyStamper(keyOf(uri('other'), publicKey)).stamp(BODY), SECRETS)
    expect([code, message]).toEqual(['stamp/sign-key-failed', expect.stringContaining('got none')])
  })

  test('a keeper that is down fails that request alone, and another key is told from this one', async () => {
    const stamper = createApiKeyStamper(keyOf('vault:transit/ci'))
    keeper.status = 503
    const down = await faultOf(stamper.stamp(BODY), SECRETS)
    expect([down.code, down.message]).toEqual(['stamp/sign-key-failed', expect.stringContaining('503')])
    expect(down.message).not.toContain(VAULT_TOKEN)
    keeper.status = 200
    expect((await stamper.stamp(BODY)).name).toBe('X-Stamp')
    const other = createApiKeyStamper(keyOf('vault:transit/ci', generateP256KeyPair().publicKey))
    expect((await faultOf(other.stamp(BODY), SECRETS)).code).toBe('stamp/sign-key-mismatch')
  })

  test('a command works with a key that only Vault has', async () => {
    const service = await startTestService()
    try {
      const apiKeys = [{ apiKeyName: 'in vault', publicKey: pair.publicKey, curveType: 'API_KEY_CURVE_P256' }]
      await complete(service.root, 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId: service.rootUserId, apiKeys })
      const { QUORATE_API_KEY_FILE: _, ...env } = environmentOf(service, testFolder(), service.root.privateKey)
      const vault = { VAULT_ADDR: keeper.url, VAULT_TOKEN }
      const run = (key: string, more: object = vault) =>
        quorate(['whoami', '--json', '--sign-key', key, '--public-key', pair.publicKey], { env: { ...env, ...more } })
      const done = await run('vault:transit/ci')
      expect([done.exit, JSON.parse(done.stdout)]).toMatchObject([0, { publicKey: pair.publicKey }])
      expect((await run('vault:transit/ci', {})).stderr).toContain('VAULT_ADDR is not set')
      expect((await run('safe:transit/ci')).stderr).toContain('--sign-key')
    } finally {
      await service.close()
    }
  })
})
